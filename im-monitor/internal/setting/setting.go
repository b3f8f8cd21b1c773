// Package setting lists the settings that im-monitor obeys, with their meaning and defaults.
package setting

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/setting"
)

// Names of the Settings that im-monitor reads.
const (
	DefaultInstanceManagerImage = "default-instance-manager-image"
	DefaultEngineImage          = "default-engine-image"
	V1DataEngine                = "v1-data-engine"
	V2DataEngine                = "v2-data-engine"
	TaintToleration             = "taint-toleration"
	PriorityClass               = "priority-class"
	RegistrySecret              = "registry-secret"
	NodeSelector                = "system-managed-components-node-selector"
	DisableSchedulingOnCordoned = "disable-scheduling-on-cordoned-node"
	EngineReplicaTimeout        = "engine-replica-timeout"
	FileSyncTimeout             = "replica-file-sync-http-client-timeout"
	RebuildConcurrency          = "replica-rebuild-concurrent-sync-limit"
	UblkQueueDepth              = "default-ublk-queue-depth"
	UblkNumberOfQueue           = "default-ublk-number-of-queue"
	IOQueues                    = "default-nvme-tcp-nr-io-queues"
	MinimalAvailable            = "storage-minimal-available-percentage"
	OverProvisioning            = "storage-over-provisioning-percentage"
	CleanUpSystemSnapshots      = "auto-cleanup-system-generated-snapshot"
	DisablePurge                = "disable-snapshot-purge"
	PurgesPerNode               = "snapshot-heavy-task-concurrent-limit"
	NodeDrainPolicy             = "node-drain-policy"
	BackupConcurrency           = "backup-concurrent-limit"
	RestoreConcurrency          = "restore-concurrent-limit"
	ClusterAutoscaler           = "kubernetes-cluster-autoscaler-enabled"
)

// Names of the Settings that instance-manager pods are made with.
const (
	CPUMask         = "data-engine-cpu-mask"
	CPUCores        = "data-engine-number-of-cpu-cores"
	MemorySize      = "data-engine-memory-size"
	HugePages       = "data-engine-hugepage-enabled"
	InterruptMode   = "data-engine-interrupt-mode-enabled"
	LargePool       = "data-engine-iobuf-large-pool-size"
	SmallPool       = "data-engine-iobuf-small-pool-size"
	CPUIsolation    = "data-engine-cpu-isolation-enabled"
	SPDKLogLevel    = "data-engine-log-level"
	SPDKLogFlags    = "data-engine-log-flags"
	LogLevel        = "log-level"
	LogPath         = "log-path"
	GuaranteedCPU   = "guaranteed-instance-manager-cpu"
	ImagePullPolicy = "system-managed-pods-image-pull-policy"
	ProbeTimeout    = "instance-manager-pod-liveness-probe-timeout"
	StorageNetwork  = "storage-network"
)

// Names of the Settings for the liveness probe of the pods of engine images.
const (
	EngineProbePeriod   = "engine-image-pod-liveness-probe-period"
	EngineProbeTimeout  = "engine-image-pod-liveness-probe-timeout"
	EngineProbeFailures = "engine-image-pod-liveness-probe-failure-threshold"
)

// Engine is what v1 engines are started with.
type Engine struct {
	// ReplicaTimeout is how many seconds a replica may be silent, FileSyncTimeout how many a file transfer may take.
	ReplicaTimeout, FileSyncTimeout int
	// RebuildConcurrency is how many files of one replica are rebuilt at a time; never 0, with which an engine exits.
	RebuildConcurrency int
}

// Copying is how many blocks are copied at once.
type Copying struct {
	// Backup is that of an engine that is backed up, Restore of a replica that is filled from a backup.
	Backup, Restore int
}

// Frontend is what v2 frontends are started with that name nothing of their own.
type Frontend struct {
	// UblkQueueDepth and UblkNumberOfQueue are those of a ublk device.
	UblkQueueDepth, UblkNumberOfQueue int
	// IOQueues is how many NVMe connections carry I/O; 0 leaves it to the kernel.
	IOQueues int
}

// Pods are the settings that instance-manager pods are made with.
type Pods struct {
	// SPDK starts the v2 data engine.
	SPDK managerimage.Options
	// CPUPercent is the part of a node's allocatable CPU that a v1 pod requests unless the Node names a request, CPUPercentV2 the part of
	// a v2 pod.
	CPUPercent, CPUPercentV2 float64
	// LogDirectory is a directory of the host.
	LogDirectory string
	PullPolicy   corev1.PullPolicy
	// ProbeTimeout is a number of seconds.
	ProbeTimeout int
	// StorageNetwork is the namespace and name of a network attachment; empty: the network of the cluster.
	StorageNetwork string
}

// EngineProbe has the settings for the liveness probe of the pods of engine images.
type EngineProbe struct {
	// Period and Timeout are numbers of seconds, Failures is how many of them in a row end the container.
	Period, Timeout, Failures int
}

// Logging has the settings for the logs of instance managers.
type Logging struct {
	// Level is for the instance manager itself, SPDKLevel and SPDKFlags are for its v2 data engine.
	Level, SPDKLevel, SPDKFlags string
}

// Values are the settings in force.
type Values struct {
	// Image is the default instance-manager image; empty means that none was chosen, and no instance manager is made.
	Image string
	// EngineImage is the default engine image; empty means that none was chosen.
	EngineImage string
	// V1 and V2 report which data engines are enabled. V1 is on and V2 off where nothing is set, as in Longhorn.
	V1, V2 bool
	// Tolerations, PriorityClass, RegistrySecret and NodeSelector go into every new instance-manager pod. RegistrySecret is the Secret in
	// the namespace with which the image is pulled, empty for none.
	Tolerations    []corev1.Toleration
	PriorityClass  string
	RegistrySecret string
	// NodeSelector also chooses the Kubernetes nodes that get a Longhorn Node.
	NodeSelector map[string]string
	// DisableSchedulingOnCordoned makes a cordoned node not schedulable; true where nothing is set.
	DisableSchedulingOnCordoned bool
	// Engine goes into every v1 engine that is started.
	Engine Engine
	// Frontend goes into every v2 engine and frontend that is started.
	Frontend Frontend
	// MinimalAvailable and OverProvisioning are the percentages from which on a v2 disk takes no further replica.
	MinimalAvailable, OverProvisioning int
	// CleanUpSystemSnapshots lets the system snapshots be purged that rebuilds leave; DisablePurge forbids it. PurgesPerNode is how many
	// engines of a node may merge snapshots at once; 0 is no limit.
	CleanUpSystemSnapshots, DisablePurge bool
	PurgesPerNode                        int
	// Copying is for backups and restores of v1 volumes, CopyingV2 of v2 volumes.
	Copying, CopyingV2 Copying
	// DrainPolicy reports how long a cordoned node's instance managers keep drains waiting. ClusterAutoscaler lets each node be evaluated
	// like a cordoned one.
	DrainPolicy       setting.DrainPolicy
	ClusterAutoscaler bool
	Pods              Pods
	EngineProbe       EngineProbe
	Logging           Logging
	// DefaultDisk is the disk that a new Node gets.
	DefaultDisk setting.DefaultDisk
}

// Defaults are the values in force where nothing is set.
func Defaults() Values {
	copying := Copying{Backup: 2, Restore: 2}
	return Values{V1: true, DisableSchedulingOnCordoned: true, MinimalAvailable: 25, OverProvisioning: 100, Copying: copying,
		CopyingV2: copying, CleanUpSystemSnapshots: true, PurgesPerNode: 5, DrainPolicy: setting.BlockIfContainsLastReplica,
		Engine:   Engine{ReplicaTimeout: 8, FileSyncTimeout: 30, RebuildConcurrency: 1},
		Frontend: Frontend{UblkQueueDepth: 128, UblkNumberOfQueue: 1}, Pods: defaultPods(), Logging: Logging{"Info", "Notice", ""},
		DefaultDisk: setting.DefaultDiskDefaults(), EngineProbe: EngineProbe{Period: 5, Timeout: 4, Failures: 3}}
}

func defaultPods() Pods {
	return Pods{CPUPercent: 12, CPUPercentV2: 12, LogDirectory: "/var/lib/longhorn/logs/", PullPolicy: corev1.PullIfNotPresent,
		ProbeTimeout: 10, SPDK: managerimage.Options{CPUMask: "0x3", MemoryMiB: 2048, HugePages: true,
			LargePool: managerimage.SmallestLargePool, SmallPool: managerimage.SmallestSmallPool}}
}

// Catalogue reads them, for each data engine.
var Catalogue = setting.Catalogue[Values]{Defaults: Defaults, Readers: readers(),
	Safe: map[string]string{DisablePurge: "true", CleanUpSystemSnapshots: "false"}}

func readers() map[string]setting.Reader[Values] {
	out := podReaders()
	maps.Copy(out, setting.DefaultDiskReaders(func(v *Values) *setting.DefaultDisk { return &v.DefaultDisk }))
	maps.Copy(out, map[string]setting.Reader[Values]{
		DefaultInstanceManagerImage: setting.Text(func(v *Values, s string) { v.Image = s }, setting.ParseImage),
		DefaultEngineImage:          setting.Text(func(v *Values, s string) { v.EngineImage = s }, setting.ParseImage),
		EngineProbePeriod:           setting.Number(1, 60, func(v *Values, n int) { v.EngineProbe.Period = n }),
		EngineProbeTimeout:          setting.Number(1, 60, func(v *Values, n int) { v.EngineProbe.Timeout = n }),
		EngineProbeFailures:         setting.Number(1, 60, func(v *Values, n int) { v.EngineProbe.Failures = n }),
		V1DataEngine:                setting.Boolean(func(v *Values) *bool { return &v.V1 }),
		V2DataEngine:                setting.Boolean(func(v *Values) *bool { return &v.V2 }),
		TaintToleration:             setting.Text(func(v *Values, t []corev1.Toleration) { v.Tolerations = t }, parseTolerations),
		PriorityClass:               setting.Text(func(v *Values, s string) { v.PriorityClass = s }, setting.ParseName("a PriorityClass")),
		RegistrySecret:              setting.Text(func(v *Values, s string) { v.RegistrySecret = s }, setting.ParseName("a Secret")),
		NodeSelector:                setting.Text(func(v *Values, s map[string]string) { v.NodeSelector = s }, parseSelector),
		DisableSchedulingOnCordoned: setting.Boolean(func(v *Values) *bool { return &v.DisableSchedulingOnCordoned }),
		EngineReplicaTimeout:        setting.Number(8, 30, func(v *Values, n int) { v.Engine.ReplicaTimeout = n }),
		FileSyncTimeout:             setting.Number(5, 120, func(v *Values, n int) { v.Engine.FileSyncTimeout = n }),
		RebuildConcurrency:          setting.Number(1, 5, func(v *Values, n int) { v.Engine.RebuildConcurrency = n }),
		UblkQueueDepth:              setting.Number(1, 4096, func(v *Values, n int) { v.Frontend.UblkQueueDepth = n }),
		UblkNumberOfQueue:           setting.Number(1, 128, func(v *Values, n int) { v.Frontend.UblkNumberOfQueue = n }),
		IOQueues:                    setting.Number(0, 128, func(v *Values, n int) { v.Frontend.IOQueues = n }),
		MinimalAvailable:            setting.Number(0, 100, func(v *Values, n int) { v.MinimalAvailable = n }),
		OverProvisioning:            setting.Number(0, setting.MostOverProvisioning, func(v *Values, n int) { v.OverProvisioning = n }),
		CleanUpSystemSnapshots:      setting.Boolean(func(v *Values) *bool { return &v.CleanUpSystemSnapshots }),
		DisablePurge:                setting.Boolean(func(v *Values) *bool { return &v.DisablePurge }),
		PurgesPerNode:               setting.Number(0, setting.MostPurgesPerNode, func(v *Values, n int) { v.PurgesPerNode = n }),
		BackupConcurrency:           setting.Number(1, setting.MostCopies, func(v *Values, n int) { v.Copying.Backup = n }),
		RestoreConcurrency:          setting.Number(1, setting.MostCopies, func(v *Values, n int) { v.Copying.Restore = n }),
		NodeDrainPolicy:             setting.Text(func(v *Values, p setting.DrainPolicy) { v.DrainPolicy = p }, setting.ParseDrainPolicy),
		ClusterAutoscaler:           setting.Boolean(func(v *Values) *bool { return &v.ClusterAutoscaler }),
	})
	return out
}

// With returns the catalogue with other values for pods if nothing is set.
func With(pods Pods) setting.Catalogue[Values] {
	out := Catalogue
	out.Defaults = func() Values {
		values := Defaults()
		values.Pods = pods
		return values
	}
	return out
}

// Merge takes each setting from the values of the data engine that it is for: what is about v2 alone from those of v2, all else from those
// of v1, and what is about both from each.
func Merge(v1, v2 Values) Values {
	out := v1
	out.CopyingV2 = v2.Copying
	out.Pods.SPDK, out.Pods.CPUPercentV2 = v2.Pods.SPDK, v2.Pods.CPUPercentV2
	out.Logging.SPDKLevel, out.Logging.SPDKFlags = v2.Logging.SPDKLevel, v2.Logging.SPDKFlags
	out.V2, out.Frontend, out.MinimalAvailable, out.OverProvisioning = v2.V2, v2.Frontend, v2.MinimalAvailable, v2.OverProvisioning
	return out
}
