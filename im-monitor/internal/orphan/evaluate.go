package orphan

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// Evaluate decides about one key. It is total, deterministic and idempotent: applied to the result of its own verdict it requires
// nothing more.
func Evaluate(w World) Verdict {
	v := Verdict{Evaluation: evaluateInstance(w)}
	data := evaluateData(w)
	for _, o := range w.Orphans {
		if o.Data != nil {
			v.Orphans = append(v.Orphans, evaluateDataOrphan(w, data, o))
			continue
		}
		v.Orphans = append(v.Orphans, evaluateOrphan(w, v.Evaluation, o))
	}
	v.Create, v.CreateData = missing(w, v.Evaluation), missingData(w, data)
	v.ExpectAbsence, v.PollAt = expectAbsence(w, v), pollAt(w, v)
	return v
}

// Creations are the Orphans that are missing.
func (v Verdict) Creations() []*Creation {
	var out []*Creation
	for _, c := range []*Creation{v.Create, v.CreateData} {
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}

// Confirms reports whether the verdict of a re-verification requires the same Orphan as the first one.
func (v Verdict) Confirms(first *Creation) bool {
	return slices.ContainsFunc(v.Creations(), func(c *Creation) bool { return c.Name == first.Name })
}

// check is one rule of the evaluation; ok means that the rule matched.
type check func(World, *Instance) (Evaluation, bool)

// checks are the rules in their order; each is documented at its function.
var checks = []check{frontend, noClaim, notLive, deleting, changing, running, stopped}

func evaluateInstance(w World) Evaluation {
	if w.Inventory != nil && w.Manager == nil {
		return undecided(v1beta2.ReasonInventoryUnknown, "InstanceManager %s was deleted, and the instances in its pod end with the pod.",
			w.Key.InstanceManager)
	}
	if w.Inventory == nil {
		return undecided(v1beta2.ReasonInventoryUnknown,
			"The instances of %s are unknown: no complete list was read since it was last connected.", w.Key.InstanceManager)
	}
	if w.Node == nil || w.Node.Down || w.Node.Deleting {
		return undecided(v1beta2.ReasonNodeDown, "Node %s is down or being deleted.", w.Manager.Node)
	}
	instance := w.Inventory.Instance
	if instance == nil {
		return Evaluation{Decision: Nothing}
	}
	if w.Duplicate != "" {
		// A pod's address may already be that of its successor's server: then this list is not of this instance manager, and
		// an instance in the list may be claimed there (ORP-1).
		return undecided(v1beta2.ReasonInventoryUnknown,
			"%s and %s list the same %s (UUID %s): one of their addresses is that of the other's server.",
			w.Key.InstanceManager, w.Duplicate, w.Key.Name, instance.UUID)
	}
	for _, ask := range checks {
		if j, ok := ask(w, instance); ok {
			return identified(w, instance, j)
		}
	}
	return undecided(v1beta2.ReasonTransientState, "The object of %s is neither running nor stopped.", w.Key.Name)
}

// identified makes an orphan without a known UUID undecided: the orphan could never be deleted safely.
func identified(w World, instance *Instance, j Evaluation) Evaluation {
	if j.Decision != Orphaned {
		return j
	}
	if instance.UUID == "" {
		return undecided(v1beta2.ReasonNoUUID, "%s %s on %s appears orphaned (%s), but neither its status nor the SPDK inventory reports "+
			"its UUID.",
			instance.Type, w.Key.Name, w.Key.InstanceManager, j.Reason)
	}
	j.UUID, j.Source = instance.UUID, instance.UUIDSource
	j.Message += fmt.Sprintf(" Its UUID was read from %s.", instance.UUIDSource)
	return j
}

// live is the state of a runtime that holds resources and may do I/O.
func live(state string) bool {
	return state == v1beta2.InstanceStateRunning || state == v1beta2.InstanceStateSuspended || state == v1beta2.InstanceStateError
}

func undecided(reason, format string, args ...any) Evaluation {
	return Evaluation{Decision: Undecided, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func orphaned(reason, format string, args ...any) Evaluation {
	return Evaluation{Decision: Orphaned, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
