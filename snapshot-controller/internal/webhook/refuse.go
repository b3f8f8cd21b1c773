package webhook

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Operation is what a request does.
type Operation string

// The operations.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// World is a request and what it is about.
type World struct {
	Operation Operation
	// Old is the Snapshot before, nil for Create; New the one after, nil for Delete.
	Old, New *v1beta2.Snapshot
	// Volume is the Snapshot's; nil: there is none of that name.
	Volume *v1beta2.Volume
	// Clones are the names of volumes that share the snapshot's data, or copy it.
	Clones []string
}

// Refusal explains why the request is refused, and what to do instead; empty: it is not.
func Refusal(w World) string {
	switch w.Operation {
	case Create:
		return w.create()
	case Update:
		return w.update()
	case Delete:
		return w.delete()
	}
	return ""
}

func (w World) create() string {
	s := w.New
	switch {
	case s.Name == v1beta2.VolumeHead:
		return v1beta2.VolumeHead + " is the part of every volume that is written to, no snapshot: choose another name"
	case w.Volume == nil:
		return fmt.Sprintf("there is no volume %s: create it first, or name another in spec.volume", s.Spec.Volume)
	case w.Volume.DeletionTimestamp != nil:
		return fmt.Sprintf("volume %s is being deleted, and its snapshots with it", s.Spec.Volume)
	}
	return ""
}

// update keeps what makes a Snapshot this one. A label that is wrong may be put right.
func (w World) update() string {
	was, is := w.Old.Labels[v1beta2.LabelVolume], w.New.Labels[v1beta2.LabelVolume]
	switch {
	case !sameSpec(w.Old.Spec, w.New.Spec):
		return "spec cannot be changed: delete this Snapshot and create another"
	case was != is && is != v1beta2.LabelValue(w.New.Spec.Volume):
		return fmt.Sprintf("the label %s names the volume and cannot be changed: it is %q", v1beta2.LabelVolume,
			v1beta2.LabelValue(w.New.Spec.Volume))
	}
	return ""
}

// sameSpec takes no labels for the same as an empty list of them.
func sameSpec(a, b v1beta2.SnapshotSpec) bool {
	if len(a.Labels) == 0 && len(b.Labels) == 0 {
		a.Labels, b.Labels = nil, nil
	}
	return equality.Semantic.DeepEqual(a, b)
}

// delete keeps data that is in use. With its volume a snapshot goes all the same, and an object goes whose snapshot is gone.
func (w World) delete() string {
	if len(w.Clones) == 0 || conditions.IsTrue(w.Old.Status.Conditions, v1beta2.SnapshotWithdrawn) || w.Old.DeletionTimestamp != nil ||
		w.Volume == nil || w.Volume.DeletionTimestamp != nil {
		return ""
	}
	return fmt.Sprintf("clones share or copy the data of snapshot %s: %s; delete linked clones first, and wait for copies", w.Old.Name,
		strings.Join(w.Clones, ", "))
}
