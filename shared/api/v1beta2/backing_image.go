package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackingImageSpec is where the image comes from and where its copies must lie.
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageSpec struct {
	// SHA-512 that the image must have. Written by a person; absent means any.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[0-9a-f]{128}$")`,message="spec.checksum must be the SHA-512 of the image: 128 hexadecimal digits in lower case"
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// The data engine that uses it. Written by a person; absent means v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Disks that must hold a copy, by the disk's UUID. Written by Longhorn; absent means none.
	// +optional
	DiskFileSpecMap map[string]BackingImageDiskFileSpec `json:"diskFileSpecMap,omitempty"`
	// Tags that a disk must all have to hold a copy. Written by a person; absent means any disk.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule=`self.all(tag, tag != "")`,message="a tag in spec.diskSelector must not be empty"
	// +optional
	DiskSelector []string `json:"diskSelector,omitempty"`
	// Disks of old Longhorn versions, by UUID; diskFileSpecMap takes their place. Written by Longhorn; absent means
	// none.
	// +optional
	Disks map[string]string `json:"disks,omitempty"`
	// How many copies are wanted at least. Written by a person; absent means 1.
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message="spec.minNumberOfCopies must be 0 or more; 0 is one"
	// +optional
	MinNumberOfCopies int `json:"minNumberOfCopies,omitempty"`
	// Tags that a node must all have to hold a copy. Written by a person; absent means any node.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule=`self.all(tag, tag != "")`,message="a tag in spec.nodeSelector must not be empty"
	// +optional
	NodeSelector []string `json:"nodeSelector,omitempty"`
	// Secret with the key of an encrypted image. Written by a person; absent means not encrypted.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")`,message="spec.secret must be the name of a Secret: lower-case letters, digits, - and ."
	// +optional
	Secret string `json:"secret,omitempty"`
	// Namespace of that secret. Written by a person; absent means not encrypted.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")`,message="spec.secretNamespace must be the name of a namespace: lower-case letters, digits, - and ."
	// +optional
	SecretNamespace string `json:"secretNamespace,omitempty"`
	// What the source type needs, such as url, volume-name or export-type. Written by a person; absent means none.
	// +optional
	SourceParameters map[string]string `json:"sourceParameters,omitempty"`
	// Where the image comes from. Written by a person; absent means unknown.
	// +kubebuilder:validation:Enum=download;upload;export-from-volume;restore;clone
	// +optional
	SourceType string `json:"sourceType,omitempty"`
}

// BackingImageStatus is where the copies are.
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageStatus struct {
	// SHA-512 of the image. Written by Longhorn; absent means not computed.
	// +optional
	Checksum string `json:"checksum,omitempty"`
	// State of each copy, by the disk's UUID. Written by Longhorn; absent means none.
	// +nullable
	// +optional
	DiskFileStatusMap map[string]BackingImageDiskFileStatus `json:"diskFileStatusMap,omitempty"`
	// RFC 3339 time at which each disk's copy was last used, by the disk's UUID. Written by Longhorn; absent means
	// in use, or no copy.
	// +nullable
	// +optional
	DiskLastRefAtMap map[string]string `json:"diskLastRefAtMap,omitempty"`
	// Node whose controller manages it. Written by Longhorn; absent means not decided yet.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// Bytes that a copy takes. Written by Longhorn; absent means 0, not known.
	// +optional
	RealSize int64 `json:"realSize,omitempty"`
	// Bytes of the image file. Written by Longhorn; absent means 0, not known.
	// +optional
	Size int64 `json:"size,omitempty"`
	// UUID of the image. Written by Longhorn; absent means not decided yet.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// Disk with the first v2 copy. Written by Longhorn; absent means none.
	// +optional
	V2FirstCopyDisk string `json:"v2FirstCopyDisk,omitempty"`
	// State of the first v2 copy. Written by Longhorn; absent means none.
	// +optional
	V2FirstCopyStatus string `json:"v2FirstCopyStatus,omitempty"`
	// Bytes of a volume that starts from it. Written by Longhorn; absent means 0, not known.
	// +optional
	VirtualSize int64 `json:"virtualSize,omitempty"`
	// The metadata.generation that this status describes. Written by Longhorn; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// BackingImageDiskFileSpec is one wanted copy.
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDiskFileSpec struct {
	// The data engine that uses the copy. Written by Longhorn; absent means v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// Whether the copy must move to another disk. Written by Longhorn; absent means false.
	// +optional
	EvictionRequested bool `json:"evictionRequested,omitempty"`
}

// BackingImageDiskFileStatus is one copy.
// +kubebuilder:pruning:PreserveUnknownFields
type BackingImageDiskFileStatus struct {
	// The data engine that uses the copy. Written by Longhorn; absent means v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +optional
	DataEngine string `json:"dataEngine,omitempty"`
	// RFC 3339 time at which its state last changed. Written by Longhorn; absent means never.
	// +optional
	LastStateTransitionTime string `json:"lastStateTransitionTime,omitempty"`
	// Sentence on its state. Written by Longhorn; absent means nothing.
	// +optional
	Message string `json:"message,omitempty"`
	// Progress in per cent. Written by Longhorn; absent means 0.
	// +optional
	Progress int `json:"progress,omitempty"`
	// pending, starting, in-progress, ready, ready-for-transfer, failed, failed-and-cleanup or unknown. Written by
	// Longhorn; absent means not begun.
	// +optional
	State string `json:"state,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=backingimages,shortName=lhbi,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.sourceType`
// +kubebuilder:selectablefield:JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.spec.sourceType`
// +kubebuilder:printcolumn:name="Data Engine",type=string,JSONPath=`.spec.dataEngine`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.status.size`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="UUID",type=string,JSONPath=`.status.uuid`,priority=1
// +kubebuilder:printcolumn:name="Virtual Size",type=integer,JSONPath=`.status.virtualSize`,priority=1

// BackingImage is a disk image that volumes start from. Its copies are outside Drover; attach-controller reads it.
type BackingImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec BackingImageSpec `json:"spec,omitzero"`
	// +optional
	Status BackingImageStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackingImageList is a list of BackingImage objects.
type BackingImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackingImage `json:"items"`
}
