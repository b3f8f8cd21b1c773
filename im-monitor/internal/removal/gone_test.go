package removal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
)

// v1 is a world of an approved v1 replica whose instance is proven gone.
func v1(change ...func(*removal.World)) removal.World {
	w := seen(missing(true), replica(func(r *removal.Replica) { r.DataEngine, r.Generation = "v1", 7 }))
	for _, f := range change {
		f(&w)
	}
	return w
}

func onRecord(status v1beta2.ConditionStatus, generation int64) func(*removal.World) {
	return replica(func(r *removal.Replica) {
		r.Said = &v1beta2.Condition{Type: v1beta2.ReplicaInstanceGone, Status: status, ObservedGeneration: generation}
	})
}

// Each row is a rule on the proof that the instance of a v1 replica is gone.
func TestTheInstanceOfAV1ReplicaIsProvenGone(t *testing.T) {
	running := place(func(p *removal.Place) {
		p.Absent, p.Instance = false, &removal.Instance{Type: "replica", State: "running", UUID: uuid}
	})
	for _, c := range []struct {
		name, status, reason string
		prove                bool
		w                    removal.World
	}{
		{name: "every list of its node lacks it", status: "True", reason: v1beta2.ReasonInstanceGone, w: v1()},
		{name: "a list lacks it once only", prove: true, w: v1(missing(false))},
		{name: "it is not approved", w: v1(approved(""))},
		{name: "it is on record for this generation", w: v1(onRecord("True", 7))},
		{name: "it is on record for an earlier generation", status: "True", reason: v1beta2.ReasonInstanceGone, w: v1(onRecord("True", 6))},
		{name: "another reason was on record", status: "True", reason: v1beta2.ReasonInstanceGone, w: v1(onRecord("False", 7))},
		{name: "its object wants it to run", w: v1(replica(func(r *removal.Replica) { r.WantsToRun = true }))},
		{name: "a start is on record", w: v1(replica(func(r *removal.Replica) { r.Begun = true }))},
		{name: "it still runs and is being stopped", w: v1(running, replica(func(r *removal.Replica) { r.Current, r.Begun = "running", true }))},
		{name: "a list shows it and its object is stopped", status: "False", reason: v1beta2.ReasonStillPresent, w: v1(running)},
		{name: "a list shows its ended process", w: v1(running, listed(func(i *removal.Instance) { i.State = "stopped" }))},
		{name: "an instance manager is silent", status: "False", reason: v1beta2.ReasonUnreachable, w: v1(silent)},
		{name: "one of two instance managers is silent", status: "False", reason: v1beta2.ReasonUnreachable,
			w: v1(second(removal.Place{InstanceManager: there}))},
		{name: "its node has no instance manager", status: "False", reason: v1beta2.ReasonUnreachable,
			w: v1(func(w *removal.World) { w.Places = nil })},
		{name: "its node is down", status: "False", reason: v1beta2.ReasonUnreachable, w: v1(func(w *removal.World) { w.Node.Down = true })},
		{name: "its node does not exist", w: v1(func(w *removal.World) { w.Node = nil })},
		{name: "it was never placed", w: v1(replica(func(r *removal.Replica) { r.Node = "" }))},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := removal.Evaluate(c.w)
			require.Equal(t, c.prove, v.Step == removal.Prove)
			if c.reason == "" {
				require.Nil(t, v.Condition)
				return
			}
			require.Equal(t, []string{v1beta2.ReplicaInstanceGone, c.status, c.reason},
				[]string{v.Condition.Type, string(v.Condition.Status), v.Condition.Reason})
			if c.status == "True" {
				require.Equal(t, int64(7), v.Condition.ObservedGeneration)
			}
		})
	}
}
