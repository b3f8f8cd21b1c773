package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VolumeSpec is what is wanted of a volume. A person or the CSI driver fills it in; nodeID and its companions are
// attach-controller's.
// +kubebuilder:validation:XValidation:rule=`(has(self.fromBackup) ? self.fromBackup : "") == (has(oldSelf.fromBackup) ? oldSelf.fromBackup : "")`,message="spec.fromBackup is immutable: create a new volume from the backup"
// +kubebuilder:validation:XValidation:rule=`(has(self.dataSource) ? self.dataSource : "") == (has(oldSelf.dataSource) ? oldSelf.dataSource : "")`,message="spec.dataSource is immutable: create a new volume from that source"
// +kubebuilder:validation:XValidation:rule=`self.?encrypted.orValue(false) == oldSelf.?encrypted.orValue(false)`,message="spec.encrypted is immutable: create a new volume and copy the data"
// +kubebuilder:validation:XValidation:rule=`(has(self.backingImage) && self.backingImage != "") == (has(oldSelf.backingImage) && oldSelf.backingImage != "") && (!has(self.backingImage) || !has(oldSelf.backingImage) || self.backingImage == oldSelf.backingImage)`,message="spec.backingImage is immutable: create a new volume from the other image"
// +kubebuilder:validation:XValidation:rule=`has(self.dataLayout) == has(oldSelf.dataLayout) || ((!has(self.dataLayout) || ((!has(self.dataLayout.type) || self.dataLayout.type == "") && (!has(self.dataLayout.mode) || self.dataLayout.mode == "") && (!has(self.dataLayout.dataChunks) || self.dataLayout.dataChunks == 0) && (!has(self.dataLayout.parityChunks) || self.dataLayout.parityChunks == 0) && (!has(self.dataLayout.stripSizeKB) || self.dataLayout.stripSizeKB == 0))) && (!has(oldSelf.dataLayout) || ((!has(oldSelf.dataLayout.type) || oldSelf.dataLayout.type == "") && (!has(oldSelf.dataLayout.mode) || oldSelf.dataLayout.mode == "") && (!has(oldSelf.dataLayout.dataChunks) || oldSelf.dataLayout.dataChunks == 0) && (!has(oldSelf.dataLayout.parityChunks) || oldSelf.dataLayout.parityChunks == 0) && (!has(oldSelf.dataLayout.stripSizeKB) || oldSelf.dataLayout.stripSizeKB == 0))))`,message="spec.dataLayout is immutable: create a new volume with the other layout and copy the data"
// +kubebuilder:validation:XValidation:rule=`(has(self.topologyRequirement) && self.topologyRequirement.size() > 0) == (has(oldSelf.topologyRequirement) && oldSelf.topologyRequirement.size() > 0) && (!has(self.topologyRequirement) || !has(oldSelf.topologyRequirement) || self.topologyRequirement == oldSelf.topologyRequirement)`,message="spec.topologyRequirement is immutable: create a new volume with the other requirement, or move replicas with nodeSelector"
// +kubebuilder:validation:XValidation:rule=`(self.?dataEngine.orValue("v1") == "v2") == (oldSelf.?dataEngine.orValue("v1") == "v2")`,message="spec.dataEngine is immutable: create a new volume and copy the data"
// +kubebuilder:validation:XValidation:rule=`(self.?cloneMode.orValue("") == "linked-clone") == (oldSelf.?cloneMode.orValue("") == "linked-clone")`,message="spec.cloneMode is immutable: it is how the volume was filled; create a new volume from the source"
// +kubebuilder:validation:XValidation:rule=`!self.?Standby.orValue(false) || oldSelf.?Standby.orValue(false)`,message="spec.Standby only turns false, which activates the volume: to follow the backups again, create a new volume with Standby true from a backup"
// +kubebuilder:validation:XValidation:rule=`(self.?dataLocality.orValue("") != "strict-local" || self.?numberOfReplicas.orValue(1) == 1) || (oldSelf.hasValue() && !(oldSelf.value().?dataLocality.orValue("") != "strict-local" || oldSelf.value().?numberOfReplicas.orValue(1) == 1))`,message="a strict-local volume has one replica, on the node where it is attached: set spec.numberOfReplicas to 1",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(!self.?migratable.orValue(false) || self.?accessMode.orValue("") == "rwx") || (oldSelf.hasValue() && !(!oldSelf.value().?migratable.orValue(false) || oldSelf.value().?accessMode.orValue("") == "rwx"))`,message="a migratable volume is held by two nodes for a while: set spec.accessMode to rwx",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(!(self.?frontend.orValue("") in ["nvmf", "ublk"]) || self.?dataEngine.orValue("v1") == "v2") || (oldSelf.hasValue() && !(!(oldSelf.value().?frontend.orValue("") in ["nvmf", "ublk"]) || oldSelf.value().?dataEngine.orValue("v1") == "v2"))`,message="the frontends nvmf and ublk are only for spec.dataEngine v2: use blockdev or iscsi",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(self.?frontend.orValue("") != "iscsi" || self.?dataEngine.orValue("v1") == "v1") || (oldSelf.hasValue() && !(oldSelf.value().?frontend.orValue("") != "iscsi" || oldSelf.value().?dataEngine.orValue("v1") == "v1"))`,message="the frontend iscsi is only for spec.dataEngine v1: use blockdev or nvmf",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(!self.?Standby.orValue(false) || self.?fromBackup.orValue("") != "") || (oldSelf.hasValue() && !(!oldSelf.value().?Standby.orValue(false) || oldSelf.value().?fromBackup.orValue("") != ""))`,message="a standby volume keeps restoring from a backup: name it in spec.fromBackup",optionalOldSelf=true
// +kubebuilder:pruning:PreserveUnknownFields
type VolumeSpec struct {
	// Makes the volume a disaster-recovery copy that keeps restoring from a backup. Set to false it activates the volume, for good.
	// Written by a person; absent means false.
	// +optional
	Standby bool `json:"Standby,omitempty"`
	// How many nodes may mount the volume: rwo one node, rwop one pod, rwx many. Written by a person; absent means
	// rwo.
	// +kubebuilder:validation:Enum=rwo;rwop;rwx
	// +optional
	AccessMode string `json:"accessMode,omitempty"`
	// Name of the BackingImage that the volume starts from. It never changes. Written by a person; absent means no
	// backing image.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")`,message="spec.backingImage must be the name of a BackingImage: lower-case letters, digits, - and ."
	// +optional
	BackingImage string `json:"backingImage,omitempty"`
	// Size in bytes of the blocks of this volume's backups. Written by a person; absent means 2 MiB.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Enum="2097152";"16777216"
	// +optional
	BackupBlockSize int64 `json:"backupBlockSize,omitempty,string"`
	// How backups of the volume are compressed. Written by a person; absent means lz4.
	// +kubebuilder:validation:Enum=none;lz4;gzip
	// +optional
	BackupCompressionMethod string `json:"backupCompressionMethod,omitempty"`
	// Name of the BackupTarget that backups of the volume go to. Written by a person; absent means default.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")`,message="spec.backupTargetName must be the name of a BackupTarget: lower-case letters, digits, - and ."
	// +optional
	BackupTargetName string `json:"backupTargetName,omitempty"`
	// Whether a clone copies all data (full-copy) or shares its source's snapshot (linked-clone). It never changes. Drover
	// keeps it, and copies all data. Written by a person; absent means full-copy.
	// +kubebuilder:validation:Enum="";full-copy;linked-clone
	// +optional
	CloneMode string `json:"cloneMode,omitempty"`
	// The data engine that runs the volume. Written by a person; absent means v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// How v2 data lies over the replicas. It never changes. Drover keeps it and does not obey it. Written by a person;
	// absent means replicated.
	// +optional
	DataLayout DataLayout `json:"dataLayout,omitzero"`
	// Whether a replica should be, or must be (strict-local), on the node where the volume is attached. Written by a
	// person; absent means disabled.
	// +kubebuilder:validation:Enum=disabled;best-effort;strict-local
	// +optional
	DataLocality string `json:"dataLocality,omitempty"`
	// What a new volume is filled from: another volume (vol://…) or a snapshot of it (snap://…). Written by a
	// person; absent means nothing.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^(vol://[^/]+|snap://[^/]+/[^/]+)$")`,message="spec.dataSource must be vol://<volume> or snap://<volume>/<snapshot>"
	// +optional
	DataSource string `json:"dataSource,omitempty"`
	// Whether the volume is attached without a block device, as snapshots, backups and maintenance need it. Written
	// by attach-controller, from the winning ticket; absent means false.
	// +optional
	DisableFrontend bool `json:"disableFrontend,omitempty"`
	// Tags that a disk must all have to hold a replica. Written by a person; absent means any disk.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule=`self.all(tag, tag != "")`,message="a tag in spec.diskSelector must not be empty"
	// +optional
	DiskSelector []string `json:"diskSelector,omitempty"`
	// Whether the data is encrypted on the node. It never changes. Written by a person; absent means false.
	// +optional
	Encrypted bool `json:"encrypted,omitempty"`
	// Node on which the v2 target must run, where that is not the node of the volume; kept for objects that Longhorn
	// created, Drover uses targetNodeID. Written by Longhorn; absent means the node of the volume.
	// +optional
	EngineNodeID string `json:"engineNodeID,omitempty"`
	// Whether the filesystem is frozen while a snapshot is taken; ignored takes the global setting. Drover keeps it
	// and does not obey it. Written by a person; absent means ignored.
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	FreezeFilesystemForSnapshot string `json:"freezeFilesystemForSnapshot,omitempty"`
	// URL of the backup that a new volume is restored from. Written by a person; absent means an empty volume.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]+://.*[?&]backup=[^&]+") && self.matches("[?&]volume=[^&]+")`,message="spec.fromBackup must be the URL of a backup: <target>?backup=<backup>&volume=<volume>"
	// +optional
	FromBackup string `json:"fromBackup,omitempty"`
	// What the volume shows on its node: a block device (blockdev, ublk), an iSCSI or an NVMe-oF target. Written by
	// a person; absent means blockdev, or nothing for the value ''.
	// +kubebuilder:validation:Enum=blockdev;iscsi;nvmf;ublk;""
	// +optional
	Frontend string `json:"frontend,omitempty"`
	// Engine image of the volume; for v2, the image of the instance manager. Written by a person; after a live
	// upgrade, attach-controller; absent means the setting default-engine-image.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^ \\t\\n;,\"']*$")`,message="spec.image must be one image, such as longhornio/longhorn-engine:v1.12.0, without blanks"
	// +optional
	Image string `json:"image,omitempty"`
	// Who requested the last attachment. Written by attach-controller; absent means no one yet.
	// +optional
	LastAttachedBy string `json:"lastAttachedBy,omitempty"`
	// Whether two nodes may hold the volume while it moves live from one to the other. Written by a person; absent
	// means false.
	// +optional
	Migratable bool `json:"migratable,omitempty"`
	// Node to which the volume is moving live. Written by attach-controller; absent means no migration.
	// +optional
	MigrationNodeID string `json:"migrationNodeID,omitempty"`
	// Node on which the volume must be attached. Written by attach-controller; absent means it must be detached.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// Tags that a node must all have to hold a replica. Written by a person; absent means any node.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule=`self.all(tag, tag != "")`,message="a tag in spec.nodeSelector must not be empty"
	// +optional
	NodeSelector []string `json:"nodeSelector,omitempty"`
	// How many replicas are wanted. Written by a person; absent means the setting default-replica-count.
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 20`,message="spec.numberOfReplicas must be 1 to 20, or absent for the setting default-replica-count"
	// +optional
	NumberOfReplicas int `json:"numberOfReplicas,omitempty"`
	// Number of I/O queues of the v2 initiator. Written by a person; absent means the data engine's default.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 128`,message="spec.nvmeTcpNrIoQueues must be 0 to 128 queues, 0 for the default of the data engine"
	// +optional
	NvmeTCPNrIOQueues int `json:"nvmeTcpNrIoQueues,omitempty"`
	// Whether a detached volume is attached to rebuild its replicas; ignored takes the global setting. Written by a
	// person; absent means ignored.
	// +kubebuilder:validation:Enum=ignored;disabled;enabled
	// +optional
	OfflineRebuilding string `json:"offlineRebuilding,omitempty"`
	// How many files of one replica are rebuilt at a time. Written by a person; absent means the setting
	// replica-rebuild-concurrent-sync-limit.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 5`,message="spec.rebuildConcurrentSyncLimit must be 0 to 5 files at a time, 0 for the setting replica-rebuild-concurrent-sync-limit"
	// +optional
	RebuildConcurrentSyncLimit int `json:"rebuildConcurrentSyncLimit,omitempty"`
	// Whether replicas are spread evenly over nodes and zones; ignored takes the global setting. Drover keeps it and
	// does not obey it. Written by a person; absent means ignored.
	// +kubebuilder:validation:Enum=ignored;disabled;least-effort;best-effort
	// +optional
	ReplicaAutoBalance string `json:"replicaAutoBalance,omitempty"`
	// Whether two replicas may share a disk; ignored takes the global setting. Written by a person; absent means
	// ignored.
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	ReplicaDiskSoftAntiAffinity string `json:"replicaDiskSoftAntiAffinity,omitempty"`
	// Limit of a v2 rebuild in MB per second. Drover keeps it and does not obey it. Written by a person; absent means
	// the global setting.
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message="spec.replicaRebuildingBandwidthLimit must be 0 or more MB per second, 0 for the global setting"
	// +optional
	ReplicaRebuildingBandwidthLimit int64 `json:"replicaRebuildingBandwidthLimit,omitempty"`
	// Whether two replicas may share a node; ignored takes the global setting. Written by a person; absent means
	// ignored.
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	ReplicaSoftAntiAffinity string `json:"replicaSoftAntiAffinity,omitempty"`
	// Whether two replicas may share a zone; ignored takes the global setting. Written by a person; absent means
	// ignored.
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	ReplicaZoneSoftAntiAffinity string `json:"replicaZoneSoftAntiAffinity,omitempty"`
	// Whether a restored volume gets the recurring jobs of its backup; ignored takes the global setting. Drover keeps
	// it and does not obey it. Written by a person; absent means ignored.
	// +kubebuilder:validation:Enum=ignored;enabled;disabled
	// +optional
	RestoreVolumeRecurringJob string `json:"restoreVolumeRecurringJob,omitempty"`
	// RFC 3339 time at which reverting to revertToSnapshot was requested; another time requests it again. Written by a person;
	// absent means none was requested.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$")`,message="spec.revertRequestedAt must be an RFC 3339 time, such as 2026-01-31T09:30:00Z"
	// +optional
	RevertRequestedAt string `json:"revertRequestedAt,omitempty"`
	// Snapshot whose content a v1 volume is to have again; what was written since is lost. It is done while the volume is
	// attached with its frontend disabled. Written by a person; absent means none.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^ \\t\\n/]*$") && self != "volume-head"`,message="spec.revertToSnapshot must be the name of a snapshot of the volume, without blanks; volume-head is what the volume has now"
	// +optional
	RevertToSnapshot string `json:"revertToSnapshot,omitempty"`
	// Whether v1 replicas no longer count their writes; salvage then goes by time and size alone. It changes only while the
	// volume is being created. Written by a person; absent means the setting disable-revision-counter.
	// +optional
	RevisionCounterDisabled bool `json:"revisionCounterDisabled,omitempty"`
	// Size of the volume in bytes, as a decimal string. It only grows. Written by a person; of a standby volume,
	// attach-controller; absent means 0, not yet decided.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[0-9]{1,18}$")`,message="spec.size must be a number of bytes, 0 or more, as a string without unit, such as \"10737418240\" for 10 Gi"
	// +optional
	Size int64 `json:"size,omitempty,string"`
	// Whether snapshots are hashed and checked; ignored takes the global setting. Drover keeps it and does not obey
	// it. Written by a person; absent means ignored.
	// +kubebuilder:validation:Enum=ignored;disabled;enabled;fast-check
	// +optional
	SnapshotDataIntegrity string `json:"snapshotDataIntegrity,omitempty"`
	// RFC 3339 time at which hashing of all snapshots was requested. Drover keeps it and does not obey it. Written by
	// Longhorn; absent means never.
	// +optional
	SnapshotHashingRequestedAt string `json:"snapshotHashingRequestedAt,omitempty"`
	// How many snapshots the volume may have, 2 to 250. Written by a person; where it is absent
	// attach-controller writes what the setting snapshot-max-count has at that time.
	// +kubebuilder:validation:XValidation:rule=`self == 0 || self >= 2 && self <= 250`,message="spec.snapshotMaxCount must be 2 to 250, or 0 for the setting snapshot-max-count"
	// +optional
	SnapshotMaxCount int `json:"snapshotMaxCount,omitempty"`
	// How many bytes all snapshots together may have, as a decimal string. Written by a person; absent means no
	// limit.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[0-9]{1,18}$")`,message="spec.snapshotMaxSize must be a number of bytes, 0 (no limit) or more, as a string without unit, such as \"10737418240\" for 10 Gi"
	// +optional
	SnapshotMaxSize int64 `json:"snapshotMaxSize,omitempty,string"`
	// Minutes after which a failed replica is not reused any more. Drover keeps it and does not obey it. Written by a
	// person; absent means 2880.
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message="spec.staleReplicaTimeout must be 0 or more minutes"
	// +optional
	StaleReplicaTimeout int `json:"staleReplicaTimeout,omitempty"`
	// Zones and regions in which replicas may lie. It never changes. Drover keeps it and does not obey it. Written by
	// a person; absent means anywhere.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	TopologyRequirement []TopologyRequirement `json:"topologyRequirement,omitempty"`
	// Number of queues of a ublk frontend. Written by a person; absent means the data engine's default.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 128`,message="spec.ublkNumberOfQueue must be 0 to 128 queues, 0 for the default of the data engine"
	// +optional
	UblkNumberOfQueue int `json:"ublkNumberOfQueue,omitempty"`
	// Depth of each queue of a ublk frontend. Written by a person; absent means the data engine's default.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 4096`,message="spec.ublkQueueDepth must be 0 to 4096 requests, 0 for the default of the data engine"
	// +optional
	UblkQueueDepth int `json:"ublkQueueDepth,omitempty"`
	// Node on which the v2 target must run during a live upgrade. Written by upgrade-controller; absent means the
	// target is where the volume is attached.
	// +optional
	TargetNodeID string `json:"targetNodeID,omitempty"`
	// Whether trimming marks the snapshots of the chain as removed; ignored takes the global setting. Written by a
	// person; absent means ignored.
	// +kubebuilder:validation:Enum=ignored;disabled;enabled
	// +optional
	UnmapMarkSnapChainRemoved string `json:"unmapMarkSnapChainRemoved,omitempty"`
}

// DataLayout states how v2 data lies over the replicas.
// +kubebuilder:validation:XValidation:rule=`(has(self.type) ? self.type : "") == (has(oldSelf.type) ? oldSelf.type : "") && (has(self.mode) ? self.mode : "") == (has(oldSelf.mode) ? oldSelf.mode : "") && (has(self.dataChunks) ? self.dataChunks : 0) == (has(oldSelf.dataChunks) ? oldSelf.dataChunks : 0) && (has(self.parityChunks) ? self.parityChunks : 0) == (has(oldSelf.parityChunks) ? oldSelf.parityChunks : 0) && (has(self.stripSizeKB) ? self.stripSizeKB : 0) == (has(oldSelf.stripSizeKB) ? oldSelf.stripSizeKB : 0)`,message="spec.dataLayout is immutable: create a new volume with the other layout and copy the data"
// +kubebuilder:pruning:PreserveUnknownFields
type DataLayout struct {
	// Number of data chunks of an erasure-coded stripe. Written by a person; absent means not erasure-coded.
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message="spec.dataLayout.dataChunks must be 0 or more"
	// +optional
	DataChunks int `json:"dataChunks,omitempty"`
	// How the data is made safe: raid1 (mirrored) or erasureCoding. Written by a person; absent means raid1.
	// +kubebuilder:validation:Enum=raid1;erasureCoding;""
	// +optional
	Mode string `json:"mode,omitempty"`
	// Number of parity chunks of an erasure-coded stripe. Written by a person; absent means not erasure-coded.
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message="spec.dataLayout.parityChunks must be 0 or more"
	// +optional
	ParityChunks int `json:"parityChunks,omitempty"`
	// Size of a strip in KiB. Written by a person; absent means the data engine's default.
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message="spec.dataLayout.stripSizeKB must be 0 or more KiB"
	// +optional
	StripSizeKB int `json:"stripSizeKB,omitempty"`
	// Whether each replica has all data (replicated) or a part (sharded). Written by a person; absent means
	// replicated.
	// +kubebuilder:validation:Enum=replicated;sharded;""
	// +optional
	Type string `json:"type,omitempty"`
}

// TopologyRequirement is one place in which replicas may lie.
// +kubebuilder:pruning:PreserveUnknownFields
type TopologyRequirement struct {
	// Name of the region. Written by a person; absent means any region.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches("^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")`,message="a region in spec.topologyRequirement must be the value of the label topology.kubernetes.io/region of nodes"
	// +optional
	Region string `json:"region,omitempty"`
	// Name of the zone. Written by a person; absent means any zone.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches("^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")`,message="a zone in spec.topologyRequirement must be the value of the label topology.kubernetes.io/zone of nodes"
	// +optional
	Zone string `json:"zone,omitempty"`
}

// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.size() <= 52`,message="the name of a volume must have at most 52 characters: the names of its replicas are label values",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.spec) || !has(oldSelf.spec.size) || has(self.spec) && has(self.spec.size) && (self.spec.size == oldSelf.spec.size || !has(self.status) || !has(self.status.acceptedSize) || !self.spec.size.matches("^[0-9]{1,18}$") || int(self.spec.size) >= self.status.acceptedSize)`,message="spec.size only grows: a volume cannot shrink below status.acceptedSize bytes; to go on with less, create a smaller volume and copy the data"
// +kubebuilder:validation:XValidation:rule=`self.?spec.?revisionCounterDisabled.orValue(false) == oldSelf.?spec.?revisionCounterDisabled.orValue(false) || oldSelf.?status.?state.orValue("") in ["", "creating"]`,message="spec.revisionCounterDisabled is immutable: an engine and its replicas must agree on it; create a new volume and copy the data"
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=volumes,shortName=lhv,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeID`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:selectablefield:JSONPath=`.status.state`
// +kubebuilder:selectablefield:JSONPath=`.status.currentNodeID`
// +kubebuilder:printcolumn:name="Data Engine",type=string,JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Robustness",type=string,JSONPath=`.status.robustness`
// +kubebuilder:printcolumn:name="Scheduled",type=string,JSONPath=`.status.conditions[?(@.type=="Scheduled")].status`
// +kubebuilder:printcolumn:name="Wanted",type=string,JSONPath=`.spec.nodeID`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.currentNodeID`
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.capacity`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Attached")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Attached By",type=string,JSONPath=`.spec.lastAttachedBy`,priority=1
// +kubebuilder:printcolumn:name="Migrating To",type=string,JSONPath=`.spec.migrationNodeID`,priority=1
// +kubebuilder:printcolumn:name="Target Node",type=string,JSONPath=`.status.currentTargetNodeID`,priority=1
// +kubebuilder:printcolumn:name="Placement",type=string,JSONPath=`.status.conditions[?(@.type=="Scheduled")].reason`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Attached")].message`,priority=1

// Volume is one block device with its replicas: what is wanted of it, who has it attached, how healthy it is.
type Volume struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec VolumeSpec `json:"spec,omitzero"`
	// +optional
	Status VolumeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// VolumeList is a list of Volume objects.
type VolumeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Volume `json:"items"`
}
