package removal

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Step is the action beside the status.
type Step string

// The steps.
const (
	// Rest means no action until something changes.
	Rest Step = ""
	// Remove means that the data is to be destroyed, if DecideCall allows it.
	Remove Step = "Remove"
	// Prove means that its absence is to be proven.
	Prove Step = "Prove"
)

// Verdict is everything that follows from a World.
type Verdict struct {
	Step Step
	// InstanceManager has the data that is to be removed, as this instance.
	InstanceManager string
	Instance        Instance
	// Condition is the new DataRemoved; nil leaves the present one. The writer sets its transition time.
	Condition *v1beta2.Condition
	// RequeueAt is when to evaluate again although nothing changes; zero is never.
	RequeueAt time.Time
}

// Evaluate decides about one Replica. It is total, deterministic and idempotent: applied to the result of its own verdict it requires
// nothing more.
func Evaluate(w World) Verdict {
	if !Wanted(w.Replica) {
		return Verdict{}
	}
	if w.FencingDelayEnds.After(w.Now) {
		return Verdict{RequeueAt: w.FencingDelayEnds}
	}
	if w.Replica.DataEngine != v1beta2.DataEngineV2 {
		return evaluateGone(w)
	}
	if v, ok := withoutLists(w); ok {
		return v
	}
	for _, p := range w.Places {
		if p.Known && p.Instance != nil {
			return present(w, p)
		}
	}
	return missing(w)
}

// Wanted reports whether something is to be done for the removal of a replica's data: the replica is being deleted, the removal is approved
// for a reason that this version knows, and the end was not reported yet. The data of a v1 replica is removed by disk-controller: here it
// is only proven that its instance is gone.
func Wanted(r Replica) bool {
	known := r.Approval == v1beta2.ReasonVolumeDeleting || r.Approval == v1beta2.ReasonHealthyCopyElsewhere
	if !r.Deleting || !known {
		return false
	}
	if r.DataEngine != v1beta2.DataEngineV2 {
		return r.Node != "" && !gone(r)
	}
	return r.Said == nil || r.Said.Status != v1beta2.ConditionTrue
}

// withoutLists evaluates the rules that need no list.
func withoutLists(w World) (Verdict, bool) {
	r := w.Replica
	switch {
	case r.Node == "":
		return end(v1beta2.ReasonNothingToRemove, "Replica %s was never placed on a node.", r.Name), true
	case w.Node == nil:
		return end(v1beta2.ReasonNodeGone, "Node %s does not exist any more; what it may hold of replica %s is out of reach.", r.Node,
			r.Name), true
	case w.Node.Down:
		return waits(v1beta2.ReasonUnreachable,
				"Node %s is down. The data of replica %s is removed when it is back; if it never comes back, delete its Node.", r.Node,
				r.Name),
			true
	case len(w.Places) == 0:
		return waits(v1beta2.ReasonUnreachable, "Node %s has no v2 instance manager that runs; the data of replica %s is removed when "+
			"it has one.", r.Node, r.Name), true
	}
	return Verdict{}, false
}

// present: a list shows the name.
func present(w World, p Place) Verdict {
	r, i := w.Replica, p.Instance
	switch {
	case p.Duplicate != "":
		return waits(v1beta2.ReasonUnreachable, "%s and %s list the same %s (UUID %s): one of their addresses is that of "+
			"the other's server.",
			p.InstanceManager, p.Duplicate, r.Name, i.UUID)
	case i.Type != v1beta2.InstanceTypeReplica:
		return waits(v1beta2.ReasonUUIDMismatch, "%s lists %s as %s, not as a replica; it is not touched.", p.InstanceManager, r.Name,
			i.Type)
	case i.Disk != "" && r.Disk != "" && i.Disk != r.Disk:
		return waits(v1beta2.ReasonUUIDMismatch, "%s lists %s on disk %s, but the replica's disk is %s; it is not touched.",
			p.InstanceManager, r.Name, i.Disk, r.Disk)
	case i.UUID == "":
		return waits(v1beta2.ReasonUUIDMismatch,
			"Neither the status nor the SPDK inventory of %s reports the UUID of %s, without which nothing is destroyed.",
			p.InstanceManager, r.Name)
	case !stopped(r):
		return Verdict{}
	}
	v := Verdict{Step: Remove, InstanceManager: p.InstanceManager, Instance: *i}
	if w.Failure != nil {
		v.Condition = condition(v1beta2.ConditionFalse, w.Failure.Reason, w.Failure.Message)
	}
	return v
}

// missing: no known list shows the name.
func missing(w World) Verdict {
	absent := true
	var unloaded *Place
	for i, p := range w.Places {
		if !p.Known {
			return waits(v1beta2.ReasonUnreachable,
				"%s does not answer; the data of replica %s is removed when it does. If this persists, check its pod and the network "+
					"to node %s.",
				p.InstanceManager, w.Replica.Name, w.Replica.Node)
		}
		absent = absent && p.Absent
		if !p.Absent && len(p.Unloaded) > 0 {
			unloaded = &w.Places[i]
		}
	}
	switch {
	case !stopped(w.Replica):
		return Verdict{}
	case unloaded != nil:
		v := waits(v1beta2.ReasonDiskNotLoaded, "%s does not list replica %s, but it has not loaded disk %s of node %s, so the "+
			"replica's data may be there. "+
			"Repair the disk (see its conditions in the status of Node %s), or remove it from the spec of that Node if it is lost.",
			unloaded.InstanceManager, w.Replica.Name, strings.Join(unloaded.Unloaded, ", "), w.Replica.Node, w.Replica.Node)
		v.Step = Prove
		return v
	case !absent:
		return Verdict{Step: Prove}
	case w.Called:
		return end(v1beta2.ReasonRemoved, "The data of replica %s on node %s was removed.", w.Replica.Name, w.Replica.Node)
	}
	return end(v1beta2.ReasonNothingToRemove, "There is nothing of replica %s on node %s.", w.Replica.Name, w.Replica.Node)
}

// stopped reports whether nothing runs for the replica, as far as its own object reports.
func stopped(r Replica) bool {
	return !r.Begun && (r.Current == v1beta2.InstanceStateStopped || r.Current == "")
}

func end(reason, format string, args ...any) Verdict {
	return Verdict{Condition: condition(v1beta2.ConditionTrue, reason, fmt.Sprintf(format, args...))}
}

func waits(reason, format string, args ...any) Verdict {
	return Verdict{Condition: condition(v1beta2.ConditionFalse, reason, fmt.Sprintf(format, args...))}
}

func condition(status v1beta2.ConditionStatus, reason, message string) *v1beta2.Condition {
	return &v1beta2.Condition{Type: v1beta2.ReplicaDataRemoved, Status: status, Reason: reason, Message: message}
}
