package removal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/copies"
	"drover.dev/drover/shared/replicadata"
)

// World is everything that the decision about one Replica is made from, read uncached.
type World struct {
	Replica *v1beta2.Replica
	// Node is the Longhorn Node of the replica.
	Node *v1beta2.Node
	// Claims are all Replicas of the node and of the disk, all Orphans of the node, and its instance managers.
	Claims replicadata.Claims
	// Volume is nil if there is none. Copies are all Replicas of the volume, Nodes the nodes of those by name, Engines its engines.
	Volume  *v1beta2.Volume
	Copies  []v1beta2.Replica
	Nodes   map[string]*v1beta2.Node
	Engines []v1beta2.Engine
}

// Verdict is the decision about one Replica.
type Verdict struct {
	// Condition is the new DataRemoved; nil leaves the present one.
	Condition *v1beta2.Condition
	// Remove is set if the directory is to be removed after Condition was written.
	Remove bool
	// Held is why the approval does not hold now: attach-controller withdraws such an approval.
	Held string
}

// NeedsCopy reports whether the approval relies on another copy of the data.
func NeedsCopy(r *v1beta2.Replica) bool {
	return replicadata.Approval(r) == v1beta2.ReasonHealthyCopyElsewhere && !v1beta2.RemovalBegan(r)
}

// Decide decides about one Replica.
func Decide(w World) Verdict {
	r := w.Replica
	if r == nil || w.Node == nil || r.Spec.NodeID != w.Node.Name || !replicadata.AwaitsRemoval(r) || mayRun(r) {
		return Verdict{}
	}
	key, path := w.disk()
	if key == "" {
		return end(v1beta2.ReasonDiskGone, "Disk %s is not a disk of node %s any more. What it may hold of replica %s in %s is out of reach.",
			r.Spec.DiskID, r.Spec.NodeID, r.Name, place(r))
	}
	if held := w.premise(); held != "" {
		return Verdict{Held: held}
	}
	if why := w.whyNotReady(key, path); why != "" {
		return w.wait(v1beta2.ReasonDiskNotReady, why)
	}
	if err := replicadata.CheckName(r.Spec.DataDirectoryName); err != nil {
		return end(v1beta2.ReasonNothingToRemove, "%q is not the name of a replica's directory: %s. Nothing is removed.",
			r.Spec.DataDirectoryName, err)
	}
	if claimed := w.Claims.By(replicadata.Of(r), r.UID, r.Name); claimed != "" {
		return w.wait(v1beta2.ReasonDirectoryClaimed, fmt.Sprintf("The directory %s on node %s stays for now. %s", place(r), r.Spec.NodeID,
			claimed))
	}
	v := Verdict{Remove: true}
	if !v1beta2.RemovalBegan(r) {
		v.Condition = condition(v1beta2.ConditionFalse, v1beta2.ReasonRemoving, fmt.Sprintf("The directory %s on node %s is being removed.",
			place(r), r.Spec.NodeID))
	}
	return v
}

// mayRun reports whether an instance of the replica runs, or may, as far as its object reports.
func mayRun(r *v1beta2.Replica) bool {
	s := &r.Status
	return s.Starting || s.Started || v1beta2.MayRun(r.Spec.DesireState, s.CurrentState)
}

// disk returns the key of the replica's disk in the spec of its node, and its recorded path; "" if the node does not have it any more. Any
// disk without a recorded UUID may be the one.
func (w World) disk() (key, path string) {
	for _, k := range slices.Sorted(maps.Keys(w.Node.Spec.Disks)) {
		s := w.Node.Status.DiskStatus[k]
		switch {
		case w.Node.Spec.Disks[k].DiskType == v1beta2.DiskTypeBlock:
		case s.DiskUUID != "" && s.DiskUUID == w.Replica.Spec.DiskID:
			return k, s.DiskPath
		case s.DiskUUID == "":
			key = k
		}
	}
	return key, ""
}

// whyNotReady returns why nothing is removed from the disk of the replica now; "" if it is ready, and where it was.
func (w World) whyNotReady(key, path string) string {
	r := w.Replica
	c := conditions.Get(w.Node.Status.DiskStatus[key].Conditions, v1beta2.DiskReady)
	switch {
	case c == nil || c.Status != v1beta2.ConditionTrue:
		return fmt.Sprintf("Disk %s of node %s is not ready. The directory of replica %s is removed once the disk is: see the conditions of "+
			"the disk in the status of Node %s. If the disk is lost, remove it from the spec of that Node.", r.Spec.DiskID, r.Spec.NodeID,
			r.Name, r.Spec.NodeID)
	case trimmed(path) != trimmed(r.Spec.DiskPath):
		return fmt.Sprintf("Disk %s of node %s is at %s, and replica %s names %s. Put the disk back there.", r.Spec.DiskID, r.Spec.NodeID, path,
			r.Name, r.Spec.DiskPath)
	}
	return ""
}

func trimmed(path string) string { return strings.TrimSuffix(path, "/") }

// premise returns why the approval does not hold now; "" if it does. Once the removal began nothing else counts.
func (w World) premise() string {
	r := w.Replica
	switch {
	case v1beta2.RemovalBegan(r):
		return ""
	case replicadata.Approval(r) == v1beta2.ReasonVolumeDeleting:
		if owner := v1beta2.VolumeUIDOf(r); w.Volume == nil || w.Volume.DeletionTimestamp != nil || owner != "" && owner != w.Volume.UID {
			return ""
		}
		return fmt.Sprintf("Volume %s exists and is not being deleted.", r.Spec.VolumeName)
	}
	for i := range w.Copies {
		other := &w.Copies[i]
		if other.UID != r.UID && !v1beta2.HasSameDirectory(other, r) && copies.Whole(other, w.Nodes[other.Spec.NodeID]) &&
			copies.InUse(other.Name, w.Engines) {
			return ""
		}
	}
	return fmt.Sprintf("No other replica of volume %s is known to be healthy now.", r.Spec.VolumeName)
}

// wait reports why the directory is not removed now. Once the removal began, the reason stays: the data is lost for its volume.
func (w World) wait(reason, message string) Verdict {
	if v1beta2.RemovalBegan(w.Replica) {
		reason = v1beta2.ReasonRemoving
	}
	return Verdict{Condition: condition(v1beta2.ConditionFalse, reason, message)}
}

// Outcome returns the condition after an attempt to remove the directory: whether there was anything of it, and why it failed.
func Outcome(r *v1beta2.Replica, there bool, failure error) v1beta2.Condition {
	switch {
	case failure != nil:
		return *condition(v1beta2.ConditionFalse, v1beta2.ReasonDirectoryFailed, fmt.Sprintf("Removing the directory %s on node %s failed: %s. "+
			"It is tried again automatically; correct the disk if this persists.", place(r), r.Spec.NodeID, failure))
	case there || v1beta2.RemovalBegan(r):
		return *end(v1beta2.ReasonRemoved, "The directory %s on node %s was removed.", place(r), r.Spec.NodeID).Condition
	}
	return *end(v1beta2.ReasonNothingToRemove, "There is no directory %s on node %s.", place(r), r.Spec.NodeID).Condition
}

// place names the directory of a replica for people.
func place(r *v1beta2.Replica) string {
	return trimmed(r.Spec.DiskPath) + "/replicas/" + r.Spec.DataDirectoryName
}

func end(reason, format string, args ...any) Verdict {
	return Verdict{Condition: condition(v1beta2.ConditionTrue, reason, fmt.Sprintf(format, args...))}
}

func condition(status v1beta2.ConditionStatus, reason, message string) *v1beta2.Condition {
	return &v1beta2.Condition{Type: v1beta2.ReplicaDataRemoved, Status: status, Reason: reason, Message: message}
}
