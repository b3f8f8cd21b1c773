package cluster

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// The reads, one for each list of Objects. A command restricts them with Named, Where, Labelled and In.
var (
	Volumes          = custom("volumes", func(o *Objects) client.ObjectList { return &o.Volumes })
	Attachments      = custom("volumeattachments", func(o *Objects) client.ObjectList { return &o.Attachments })
	Engines          = custom("engines", func(o *Objects) client.ObjectList { return &o.Engines })
	Frontends        = custom("enginefrontends", func(o *Objects) client.ObjectList { return &o.Frontends })
	Replicas         = custom("replicas", func(o *Objects) client.ObjectList { return &o.Replicas })
	InstanceManagers = custom("instancemanagers", func(o *Objects) client.ObjectList { return &o.InstanceManagers })
	Nodes            = custom("nodes", func(o *Objects) client.ObjectList { return &o.Nodes })
	Snapshots        = custom("snapshots", func(o *Objects) client.ObjectList { return &o.Snapshots })
	Backups          = custom("backups", func(o *Objects) client.ObjectList { return &o.Backups })
	BackupTargets    = custom("backuptargets", func(o *Objects) client.ObjectList { return &o.BackupTargets })
	RecurringJobs    = custom("recurringjobs", func(o *Objects) client.ObjectList { return &o.RecurringJobs })
	Orphans          = custom("orphans", func(o *Objects) client.ObjectList { return &o.Orphans })
	Settings         = custom("settings", func(o *Objects) client.ObjectList { return &o.Settings })
	EngineImages     = custom("engineimages", func(o *Objects) client.ObjectList { return &o.EngineImages })
	Upgrades         = custom("dataengineupgrademanagers", func(o *Objects) client.ObjectList { return &o.Upgrades })
	NodeUpgrades     = custom("nodedataengineupgrades", func(o *Objects) client.ObjectList { return &o.NodeUpgrades })

	Leases      = namespaced("coordination.k8s.io", "leases", func(o *Objects) client.ObjectList { return &o.Leases })
	Deployments = namespaced("apps", "deployments", func(o *Objects) client.ObjectList { return &o.Deployments })
	Pods        = namespaced("", "pods", func(o *Objects) client.ObjectList { return &o.Pods })
	Events      = namespaced("", "events", func(o *Objects) client.ObjectList { return &o.Events })

	LeasesEverywhere  = everywhere("coordination.k8s.io", "leases", func(o *Objects) client.ObjectList { return &o.Leases })
	VolumesEverywhere = everywhere(v1beta2.GroupVersion.Group, "volumes", func(o *Objects) client.ObjectList { return &o.Volumes })
	PodsEverywhere    = everywhere("", "pods", func(o *Objects) client.ObjectList { return &o.Pods })
	CSIAttachments    = everywhere("storage.k8s.io", "volumeattachments", func(o *Objects) client.ObjectList { return &o.CSIAttachments })
	PersistentVolumes = everywhere("", "persistentvolumes", func(o *Objects) client.ObjectList { return &o.PersistentVolumes })
	Definitions       = everywhere("apiextensions.k8s.io", "customresourcedefinitions",
		func(o *Objects) client.ObjectList { return &o.Definitions })
)

func custom(resource string, into func(*Objects) client.ObjectList) Read {
	return namespaced(v1beta2.GroupVersion.Group, resource, into)
}

func namespaced(group, resource string, into func(*Objects) client.ObjectList) Read {
	return Read{Right: Right{Group: group, Resource: resource, Verb: "list"}, into: into}
}

func everywhere(group, resource string, into func(*Objects) client.ObjectList) Read {
	return Read{Right: Right{Group: group, Resource: resource, Verb: "list", Everywhere: true}, into: into}
}
