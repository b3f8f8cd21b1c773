package orphan

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/copies"
)

// policyLastCopy holds policy back from what may be the last copy of a volume [UPG-1].
func policyLastCopy(w World) *ruleResult {
	if deleting(w) && !onPolicyAlone(w) {
		return nil
	}
	if last, why := lastCopy(w); last {
		return hold(v1beta2.ReasonLastCopy, why+byHand(w, "the copy is not needed"))
	}
	return nil
}

// lastCopy reports whether the orphan may be the last copy of a volume that still exists, and why. It may be one
// unless another copy is known to be healthy, neither a Volume nor a PersistentVolume of it exists, or the data stays in any case.
func lastCopy(w World) (bool, string) {
	if w.Orphan.Spec.OrphanType != v1beta2.OrphanTypeReplicaInstance && !isData(w) || dataStays(w) {
		return false, ""
	}
	instance, volume := nameOf(w), VolumeOf(w.Orphan)
	if volume == "" {
		return true, fmt.Sprintf("The name of instance %s does not contain its volume, so it may be the last copy of one.", instance)
	}
	if w.Volume == nil && !w.PersistentVolume {
		return false, ""
	}
	for _, c := range w.Copies {
		if c.Replica.Name != instance && healthy(c) {
			return false, ""
		}
	}
	known := "Volume " + volume
	if w.Volume == nil {
		known = "A PersistentVolume of volume " + volume
	}
	return true, fmt.Sprintf("%s exists and no other replica of it is known to be healthy: %s may be its last copy.", known, instance)
}

// dataStays reports whether the instance's Replica CR certainly claims its data: im-monitor then ends the runtime and
// leaves the data, whatever is approved. A CR that names another node may be evaluated as not claiming it.
func dataStays(w World) bool {
	return w.Replica != nil && (w.Replica.Spec.NodeID == "" || w.Replica.Spec.NodeID == w.Orphan.Spec.NodeID)
}

// healthy reports whether a replica is known to be a whole copy that stays, and is there: a list shows exactly its instance, or an engine
// uses it. What is stored about it alone proves nothing: the objects may be of an earlier day, and the instance may have been replaced
// since. A copy of a detached volume has no UUID to identify it.
func healthy(c Copy) bool { return copies.Whole(c.Replica, c.Node) && (c.Listed || c.InUse) }
