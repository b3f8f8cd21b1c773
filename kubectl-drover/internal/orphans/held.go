package orphans

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/copies"
)

// approved are the decisions by which policy deletes the orphan itself, once its time has come or a dry run ends.
var approved = []string{v1beta2.ReasonApproved, v1beta2.ReasonGracePeriod, v1beta2.ReasonRateLimited, v1beta2.ReasonDryRun}

// yielding are the decisions against what a policy deleted that yield to a person's word.
var yielding = []string{v1beta2.ReasonLastCopy, v1beta2.ReasonMappedByEngine, v1beta2.ReasonAcknowledged, v1beta2.ReasonDryRun}

// withoutCall are the decisions by which the orphan ends, and nothing on the node is changed.
var withoutCall = []string{v1beta2.ReasonNodeGone, v1beta2.ReasonInstanceManagerGone, v1beta2.ReasonNotJudged, v1beta2.ReasonNoDataPath}

// heldBy states why only a person who names the orphan deletes it. What policy would not delete, nobody deletes by a selector.
func (o *Orphan) heldBy(w *world.World, object *v1beta2.Orphan) string {
	decision := o.Decision.Reason
	lastCopy := ""
	if o.DestroysData {
		lastCopy = o.lastCopy(w)
	}
	switch {
	case o.Withdrawn.Reason != "" || slices.Contains(withoutCall, decision):
		return ""
	case lastCopy != "":
		return lastCopy
	case decision != "" && !slices.Contains(approved, decision):
		return fmt.Sprintf("Policy holds it back: %s.", decision)
	case o.Failed.Reason == v1beta2.ReasonLastCopy || o.Failed.Reason == v1beta2.ReasonMappedByEngine:
		return fmt.Sprintf("The last attempt was given up: %s.", o.Failed.Reason)
	case o.Orphaned.Reason == v1beta2.ReasonForeignData:
		return "Its data may be another cluster's."
	case decision != "":
		return ""
	case o.Orphaned.Reason == v1beta2.ReasonDataOnly && o.GivenUpBy == "":
		return "Its data may be that of a volume whose objects are missing."
	case o.Orphaned.Reason == v1beta2.ReasonNoOwnerCR && !recorded(w, object):
		return "It has no object, and may still be in use."
	}
	return ""
}

// recorded reports whether attach-controller recorded on the Node that it abandoned exactly this instance, or a person that the Orphan is
// given up.
func recorded(w *world.World, object *v1beta2.Orphan) bool {
	if v1beta2.GivenUp(object) {
		return true
	}
	node := w.Node(object.Spec.NodeID)
	if node == nil {
		return false
	}
	entry, ok := node.Status.AbandonedInstances[object.Spec.Parameters[v1beta2.OrphanParameterInstanceName]]
	return ok && entry.UUID != "" && entry.UUID == object.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID] &&
		entry.DataEngine == object.Spec.DataEngine
}

// lastCopy states why data that would be destroyed may be the last copy of a volume; empty where it is not. It is as strict as
// orphan-controller, whose decision is of the same objects: one that it stored counts, too.
func (o *Orphan) lastCopy(w *world.World) string {
	unread := slices.ContainsFunc(w.Unread, func(u world.Unread) bool { return u.Resource == "persistentvolumes" })
	exists := volumeExists(w, o.Volume)
	switch {
	case o.Volume == "":
		return fmt.Sprintf("The name %s does not contain its volume: it may be the last copy of one.", o.Instance)
	case exists && o.otherCopies(w) == 0:
		return fmt.Sprintf("Volume %s exists and no other replica of it is known to be whole and in use: this may be its last copy.", o.Volume)
	case !exists && unread:
		return fmt.Sprintf("Volume %s does not exist, but PersistentVolumes could not be read: this may be its last copy.", o.Volume)
	case o.Decision.Reason == v1beta2.ReasonLastCopy:
		return fmt.Sprintf("orphan-controller holds it back: this may be the last copy of volume %s.", o.Volume)
	}
	return ""
}

// volumeExists reports whether the volume has a Volume or a PersistentVolume.
func volumeExists(w *world.World, volume string) bool {
	return slices.ContainsFunc(w.Volumes.Items, func(v v1beta2.Volume) bool { return v.Name == volume }) ||
		slices.ContainsFunc(w.PersistentVolumes.Items, func(p corev1.PersistentVolume) bool {
			return p.Spec.CSI != nil && p.Spec.CSI.Driver == v1beta2.CSIDriver && p.Spec.CSI.VolumeHandle == volume
		})
}

// otherCopies counts the other replicas of the volume that are whole, and that a running engine uses. What is stored about a replica alone
// proves nothing: the objects may be of an earlier day.
func (o *Orphan) otherCopies(w *world.World) int {
	count := 0
	for i := range w.Replicas.Items {
		r := &w.Replicas.Items[i]
		engines := slices.DeleteFunc(slices.Clone(w.Engines.Items), func(e v1beta2.Engine) bool { return e.Spec.VolumeName != o.Volume })
		if r.Spec.VolumeName == o.Volume && r.Name != o.Instance && copies.Whole(r, w.Node(r.Spec.NodeID)) && copies.InUse(r.Name, engines) {
			count++
		}
	}
	return count
}
