package v1beta2

// DiskSpec is how a person wants a disk to be used.
// +kubebuilder:validation:XValidation:rule=`!has(self.initialize) || self.initialize == "" || (has(self.diskType) && self.diskType == "block")`,message="initialize is only for block disks (v2): set diskType to block, or remove initialize"
// +kubebuilder:validation:XValidation:rule=`(has(self.diskType) && self.diskType == "block") == (has(oldSelf.diskType) && oldSelf.diskType == "block")`,message="diskType of a disk is immutable: its UUID is that of a filesystem or of an lvstore; remove the disk, and add it under a new key"
// +kubebuilder:validation:XValidation:rule=`(self.?diskType.orValue("") == "block" || !has(self.path) || !self.path.matches("^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-7]$")) || (oldSelf.hasValue() && !(oldSelf.value().?diskType.orValue("") == "block" || !has(oldSelf.value().path) || !oldSelf.value().path.matches("^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-7]$")))`,message="a PCI address is the path of a block disk (v2): set diskType to block, or path to a directory",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(self.?diskType.orValue("") == "block" || self.?diskDriver.orValue("") in ["", "auto"]) || (oldSelf.hasValue() && !(oldSelf.value().?diskType.orValue("") == "block" || oldSelf.value().?diskDriver.orValue("") in ["", "auto"]))`,message="diskDriver is only for block disks (v2): remove it, or set diskType to block",optionalOldSelf=true
// +kubebuilder:pruning:PreserveUnknownFields
type DiskSpec struct {
	// Whether new replicas may be placed on the disk. Written by a person; absent means false.
	// +optional
	AllowScheduling bool `json:"allowScheduling,omitempty"`
	// Driver of a block disk; auto chooses one. Written by a person; absent means auto.
	// +kubebuilder:validation:Enum="";auto;aio;nvme
	// +optional
	DiskDriver string `json:"diskDriver,omitempty"`
	// filesystem serves v1 only, block serves v2 only. Immutable. Written by a person; absent means filesystem.
	// +kubebuilder:validation:Enum=filesystem;block
	// +optional
	DiskType string `json:"diskType,omitempty"`
	// Whether all replicas must leave the disk. Written by a person; absent means false.
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
	// Permission to use the device of a block disk whose status has no UUID: `new` lets im-monitor format an empty device,
	// or adopt the lvstore that the device has; `adopt:<uuid>` takes exactly that lvstore and never writes a new one. Once
	// a UUID is recorded, only that lvstore is loaded and this field has no effect. Written by a person; absent means that
	// the device is not touched.
	// +kubebuilder:validation:MaxLength=42
	// +kubebuilder:validation:XValidation:rule=`self in ["", "new"] || self.matches("^adopt:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")`,message="initialize must be new, or adopt:<uuid> with the UUID of the lvstore in lower case, or absent"
	// +optional
	Initialize string `json:"initialize,omitempty"`
	// Directory of a filesystem disk, device path or PCI address of a block disk. Written by a person; absent means
	// not usable.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.startsWith("/") || self.matches("^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-7]$")`,message="path of a disk must be absolute, such as /var/lib/longhorn or /dev/sdb, or a PCI address, such as 0000:00:1e.0"
	// +optional
	Path string `json:"path,omitempty"`
	// Bytes that replicas must leave free. Written by a person; absent means 0.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self < 1000000000000000000`,message="storageReserved of a disk must be 0 or more bytes, as a number without unit, such as 10737418240 for 10 Gi, and less than the disk has"
	// +optional
	StorageReserved int64 `json:"storageReserved,omitempty"`
	// Tags that volumes may select disks by. Written by a person; absent means none.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`!("" in self)`,message="a tag of a disk must not be empty"
	// +optional
	Tags []string `json:"tags,omitempty"`
}

// DiskStatus is the state of one disk.
// +kubebuilder:pruning:PreserveUnknownFields
type DiskStatus struct {
	// RFC 3339 time at which the replicas that a block disk held at its first load in this cluster were listed
	// completely. While it is absent, no replica is placed on the disk, and no replica data on it is deleted by policy.
	// Written by im-monitor, for v2 disks; absent means not yet.
	// +optional
	AcknowledgedAt string `json:"acknowledgedAt,omitempty"`
	// Names of the replicas that a block disk held at its first load in this cluster and that no Replica claimed then.
	// They may be another cluster's data: a person may delete them, a policy never does. Written by im-monitor, for v2
	// disks; absent means none, if acknowledgedAt is set.
	// +listType=set
	// +optional
	AcknowledgedReplicas []string `json:"acknowledgedReplicas,omitempty"`
	// The observations for people and peer controllers: Ready, Schedulable. Written by im-monitor, for v2 disks;
	// disk-controller for v1 disks; absent means unknown: no replica is placed there.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// Driver in use of a block disk. Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent means
	// unknown.
	// +optional
	DiskDriver string `json:"diskDriver,omitempty"`
	// Name that the instance manager knows the disk by. Written by im-monitor, for v2 disks; longhorn-manager for v1
	// disks; absent means unknown.
	// +optional
	DiskName string `json:"diskName,omitempty"`
	// Path of the disk. Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent means unknown.
	// +optional
	DiskPath string `json:"diskPath,omitempty"`
	// filesystem (v1) or block (v2). Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent means
	// unknown.
	// +optional
	DiskType string `json:"diskType,omitempty"`
	// UUID of the disk; for a block disk the UUID of its lvstore. Replica.spec.diskID names it. Written by im-monitor,
	// for v2 disks; disk-controller for v1 disks; absent means the disk is not usable yet.
	// +optional
	DiskUUID string `json:"diskUUID,omitempty"`
	// Filesystem of a filesystem disk. Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent means
	// unknown.
	// +optional
	FilesystemType string `json:"filesystemType,omitempty"`
	// Health of each device under the disk, by the device's name. Written by im-monitor, for v2 disks; disk-controller
	// for v1 disks; absent means not collected.
	// +optional
	HealthData map[string]DiskHealth `json:"healthData,omitempty"`
	// RFC 3339 time at which the health was collected. Written by im-monitor, for v2 disks; longhorn-manager for v1
	// disks; absent means never.
	// +optional
	HealthDataLastCollectedAt string `json:"healthDataLastCollectedAt,omitempty"`
	// InstanceManager that reported all this. Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent
	// means none.
	// +optional
	InstanceManagerName string `json:"instanceManagerName,omitempty"`
	// The latest attempt to load a block disk into the v2 instance manager of its node, recorded before the call.
	// Written by im-monitor, for v2 disks; absent means that im-monitor has not loaded the disk.
	// +nullable
	// +optional
	Load *DiskLoad `json:"load,omitempty"`
	// Bytes of each backing image on the disk, by its name. Written by im-monitor, for v2 disks; longhorn-manager for v1
	// disks; absent means none.
	// +nullable
	// +optional
	ScheduledBackingImage map[string]int64 `json:"scheduledBackingImage,omitempty"`
	// Bytes of each replica on the disk, by its name. Written by im-monitor, for v2 disks; longhorn-manager for v1
	// disks; absent means none.
	// +nullable
	// +optional
	ScheduledReplica map[string]int64 `json:"scheduledReplica,omitempty"`
	// Bytes that are free. Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent means 0, not
	// known.
	// +optional
	StorageAvailable int64 `json:"storageAvailable,omitempty"`
	// Bytes of the whole disk. Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent means 0, not
	// known.
	// +optional
	StorageMaximum int64 `json:"storageMaximum,omitempty"`
	// Bytes that are promised to replicas. Written by im-monitor, for v2 disks; disk-controller for v1 disks; absent
	// means 0.
	// +optional
	StorageScheduled int64 `json:"storageScheduled,omitempty"`
}

// DiskLoad is one attempt to load a v2 disk: one DiskCreate in one run of an instance manager's server.
// +kubebuilder:pruning:PreserveUnknownFields
type DiskLoad struct {
	// The run of the server: the UID of the instance manager's pod, `/`, and the ID of its container.
	// Written by im-monitor; never absent.
	// +optional
	Server string `json:"server,omitempty"`
	// requested is written before DiskCreate is called; creating, ready and error are values of the server. While it
	// is requested or creating, calls to the v2 instance manager of the node may block: no switch-over begins
	// there. Written by im-monitor; never absent.
	// +kubebuilder:validation:Enum=requested;creating;ready;error
	// +optional
	State string `json:"state,omitempty"`
	// The UUID that DiskCreate was called with. Written by im-monitor; absent means that it was called without one,
	// because of `initialize: new`.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// RFC 3339 time at which the attempt was recorded. Written by im-monitor; never absent.
	// +optional
	RequestedAt string `json:"requestedAt,omitempty"`
	// Number of DiskCreate calls without success since the disk was last ready, which the back-off grows with. Written
	// by im-monitor; absent means 0.
	// +optional
	Attempts int `json:"attempts,omitempty"`
	// RFC 3339 time at which this run of the server was first seen to report the disk ready with the recorded UUID.
	// Written by im-monitor; absent means not yet.
	// +optional
	ReadyAt string `json:"readyAt,omitempty"`
}

// The values of DiskLoad.State.
const (
	DiskLoadRequested = "requested"
	DiskLoadCreating  = "creating"
	DiskLoadReady     = "ready"
	DiskLoadError     = "error"
)

// LoadingDisk returns the key of a v2 disk that is being loaded, the first one in order, or "". While there is one,
// calls to the v2 instance manager of the node may block until the load is done.
func (s *NodeStatus) LoadingDisk() string {
	first := ""
	for key, d := range s.DiskStatus {
		if d.Load != nil && (d.Load.State == DiskLoadRequested || d.Load.State == DiskLoadCreating) && (first == "" || key < first) {
			first = key
		}
	}
	return first
}

// DiskHealth is the health of a device by its own report.
// +kubebuilder:pruning:PreserveUnknownFields
type DiskHealth struct {
	// Its single attributes. Written by Longhorn; absent means unknown.
	// +optional
	Attributes []DiskHealthAttribute `json:"attributes,omitempty"`
	// Bytes of the device. Written by Longhorn; absent means unknown.
	// +optional
	Capacity int64 `json:"capacity,omitempty"`
	// Name of the device. Written by Longhorn; absent means unknown.
	// +optional
	DiskName string `json:"diskName,omitempty"`
	// Kind of the device, such as nvme or sata. Written by Longhorn; absent means unknown.
	// +optional
	DiskType string `json:"diskType,omitempty"`
	// Version of its firmware. Written by Longhorn; absent means unknown.
	// +optional
	FirmwareVersion string `json:"firmwareVersion,omitempty"`
	// The report of the device about itself. Written by Longhorn; absent means UNKNOWN.
	// +kubebuilder:validation:Enum=FAILED;PASSED;UNKNOWN;WARNING
	// +optional
	HealthStatus string `json:"healthStatus,omitempty"`
	// Its model. Written by Longhorn; absent means unknown.
	// +optional
	ModelName string `json:"modelName,omitempty"`
	// Its serial number. Written by Longhorn; absent means unknown.
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
	// Source of the report. Written by Longhorn; absent means unknown.
	// +kubebuilder:validation:Enum=SMART;SPDK
	// +optional
	Source string `json:"source,omitempty"`
	// Temperature in degrees Celsius. Written by Longhorn; absent means unknown.
	// +optional
	Temperature int `json:"temperature,omitempty"`
}

// DiskHealthAttribute is one attribute of a device's health.
// +kubebuilder:pruning:PreserveUnknownFields
type DiskHealthAttribute struct {
	// Number of the attribute. Written by Longhorn; absent means 0.
	// +optional
	ID int `json:"id,omitempty"`
	// Name of the attribute. Written by Longhorn; absent means unknown.
	// +optional
	Name string `json:"name,omitempty"`
	// Raw value as the device words it. Written by Longhorn; absent means unknown.
	// +optional
	RawString string `json:"rawString,omitempty"`
	// Raw value. Written by Longhorn; absent means 0.
	// +optional
	RawValue int64 `json:"rawValue,omitempty"`
	// Value below which the device counts as failing. Written by Longhorn; absent means 0.
	// +optional
	Threshold int `json:"threshold,omitempty"`
	// Normalized value. Written by Longhorn; absent means 0.
	// +optional
	Value int `json:"value,omitempty"`
	// When it fell below the threshold. Written by Longhorn; absent means never.
	// +optional
	WhenFailed string `json:"whenFailed,omitempty"`
	// Worst normalized value so far. Written by Longhorn; absent means 0.
	// +optional
	Worst int `json:"worst,omitempty"`
}
