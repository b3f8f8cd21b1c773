package removal

import (
	"fmt"
	"slices"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
)

// Call is what DecideCall allows.
type Call struct {
	// Allowed is true when the deletion may be sent to this instance manager for exactly this instance.
	Allowed         bool
	InstanceManager string
	Instance        Instance
	// Failure reports why the deletion is not allowed, where DataRemoved must report it.
	Failure *Failure
	// Held reports why the approval does not hold now: attach-controller withdraws such an approval.
	Held string
}

// DecideCall is the last check before data is destroyed: the evaluation still requires it, the premise of the approval still
// holds, and no engine that runs, or may run, uses the replica.
func DecideCall(c CallWorld) Call {
	v := Evaluate(c.World)
	if v.Step != Remove {
		return Call{}
	}
	if held := premise(c); held != "" {
		return Call{Held: held}
	}
	name := c.World.Replica.Name
	if uses := mapping.Uses(name, c.Engines, c.Places); len(uses) > 0 {
		return Call{Failure: &Failure{v1beta2.ReasonMappedByEngine, uses[0].Sentence(name)}}
	}
	for _, l := range c.Polls {
		if _, used := l.Modes[name]; used {
			return Call{Failure: &Failure{v1beta2.ReasonMappedByEngine, mapping.Use{Engine: l.Engine}.Sentence(name)}}
		}
	}
	if unasked := mapping.Unasked(name, c.Places); unasked != "" {
		return Call{Failure: &Failure{v1beta2.ReasonUnreachable, unasked}}
	}
	return Call{Allowed: true, InstanceManager: v.InstanceManager, Instance: v.Instance}
}

// premise reports why the approval does not hold; "" when its premise still holds.
func premise(c CallWorld) string {
	r := c.World.Replica
	if r.Approval == v1beta2.ReasonVolumeDeleting {
		if c.Volume == nil || c.Volume.Deleting || r.VolumeUID != "" && r.VolumeUID != c.Volume.UID {
			return ""
		}
		return fmt.Sprintf("Volume %s exists and is not being deleted.", r.Volume)
	}
	for _, other := range c.Copies {
		if other.Name != r.Name && stays(other) && seenWhole(other, c.Polls) {
			return ""
		}
	}
	return fmt.Sprintf("No other replica of volume %s is known to be healthy now.", r.Volume)
}

// stays reports whether a copy is healthy and exists, according to its own object, its node and the newest list.
func stays(c Copy) bool { return c.Healthy && !c.Deleting && !c.Out && c.Listed }

// seenWhole reports whether a running engine has the copy in mode RW.
func seenWhole(c Copy, polls []Poll) bool {
	return slices.ContainsFunc(polls, func(l Poll) bool { return l.Modes[c.Name] == v1beta2.ReplicaModeRW })
}
