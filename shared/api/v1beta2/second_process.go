package v1beta2

import (
	"cmp"
	"slices"
	"strings"
)

// IsSecondProcess reports whether a Replica object stands for a second v1 process over the directory of another Replica: a v1 process
// serves one engine, so that the second engine of a migration has processes of its own. Such an object is no copy of the data: it counts
// neither as a replica of the volume nor on its disk.
func IsSecondProcess(r *Replica) bool {
	return r != nil && !r.Spec.Active && r.Spec.DataEngine != DataEngineV2 && r.Spec.DataDirectoryName != ""
}

// HasSameDirectory reports whether two Replica objects stand for processes over one v1 directory.
func HasSameDirectory(a, b *Replica) bool {
	x, y := a.Spec, b.Spec
	return x.DataDirectoryName != "" && x.DataEngine != DataEngineV2 && y.DataEngine != DataEngineV2 &&
		x.DataDirectoryName == y.DataDirectoryName && x.NodeID == y.NodeID && x.DiskID == y.DiskID && x.DiskPath == y.DiskPath
}

// SplitCopies divides the Replica objects of a volume, in their order, into one for each copy of the data, and the second processes over
// the same directories. In the hand-over of a directory both of its objects are active: the older one is the copy until it is inactive.
func SplitCopies(all []*Replica) (copies, second []*Replica) {
	for _, r := range all {
		newer := slices.ContainsFunc(all, func(o *Replica) bool {
			return o != r && !IsSecondProcess(o) && HasSameDirectory(o, r) && isOlder(o, r)
		})
		if IsSecondProcess(r) || newer {
			second = append(second, r)
		} else {
			copies = append(copies, r)
		}
	}
	return copies, second
}

func isOlder(a, b *Replica) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.UID), string(b.UID))) < 0
}

// MayRun reports whether an instance with these states is to run, or is not known to be stopped. An instance without a present state was
// never started.
func MayRun(desired, current string) bool {
	return desired == InstanceStateRunning || current != "" && current != InstanceStateStopped
}

// RemovalBegan reports whether the removal of a deleted replica's data began, or has ended: nothing may use it any more.
func RemovalBegan(r *Replica) bool {
	for _, c := range r.Status.Conditions {
		if c.Type == ReplicaDataRemoved && r.DeletionTimestamp != nil {
			return c.Status == ConditionTrue || c.Reason == ReasonRemoving || c.Reason == ReasonDirectoryFailed
		}
	}
	return false
}
