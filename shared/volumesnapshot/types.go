// Package volumesnapshot has what is read of Kubernetes' snapshot.storage.k8s.io/v1: the contents, and their classes. The
// schemas have more; nothing that is read here is ever written back as a whole.
package volumesnapshot

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// GroupVersion is that of the kinds here.
var GroupVersion = schema.GroupVersion{Group: "snapshot.storage.k8s.io", Version: "v1"}

// ContentDefinition and ClassDefinition are the names of the custom resource definitions.
const (
	ContentDefinition = "volumesnapshotcontents.snapshot.storage.k8s.io"
	ClassDefinition   = "volumesnapshotclasses.snapshot.storage.k8s.io"
)

// AddToScheme adds the kinds to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	for kind, object := range map[string]runtime.Object{
		"VolumeSnapshotContent": &Content{}, "VolumeSnapshotContentList": &ContentList{},
		"VolumeSnapshotClass": &Class{}, "VolumeSnapshotClassList": &ClassList{},
	} {
		scheme.AddKnownTypeWithName(GroupVersion.WithKind(kind), object)
	}
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Content is a VolumeSnapshotContent: a snapshot in the storage system, to be taken or there already.
type Content struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ContentSpec    `json:"spec"`
	Status *ContentStatus `json:"status,omitempty"`
}

// ContentSpec is what it is.
type ContentSpec struct {
	// Driver is the CSI driver, DeletionPolicy Delete or Retain.
	Driver         string `json:"driver"`
	DeletionPolicy string `json:"deletionPolicy"`
	// VolumeSnapshotClassName may be empty where the snapshot is there already.
	VolumeSnapshotClassName string `json:"volumeSnapshotClassName,omitempty"`
	// Source has one of its fields.
	Source ContentSource `json:"source"`
	// VolumeSnapshotRef is the VolumeSnapshot; without a UID they are not bound to each other.
	VolumeSnapshotRef Reference `json:"volumeSnapshotRef"`
}

// ContentSource is the volume to take it of, or the snapshot that is there.
type ContentSource struct {
	VolumeHandle   string `json:"volumeHandle,omitempty"`
	SnapshotHandle string `json:"snapshotHandle,omitempty"`
}

// Reference names a VolumeSnapshot.
type Reference struct {
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name,omitempty"`
	UID       types.UID `json:"uid,omitempty"`
}

// ContentStatus is what the driver's side writes.
type ContentStatus struct {
	SnapshotHandle string `json:"snapshotHandle,omitempty"`
	// CreationTime is in nanoseconds since 1970, RestoreSize in bytes.
	CreationTime int64         `json:"creationTime,omitempty"`
	RestoreSize  int64         `json:"restoreSize,omitempty"`
	ReadyToUse   bool          `json:"readyToUse,omitempty"`
	Error        *ContentError `json:"error,omitempty"`
}

// ContentError is the last that went wrong.
type ContentError struct {
	Time    *metav1.Time `json:"time,omitempty"`
	Message string       `json:"message,omitempty"`
}

// ContentList is a list of them.
type ContentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Content `json:"items"`
}

// Class is a VolumeSnapshotClass.
type Class struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Driver     string            `json:"driver"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// ClassList is a list of them.
type ClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Class `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (c *Content) DeepCopyObject() runtime.Object {
	out := &Content{TypeMeta: c.TypeMeta, ObjectMeta: *c.ObjectMeta.DeepCopy(), Spec: c.Spec}
	if c.Status != nil {
		status := *c.Status
		out.Status = &status
		if problem := status.Error; problem != nil {
			status.Error = &ContentError{Time: problem.Time.DeepCopy(), Message: problem.Message}
		}
	}
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *ContentList) DeepCopyObject() runtime.Object {
	out := &ContentList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: slices.Clone(l.Items)}
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Content)
	}
	return out
}

// DeepCopyObject implements runtime.Object.
func (c *Class) DeepCopyObject() runtime.Object {
	return &Class{TypeMeta: c.TypeMeta, ObjectMeta: *c.ObjectMeta.DeepCopy(), Driver: c.Driver, Parameters: maps.Clone(c.Parameters)}
}

// DeepCopyObject implements runtime.Object.
func (l *ClassList) DeepCopyObject() runtime.Object {
	out := &ClassList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: slices.Clone(l.Items)}
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Class)
	}
	return out
}
