package cluster

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

// The reads, one for each list of Objects. A command restricts them with Named, Where and In.
var (
	Volumes          = custom("volumes", func(w *world.World) client.ObjectList { return &w.Volumes })
	Attachments      = custom("volumeattachments", func(w *world.World) client.ObjectList { return &w.Attachments })
	Engines          = custom("engines", func(w *world.World) client.ObjectList { return &w.Engines })
	Frontends        = custom("enginefrontends", func(w *world.World) client.ObjectList { return &w.Frontends })
	Replicas         = custom("replicas", func(w *world.World) client.ObjectList { return &w.Replicas })
	InstanceManagers = custom("instancemanagers", func(w *world.World) client.ObjectList { return &w.InstanceManagers })
	Nodes            = custom("nodes", func(w *world.World) client.ObjectList { return &w.Nodes })
	Snapshots        = custom("snapshots", func(w *world.World) client.ObjectList { return &w.Snapshots })
	Backups          = custom("backups", func(w *world.World) client.ObjectList { return &w.Backups })
	BackupTargets    = custom("backuptargets", func(w *world.World) client.ObjectList { return &w.BackupTargets })
	RecurringJobs    = custom("recurringjobs", func(w *world.World) client.ObjectList { return &w.RecurringJobs })
	Orphans          = custom("orphans", func(w *world.World) client.ObjectList { return &w.Orphans })
	Settings         = custom("settings", func(w *world.World) client.ObjectList { return &w.Settings })
	EngineImages     = custom("engineimages", func(w *world.World) client.ObjectList { return &w.EngineImages })
	Upgrades         = custom("dataengineupgrademanagers", func(w *world.World) client.ObjectList { return &w.Upgrades })
	NodeUpgrades     = custom("nodedataengineupgrades", func(w *world.World) client.ObjectList { return &w.NodeUpgrades })

	Leases      = namespaced("coordination.k8s.io", "leases", func(w *world.World) client.ObjectList { return &w.Leases })
	Deployments = namespaced("apps", "deployments", func(w *world.World) client.ObjectList { return &w.Deployments })
	Pods        = namespaced("", "pods", func(w *world.World) client.ObjectList { return &w.Pods })
	Events      = namespaced("", "events", func(w *world.World) client.ObjectList { return &w.Events })

	NetworkPolicies = namespaced("networking.k8s.io", "networkpolicies", func(w *world.World) client.ObjectList { return &w.NetworkPolicies })

	LeasesEverywhere  = everywhere("coordination.k8s.io", "leases", func(w *world.World) client.ObjectList { return &w.Leases })
	VolumesEverywhere = everywhere(v1beta2.GroupVersion.Group, "volumes", func(w *world.World) client.ObjectList { return &w.Volumes })
	PodsEverywhere    = everywhere("", "pods", func(w *world.World) client.ObjectList { return &w.Pods })
	PersistentVolumes = everywhere("", "persistentvolumes", func(w *world.World) client.ObjectList { return &w.PersistentVolumes })
	// JobSources are the claims that are labelled as sources of recurring jobs, whatever the label's value.
	JobSources = everywhere("", "persistentvolumeclaims", func(w *world.World) client.ObjectList { return &w.Claims }).
			labelled(v1beta2.LabelRecurringSource)
	// Contents are those of Kubernetes' VolumeSnapshots; an API server without the kind has none.
	Contents = everywhere(volumesnapshot.GroupVersion.Group, "volumesnapshotcontents",
		func(w *world.World) client.ObjectList { return &w.Contents }).orNoKind()
	Definitions = everywhere("apiextensions.k8s.io", "customresourcedefinitions",
		func(w *world.World) client.ObjectList { return &w.Definitions })
)

func custom(resource string, into func(*world.World) client.ObjectList) Read {
	return namespaced(v1beta2.GroupVersion.Group, resource, into)
}

func namespaced(group, resource string, into func(*world.World) client.ObjectList) Read {
	return Read{Right: Right{Group: group, Resource: resource, Verb: "list"}, into: into}
}

func everywhere(group, resource string, into func(*world.World) client.ObjectList) Read {
	return Read{Right: Right{Group: group, Resource: resource, Verb: "list", Everywhere: true}, into: into}
}
