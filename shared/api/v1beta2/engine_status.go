package v1beta2

// EngineStatus is what im-monitor observed of the engine; the only writer, except for the fields that name another one.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineStatus struct {
	// Progress of each backup that the engine takes, by the backup's name. Written by im-monitor; absent means none.
	// +nullable
	// +optional
	BackupStatus map[string]EngineBackupStatus `json:"backupStatus,omitempty"`
	// Progress of each copy from another volume, by the replica's address (tcp://ip:port). Written by im-monitor;
	// absent means none.
	// +nullable
	// +optional
	CloneStatus map[string]SnapshotCloneStatus `json:"cloneStatus,omitempty"`
	// The observations for people and peer controllers, one writer per type. Written by the writer of each type; absent means
	// nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Image that it runs with; of v2 that of its instance manager. Written by im-monitor; absent means it does not run.
	// +optional
	CurrentImage string `json:"currentImage,omitempty"`
	// Address (ip:port) of each replica that it was started with, by the replica's name. Written by im-monitor;
	// absent means it does not run.
	// +nullable
	// +optional
	CurrentReplicaAddressMap map[string]string `json:"currentReplicaAddressMap,omitempty"`
	// Size in bytes that it serves, as a decimal string. Written by im-monitor; absent means 0, not known.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	CurrentSize int64 `json:"currentSize,omitempty,string"`
	// Its observed state: running, suspended, stopped, error, starting, stopping, unknown or terminated. Written by
	// im-monitor; absent means not checked yet.
	// +optional
	CurrentState string `json:"currentState,omitempty"`
	// Path of the block device, or URL of the target, that it shows. Written by im-monitor; absent means nothing is
	// shown.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// InstanceManager that runs it. Written by im-monitor; absent means it does not run.
	// +optional
	InstanceManagerName string `json:"instanceManagerName,omitempty"`
	// IP of the pod of that InstanceManager. Written by im-monitor; absent means it does not run.
	// +optional
	IP string `json:"ip,omitempty"`
	// Whether it is being expanded. Written by im-monitor; absent means false.
	// +optional
	IsExpanding bool `json:"isExpanding,omitempty"`
	// Sentence on why the expansion failed. Written by im-monitor; absent means it did not fail.
	// +optional
	LastExpansionError string `json:"lastExpansionError,omitempty"`
	// Time at which the expansion last failed, as the engine reports it. Written by im-monitor; absent means it did not
	// fail.
	// +optional
	LastExpansionFailedAt string `json:"lastExpansionFailedAt,omitempty"`
	// The requestedRevert that the engine answered last. Written by im-monitor; absent means none.
	// +optional
	LastRevert string `json:"lastRevert,omitempty"`
	// Why it did not do what lastRevert names. Written by im-monitor; absent means that it did.
	// +optional
	LastRevertError string `json:"lastRevertError,omitempty"`
	// Name of the backup that was restored last. Written by im-monitor; absent means none.
	// +optional
	LastRestoredBackup string `json:"lastRestoredBackup,omitempty"`
	// Whether its log was fetched. Written by Longhorn; absent means false.
	// +optional
	LogFetched bool `json:"logFetched,omitempty"`
	// The spec.lookRequestedAt that was answered: this status is as of a poll that began after that request was read. Written by
	// im-monitor; absent means no poll was requested.
	// +optional
	LookedAt string `json:"lookedAt,omitempty"`
	// Node whose controller manages it: spec.nodeID while that node is not down, else the one that serves in its
	// place. Written by im-monitor; absent means it is stopped, or not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Port that its data path listens on. Written by im-monitor; absent means it does not run.
	// +optional
	Port int `json:"port,omitempty"`
	// Progress of the last purge of each replica, by the replica's address (tcp://ip:port). Written by im-monitor;
	// absent means none.
	// +nullable
	// +optional
	PurgeStatus map[string]PurgeStatus `json:"purgeStatus,omitempty"`
	// How many files of one replica are rebuilt at a time, as set in the engine. Written by im-monitor; absent means
	// unknown.
	// +optional
	RebuildConcurrentSyncLimit int `json:"rebuildConcurrentSyncLimit,omitempty"`
	// Progress of each rebuild, by the address of the replica that is rebuilt (tcp://ip:port). Written by
	// im-monitor; absent means none.
	// +nullable
	// +optional
	RebuildStatus map[string]RebuildStatus `json:"rebuildStatus,omitempty"`
	// Mode (RW, WO, ERR) of each replica, by the replica's name; UNKNOWN-tcp://ip:port for one that no Replica
	// names. Written by im-monitor; absent means not checked yet.
	// +nullable
	// +optional
	ReplicaModeMap map[string]string `json:"replicaModeMap,omitempty"`
	// RFC 3339 time at which each replica got its mode, by the replica's name. Written by im-monitor; absent means
	// not known.
	// +optional
	ReplicaTransitionTimeMap map[string]string `json:"replicaTransitionTimeMap,omitempty"`
	// Progress of each restore, by the replica's address (tcp://ip:port). Written by im-monitor; absent means none.
	// +nullable
	// +optional
	RestoreStatus map[string]RestoreStatus `json:"restoreStatus,omitempty"`
	// Whether it was started from failed replicas as asked. Written by im-monitor; absent means false.
	// +optional
	SalvageExecuted bool `json:"salvageExecuted,omitempty"`
	// How many snapshots it allows, as set in the engine. Written by im-monitor; absent means unknown.
	// +optional
	SnapshotMaxCount int `json:"snapshotMaxCount,omitempty"`
	// How many bytes all snapshots may have, as set in the engine, as a decimal string. Written by im-monitor;
	// absent means no limit.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,18}$`
	// +optional
	SnapshotMaxSize int64 `json:"snapshotMaxSize,omitempty,string"`
	// The snapshots as of the last poll, by name; volume-head is always among them. One that was listed before stays until its
	// absence is proven: by the first poll after im-monitor removed it, else by two polls some seconds apart. Written by
	// im-monitor; absent means not checked yet, an empty map was read as empty.
	// +nullable
	// +optional
	Snapshots map[string]SnapshotInfo `json:"snapshots,omitempty"`
	// Sentence on why the snapshots could not be read. Written by im-monitor; absent means they could.
	// +optional
	SnapshotsError string `json:"snapshotsError,omitempty"`
	// Whether the instance was created for the present desireState. Written by im-monitor; absent means false.
	// +optional
	Started bool `json:"started,omitempty"`
	// Whether a create call may have been sent; it is written before the call. Written by im-monitor; absent means
	// false.
	// +optional
	Starting bool `json:"starting,omitempty"`
	// IP of its data path: that of the pod, or of the storage network. Written by im-monitor; absent means it does
	// not run.
	// +optional
	StorageIP string `json:"storageIP,omitempty"`
	// Number of its ublk device. Written by im-monitor; absent means it has none.
	// +optional
	UblkID int32 `json:"ublkID,omitempty"`
	// Whether trimming marks the snapshots of the chain as removed, as set in the engine. Written by im-monitor;
	// absent means false.
	// +optional
	UnmapMarkSnapChainRemovedEnabled bool `json:"unmapMarkSnapChainRemovedEnabled,omitempty"`
	// UUID of the runtime instance: new for each process (v1) or RAID bdev (v2). Written by im-monitor; absent means
	// it does not run, or the server does not report it.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// The metadata.generation that this status describes. Written by im-monitor; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// EngineBackupStatus is the progress of one backup.
// +kubebuilder:pruning:PreserveUnknownFields
type EngineBackupStatus struct {
	// URL of the finished backup. Written by im-monitor; absent means it is not finished.
	// +optional
	BackupURL string `json:"backupURL,omitempty"`
	// Sentence on why it failed. Written by im-monitor; absent means it did not.
	// +optional
	Error string `json:"error,omitempty"`
	// Progress in per cent. Written by im-monitor; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// Replica that uploads (tcp://ip:port). Written by im-monitor; absent means unknown.
	// +optional
	ReplicaAddress string `json:"replicaAddress,omitempty"`
	// Snapshot that is backed up. Written by im-monitor; absent means unknown.
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// in_progress, complete or error. Written by im-monitor; absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
}

// SnapshotCloneStatus is the progress of one replica's copy from another volume.
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotCloneStatus struct {
	// Sentence on why it failed. Written by im-monitor; absent means it did not.
	// +optional
	Error string `json:"error,omitempty"`
	// Replica that it copies from (tcp://ip:port). Written by im-monitor; absent means unknown.
	// +optional
	FromReplicaAddress string `json:"fromReplicaAddress,omitempty"`
	// Whether it copies at the moment. Written by im-monitor; absent means false.
	// +optional
	IsCloning bool `json:"isCloning,omitempty"`
	// Progress in per cent. Written by im-monitor; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// Snapshot that it copies. Written by im-monitor; absent means unknown.
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`
	// in_progress, complete or error. Written by im-monitor; absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
}

// PurgeStatus is the progress of one replica's purge. v2 data engines report none.
// +kubebuilder:pruning:PreserveUnknownFields
type PurgeStatus struct {
	// Sentence on why it failed. Written by im-monitor; absent means it did not.
	// +optional
	Error string `json:"error,omitempty"`
	// Whether it purges at the moment. Written by im-monitor; absent means false.
	// +optional
	IsPurging bool `json:"isPurging,omitempty"`
	// Progress in per cent. Written by im-monitor; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// in_progress, complete or error. Written by im-monitor; absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
}

// RebuildStatus is the progress of one replica's rebuild.
// +kubebuilder:pruning:PreserveUnknownFields
type RebuildStatus struct {
	// Limit in MB per second that the data engine keeps. Written by im-monitor; absent means no limit.
	// +optional
	AppliedRebuildingMBps int64 `json:"appliedRebuildingMBps,omitempty"`
	// Sentence on why it failed. Written by im-monitor; absent means it did not.
	// +optional
	Error string `json:"error,omitempty"`
	// Replica that it copies from (tcp://ip:port). Written by im-monitor; absent means unknown.
	// +optional
	FromReplicaAddress string `json:"fromReplicaAddress,omitempty"`
	// All replicas that it copies from (tcp://ip:port). Written by im-monitor; absent means unknown.
	// +optional
	FromReplicaAddressList []string `json:"fromReplicaAddressList,omitempty"`
	// Whether it rebuilds at the moment. Written by im-monitor; absent means false.
	// +optional
	IsRebuilding bool `json:"isRebuilding,omitempty"`
	// Progress in per cent. Written by im-monitor; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// in_progress, complete or error. Written by im-monitor; absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
}

// RestoreStatus is the progress of one replica's restore.
// +kubebuilder:pruning:PreserveUnknownFields
type RestoreStatus struct {
	// URL of the backup. Written by im-monitor; absent means no restore.
	// +optional
	BackupURL string `json:"backupURL,omitempty"`
	// Name of the backup that is restored now. Written by im-monitor; absent means none.
	// +optional
	CurrentRestoringBackup string `json:"currentRestoringBackup,omitempty"`
	// Sentence on why it failed. Written by im-monitor; absent means it did not.
	// +optional
	Error string `json:"error,omitempty"`
	// File that is written. Written by im-monitor; absent means none.
	// +optional
	Filename string `json:"filename,omitempty"`
	// Whether it restores at the moment. Written by im-monitor; absent means false.
	// +optional
	IsRestoring bool `json:"isRestoring,omitempty"`
	// Name of the backup that was restored last. Written by im-monitor; absent means none.
	// +optional
	LastRestored string `json:"lastRestored,omitempty"`
	// Progress in per cent. Written by im-monitor; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// in_progress, complete or error. Written by im-monitor; absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
}

// SnapshotInfo is one snapshot as the engine reports it.
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotInfo struct {
	// Names of the snapshots that build on it. Written by im-monitor; absent means none.
	// +nullable
	// +optional
	Children map[string]bool `json:"children,omitempty"`
	// RFC 3339 time at which it was taken. Written by im-monitor; absent means unknown.
	// +optional
	Created string `json:"created,omitempty"`
	// Labels given when it was taken; v2 drops them. Written by im-monitor; absent means none.
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Its name. Written by im-monitor; absent means unknown.
	// +optional
	Name string `json:"name,omitempty"`
	// Name of the snapshot that it builds on. Written by im-monitor; absent means it is the first.
	// +optional
	Parent string `json:"parent,omitempty"`
	// Whether it is only waiting for a purge; v2 never reports it. Written by im-monitor; absent means false.
	// +optional
	Removed bool `json:"removed,omitempty"`
	// Bytes of its own, as a decimal string. Written by im-monitor; absent means unknown.
	// +optional
	Size string `json:"size,omitempty"`
	// Whether a person or a job asked for it, not the system. Written by im-monitor; absent means false.
	// +optional
	UserCreated bool `json:"usercreated,omitempty"`
}

// UnnamedReplica begins the key in EngineStatus.replicaModeMap of a replica that no Replica object names; its address follows.
const UnnamedReplica = "UNKNOWN-"
