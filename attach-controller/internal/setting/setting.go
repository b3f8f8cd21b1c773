// Package setting lists the settings that attach-controller applies, with their meaning and defaults.
package setting

import (
	"time"

	"drover.dev/drover/shared/setting"
)

// Names of the settings.
const (
	AutoSalvage                 = "auto-salvage"
	DetachWhenCordoned          = "detach-manually-attached-volumes-when-cordoned"
	DefaultEngineImage          = "default-engine-image"
	DefaultReplicaCount         = "default-replica-count"
	ReplicaSoftAntiAffinity     = "replica-soft-anti-affinity"
	ReplicaZoneSoftAntiAffinity = "replica-zone-soft-anti-affinity"
	ReplicaDiskSoftAntiAffinity = "replica-disk-soft-anti-affinity"
	ReplenishmentWaitInterval   = "replica-replenishment-wait-interval"
	RebuildsPerNode             = "concurrent-replica-rebuild-per-node-limit"
	OverProvisioningPercentage  = "storage-over-provisioning-percentage"
	MinimalAvailablePercentage  = "storage-minimal-available-percentage"
	DisableSchedulingOnCordoned = "disable-scheduling-on-cordoned-node"
	SnapshotMaxCount            = "snapshot-max-count"
	OfflineRebuilding           = "offline-replica-rebuilding"
	RemoveSnapshotsOnTrim       = "remove-snapshots-during-filesystem-trim"
	DisableRevisionCounter      = "disable-revision-counter"
	AutoDeletePod               = "auto-delete-pod-when-volume-detached-unexpectedly"
	SparedControllers           = "blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly"
	NodeDownPodDeletion         = "node-down-pod-deletion-policy"
	NodeDrainPolicy             = "node-drain-policy"
)

// Values is the settings of volumes of one data engine.
type Values struct {
	// AutoSalvage lets a volume whose replicas all failed be opened again from those that failed last.
	AutoSalvage bool
	// DetachWhenCordoned withdraws users' tickets from cordoned nodes.
	DetachWhenCordoned bool
	// DefaultEngineImage is the image of volumes without one.
	DefaultEngineImage string
	// DefaultReplicaCount is the number of replicas of volumes without one.
	DefaultReplicaCount int
	// The anti-affinities: soft means that two replicas may share a node, zone or disk if nothing better is left.
	NodeSoftAntiAffinity, ZoneSoftAntiAffinity, DiskSoftAntiAffinity bool
	// ReplenishmentWait is how long a failed replica is waited for before another takes its place.
	ReplenishmentWait time.Duration
	// RebuildsPerNode is how many replicas may be rebuilt on a node at once; 0 stops rebuilding.
	RebuildsPerNode int
	// OverProvisioning and MinimalAvailable are percentages of a disk.
	OverProvisioning, MinimalAvailable int
	// DisableSchedulingOnCordoned excludes cordoned nodes for new replicas.
	DisableSchedulingOnCordoned bool
	// SnapshotMaxCount is the largest number of snapshots of volumes without one.
	SnapshotMaxCount int
	// OfflineRebuilding attaches detached volumes to rebuild their replicas, if the volume leaves it to the setting.
	OfflineRebuilding bool
	// RemoveSnapshotsOnTrim lets trimming the filesystem remove snapshots of volumes that leave it to the setting.
	RemoveSnapshotsOnTrim bool
	// DisableRevisionCounter is for new v1 volumes. Longhorn's own default is true; where the setting does not exist the counter is kept,
	// which is safer.
	DisableRevisionCounter bool
	// AutoDeletePod lets pods be deleted whose volume was detached under them; not those of SparedControllers, each as KindOf writes it.
	AutoDeletePod     bool
	SparedControllers []string
	// NodeDownPolicy is which pods are deleted by force from a down node.
	NodeDownPolicy NodeDownPolicy
	// DrainPolicy is which replicas leave a cordoned node by themselves.
	DrainPolicy setting.DrainPolicy
}

// Defaults apply if a setting does not exist or is empty.
func Defaults() Values {
	return Values{
		AutoSalvage: true, DefaultReplicaCount: 3,
		ZoneSoftAntiAffinity: true, DiskSoftAntiAffinity: true, ReplenishmentWait: 600 * time.Second, RebuildsPerNode: 5,
		OverProvisioning: 100, MinimalAvailable: 25, DisableSchedulingOnCordoned: true, SnapshotMaxCount: 250,
		AutoDeletePod: true, NodeDownPolicy: DoNothing, DrainPolicy: setting.BlockIfContainsLastReplica,
	}
}

// Catalogue reads them.
var Catalogue = setting.Catalogue[Values]{Defaults: Defaults, Readers: map[string]setting.Reader[Values]{
	AutoSalvage:                 setting.Boolean(func(v *Values) *bool { return &v.AutoSalvage }),
	DetachWhenCordoned:          setting.Boolean(func(v *Values) *bool { return &v.DetachWhenCordoned }),
	ReplicaSoftAntiAffinity:     setting.Boolean(func(v *Values) *bool { return &v.NodeSoftAntiAffinity }),
	ReplicaZoneSoftAntiAffinity: setting.Boolean(func(v *Values) *bool { return &v.ZoneSoftAntiAffinity }),
	ReplicaDiskSoftAntiAffinity: setting.Boolean(func(v *Values) *bool { return &v.DiskSoftAntiAffinity }),
	DisableSchedulingOnCordoned: setting.Boolean(func(v *Values) *bool { return &v.DisableSchedulingOnCordoned }),
	OfflineRebuilding:           setting.Boolean(func(v *Values) *bool { return &v.OfflineRebuilding }),
	RemoveSnapshotsOnTrim:       setting.Boolean(func(v *Values) *bool { return &v.RemoveSnapshotsOnTrim }),
	DisableRevisionCounter:      setting.Boolean(func(v *Values) *bool { return &v.DisableRevisionCounter }),
	RebuildsPerNode:             setting.Number(0, 1000, func(v *Values, n int) { v.RebuildsPerNode = n }),
	OverProvisioningPercentage:  setting.Number(0, setting.MostOverProvisioning, func(v *Values, n int) { v.OverProvisioning = n }),
	MinimalAvailablePercentage:  setting.Number(0, 100, func(v *Values, n int) { v.MinimalAvailable = n }),
	SnapshotMaxCount:            setting.Number(2, 250, func(v *Values, n int) { v.SnapshotMaxCount = n }),
	ReplenishmentWaitInterval: setting.Number(0, 1<<31-1, func(v *Values, n int) {
		v.ReplenishmentWait = time.Duration(n) * time.Second
	}),
	DefaultEngineImage:  func(v *Values, text string) error { v.DefaultEngineImage = text; return nil },
	DefaultReplicaCount: setting.Number(1, 20, func(v *Values, n int) { v.DefaultReplicaCount = n }),
	AutoDeletePod:       setting.Boolean(func(v *Values) *bool { return &v.AutoDeletePod }),
	SparedControllers:   func(v *Values, text string) error { v.SparedControllers = kindsOf(text); return nil },
	NodeDownPodDeletion: setting.Text(func(v *Values, p NodeDownPolicy) { v.NodeDownPolicy = p }, parseNodeDownPolicy),
	NodeDrainPolicy:     setting.Text(func(v *Values, p setting.DrainPolicy) { v.DrainPolicy = p }, setting.ParseDrainPolicy),
}}
