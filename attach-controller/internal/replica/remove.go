package replica

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// pollTimeFormat is RFC 3339 with nanoseconds: two requests within a second differ.
const pollTimeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// remove handles the replicas that are being deleted: whether their data may be destroyed, and when nothing is left.
func (w *World) remove(out *Verdict) {
	going := w.going(out)
	first := w.first(going)
	for _, r := range going {
		if w.dataGone(r) {
			w.release(r, out)
			continue
		}
		wanted, request := w.approval(r, first, out)
		own := conditions.Owned(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved)
		if list := conditions.Set(own, wanted, w.Now); !conditions.Equal(own, list) || request != r.Status.LookRequestedAt {
			out.Approvals = append(out.Approvals, Approval{r, list[0], request})
			continue // the finalizer is dropped only after the approval was written
		}
		if wanted.Status == v1beta2.ConditionTrue && w.endsWithoutRemoval(r) {
			w.release(r, out)
		}
	}
}

// going returns the replicas that are being deleted, in the order of their deletions. It releases the second processes of a migration that
// were deleted and have ended, if another Replica names their directory: that destroys no data.
func (w *World) going(out *Verdict) (going []*v1beta2.Replica) {
	for _, r := range slices.Concat(w.Replicas, w.Previous, w.Second) {
		switch {
		case r.DeletionTimestamp == nil || !slices.Contains(r.Finalizers, v1beta2.Finalizer):
		case !slices.Contains(w.Second, r) || w.lastUser(r) == nil:
			going = append(going, r)
		case w.ended(r):
			w.release(r, out)
		}
	}
	slices.SortStableFunc(going, func(a, b *v1beta2.Replica) int {
		if !a.DeletionTimestamp.Equal(b.DeletionTimestamp) {
			return a.DeletionTimestamp.Compare(b.DeletionTimestamp.Time)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return going
}

// lastUser returns the Replica with which the directory of a v1 replica stays or goes: in a migration two Replicas name one directory. If
// all of them are being deleted it is an active one, then the first by name, so that each pass finds the same. It is nil if the directory
// goes with the replica itself.
func (w *World) lastUser(r *v1beta2.Replica) *v1beta2.Replica {
	before := func(a, b *v1beta2.Replica) bool {
		if a.DeletionTimestamp == nil || b.DeletionTimestamp == nil {
			return a.DeletionTimestamp == nil
		}
		if a.Spec.Active != b.Spec.Active {
			return a.Spec.Active
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.UID), string(b.UID))) < 0
	}
	var last *v1beta2.Replica
	for _, other := range slices.Concat(w.Replicas, w.Previous, w.Second) {
		if other != r && v1beta2.HasSameDirectory(r, other) && before(other, r) && (last == nil || before(other, last)) {
			last = other
		}
	}
	return last
}

// endsWithoutRemoval reports whether a v1 replica ends although nobody removes its directory: another Replica has it, it never had one, or
// its node does not exist any more.
func (w *World) endsWithoutRemoval(r *v1beta2.Replica) bool {
	return w.ended(r) && (w.lastUser(r) != nil || r.Spec.DataDirectoryName == "" || w.Nodes[r.Spec.NodeID] == nil)
}

// release drops a replica's finalizer. An instance of it that may still run is recorded before: without its object such an instance looks
// like one whose object was lost.
func (w *World) release(r *v1beta2.Replica, out *Verdict) {
	holder := abandoned.Holder{Name: r.Name, Volume: v1beta2.VolumeUIDOf(r), Node: r.Spec.NodeID}
	if conditions.IsTrue(r.Status.Conditions, v1beta2.InstanceNodeDown) {
		holder.Node = ""
	}
	out.Abandoned = append(out.Abandoned, abandoned.Records(holder, w.Listed[r.Name], w.Now)...)
	out.Release = append(out.Release, r)
	if r.Spec.DataEngine != v1beta2.DataEngineV2 && !w.unplaced(r) && w.Nodes[r.Spec.NodeID] == nil && w.lastUser(r) == nil {
		out.OutOfReach = append(out.OutOfReach, r)
	}
}

// first is the replica whose removal is under way; of several that wait, the one that was deleted first. A replica on a down node delays
// no other.
func (w *World) first(going []*v1beta2.Replica) *v1beta2.Replica {
	rank := func(r *v1beta2.Replica) int {
		switch {
		case w.down(r):
			return 2
		case approved(r):
			return 0
		}
		return 1
	}
	var first *v1beta2.Replica
	for _, r := range going {
		if w.volumeGoes(r) || w.dataGone(r) {
			continue
		}
		if first == nil || rank(r) < rank(first) {
			first = r
		}
	}
	return first
}

func approved(r *v1beta2.Replica) bool {
	return conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved)
}

// approval returns whether the data of a replica may be destroyed, and the request of a poll that shows it.
func (w *World) approval(r, first *v1beta2.Replica, out *Verdict) (c v1beta2.Condition, request string) {
	say := func(status v1beta2.ConditionStatus, reason, message string) (v1beta2.Condition, string) {
		return v1beta2.Condition{Type: v1beta2.ReplicaDataRemovalApproved, Status: status, Reason: reason, Message: message},
			r.Status.LookRequestedAt
	}
	if approved(r) && v1beta2.RemovalBegan(r) { // what is half removed is no copy any more
		return *conditions.Get(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved), r.Status.LookRequestedAt
	}
	if w.volumeGoes(r) {
		return say(v1beta2.ConditionTrue, v1beta2.ReasonVolumeDeleting, "Volume "+r.Spec.VolumeName+" is being deleted, or gone.")
	}
	if other := w.before(r, first); other != nil {
		return say(v1beta2.ConditionFalse, v1beta2.ReasonOtherReplicaFirst, "Replica "+other.Name+" of the same volume is removed first.")
	}
	other := w.otherHealthy(r)
	if other == nil {
		return say(v1beta2.ConditionFalse, v1beta2.ReasonNoHealthyCopy,
			"No other replica of the volume is healthy: its data may be the last copy. It goes when another replica is healthy, or when "+
				"the volume is deleted.")
	}
	if !w.engineUp() {
		return say(v1beta2.ConditionFalse, v1beta2.ReasonWaitingForLook,
			fmt.Sprintf("Replica %s seems healthy, but only a running engine can show that: attach the volume, or delete it.", other.Name))
	}
	copy := w.seenRW(r)
	if copy == nil {
		c, _ = say(v1beta2.ConditionFalse, v1beta2.ReasonWaitingForLook,
			fmt.Sprintf("Waiting for a poll of engine %s that is newer than the deletion and shows another replica in mode RW.",
				w.Engine.Name))
		return c, w.ask(r, out)
	}
	return say(v1beta2.ConditionTrue, v1beta2.ReasonHealthyCopyElsewhere,
		fmt.Sprintf("Replica %s on %s has the data.", copy.Name, copy.Spec.NodeID))
}

// before is the replica that a replica waits for: it is not the first, or another one's approval is yet to be withdrawn.
func (w *World) before(r, first *v1beta2.Replica) *v1beta2.Replica {
	if r != first {
		return first
	}
	for _, other := range w.Replicas {
		if other != r && other.DeletionTimestamp != nil && approved(other) && !w.volumeGoes(other) && !w.dataGone(other) {
			return other
		}
	}
	return nil
}

// ask requests a poll for the removal of a replica, and returns the request: a value that no engine can have answered before, since it is
// later than all that are known. It is recorded with the replica before the engine gets it. Another request that took its place before it
// was answered may be older than the deletion: there is a new one then.
func (w *World) ask(r *v1beta2.Replica, out *Verdict) string {
	e, request := w.Engine, r.Status.LookRequestedAt
	asked, answered := parse(e.Spec.LookRequestedAt), parse(e.Status.LookedAt)
	switch {
	case request != "" && (e.Spec.LookRequestedAt == request || e.Status.LookedAt == request):
		return request
	case request == "" || !asked.Before(parse(request)):
		at := w.Now
		for _, known := range []time.Time{asked, answered} {
			if !known.Before(at) {
				at = known.Add(time.Nanosecond)
			}
		}
		request = at.UTC().Format(pollTimeFormat)
	}
	out.Poll = request
	return request
}

// volumeGoes reports whether nothing of the volume is needed any more. A volume of another UID is not the replica's.
func (w *World) volumeGoes(r *v1beta2.Replica) bool {
	if w.Volume == nil || w.Volume.DeletionTimestamp != nil {
		return true
	}
	for _, ref := range r.OwnerReferences {
		if ref.Kind == "Volume" && ref.Name == w.Volume.Name && ref.UID != w.Volume.UID {
			return true
		}
	}
	return false
}

func (w *World) otherHealthy(r *v1beta2.Replica) *v1beta2.Replica {
	for _, other := range w.Replicas {
		if other != r && v1beta2.IsReplicaHealthy(other) && !w.down(other) {
			return other
		}
	}
	return nil
}

// polledFor reports whether the engine was polled since the deletion of the replica was read: it answered the very request that was made
// for it. No clocks are compared. Once that approved the removal, a later poll shows it as well.
func (w *World) polledFor(r *v1beta2.Replica) bool {
	request, answered := r.Status.LookRequestedAt, w.Engine.Status.LookedAt
	kept := approved(r) && conditions.Reason(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved) == v1beta2.ReasonHealthyCopyElsewhere
	return request != "" && (answered == request || kept && !parse(answered).Before(parse(request)))
}

// seenRW returns another replica that the engine uses, as of a poll that is newer than the deletion.
func (w *World) seenRW(r *v1beta2.Replica) *v1beta2.Replica {
	if !w.polledFor(r) {
		return nil
	}
	for _, other := range w.Replicas {
		if other != r && other.DeletionTimestamp == nil && other.Spec.FailedAt == "" && !w.down(other) &&
			w.mode(other) == v1beta2.ReplicaModeRW {
			return other
		}
	}
	return nil
}

// dataGone reports whether the data of a replica was removed, by im-monitor (v2) or by the disk-controller of its node (v1), or a replica
// never had any: that needs no approval.
func (w *World) dataGone(r *v1beta2.Replica) bool {
	return w.unplaced(r) || conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemoved)
}

// ended reports whether nothing of a v1 replica runs.
func (w *World) ended(r *v1beta2.Replica) bool {
	if r.Spec.DataEngine == v1beta2.DataEngineV2 {
		return false
	}
	stopped := r.Status.CurrentState == v1beta2.InstanceStateStopped || r.Status.CurrentState == "" && !r.Status.Starting &&
		!r.Status.Started
	return stopped && r.Spec.DesireState != v1beta2.InstanceStateRunning || w.Nodes[r.Spec.NodeID] == nil
}
