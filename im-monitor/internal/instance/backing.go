package instance

import (
	"fmt"
	"path"

	"drover.dev/drover/shared/api/v1beta2"
)

// BackingImage is the state of the backing image of a replica, on the replica's disk.
type BackingImage struct {
	// Found is false where there is no such object.
	Found bool
	UUID  string
	// Wanted reports that the object's spec names the disk.
	Wanted bool
	// State is that of the copy on the disk; empty is none. Message is why it failed.
	State, Message string
	// FirstCopy is the state of the first v2 copy.
	FirstCopy string
}

// backed reports whether the replica starts from a backing image.
func (w World) backed() bool { return w.replica() && w.Object.Replica.BackingImage != "" }

// withoutBackingImage delays a replica until the copy of its backing image is on its disk: without the copy every block that was never
// written reads as zeros.
func withoutBackingImage(w World) *refusal {
	if !w.backed() {
		return nil
	}
	b, name, disk := w.BackingImage, w.Object.Replica.BackingImage, w.Object.Replica.DiskID
	switch {
	case !b.Found:
		return &refusal{ReasonNoBackingImage, fmt.Sprintf("There is no BackingImage %s, which the volume starts from: restore that "+
			"object. Without its file every block that was never written would read as zeros.", name)}
	case w.v2() && b.State == v1beta2.BackingImageStateReady && b.FirstCopy != v1beta2.BackingImageStateReady:
		return &refusal{ReasonWaitsForBackingImage,
			fmt.Sprintf("The first v2 copy of BackingImage %s is %s, not ready.", name, orNone(b.FirstCopy))}
	case b.State == v1beta2.BackingImageStateReady && (w.v2() || b.UUID != ""):
		return nil
	case b.State == v1beta2.BackingImageStateFailed:
		return &refusal{ReasonWaitsForBackingImage,
			fmt.Sprintf("The copy of BackingImage %s on disk %s has failed: %s See kubectl get lhbi %s.", name, disk, orNothing(b.Message),
				name)}
	}
	return &refusal{ReasonWaitsForBackingImage, fmt.Sprintf("The copy of BackingImage %s on disk %s is %s, not ready: Longhorn's "+
		"backing image manager of node %s brings it there.",
		name, disk, orNone(b.State), w.Object.NodeID)}
}

// lacksCopy reports whether the replica's disk has to be added to the spec of the backing image.
func (w World) lacksCopy() bool {
	return w.backed() && w.BackingImage.Found && !w.BackingImage.Wanted && w.Object.Replica.DiskID != ""
}

// backingFile is the path of the copy inside an instance manager.
func (w World) backingFile() string {
	r := w.Object.Replica
	return path.Join(w.Settings.HostPrefix, r.DiskPath, "backing-images", r.BackingImage+"-"+w.BackingImage.UUID, "backing")
}

func orNone(state string) string {
	if state == "" {
		return "not there"
	}
	return state
}
