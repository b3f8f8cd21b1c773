package instancecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

// A cache that stays behind for longer than writes are remembered leads to no second write. What is written together is
// written in one pass.
func TestConditionsAreWrittenToTheVersionThatWasEvaluated(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	r := &reporter{&base{rt: &runkit.Runtime{Client: admin, Namespace: namespace, Clock: clock.RealClock{}}}}
	problem := instance.Status{Creation: instance.Problem{Reason: "Refused", Message: "no"}}
	down := instance.Status{NodeDown: "NodeDown"}
	failed := problem
	failed.State = v1beta2.InstanceStateError
	for name, change := range map[string][2]instance.Status{
		"a problem": {{}, problem}, "the end of a conclusion": {down, {}}, "a state with a problem": {{}, failed},
	} {
		t.Run(name, func(t *testing.T) {
			o := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "r-"}}
			require.NoError(t, admin.Create(t.Context(), o))
			if change[0].NodeDown != "" {
				evaluated := o.DeepCopy()
				require.NoError(t, r.write(t.Context(), evaluated, instance.Status{}, change[0], false, "down"))
				require.True(t, status.IsConflict(r.write(t.Context(), o, change[0], change[1], false, "")))
				return
			}
			require.NoError(t, r.write(t.Context(), o, change[0], change[1], false, ""))
			require.True(t, status.IsConflict(r.write(t.Context(), o, change[0], change[1], false, "")))
		})
	}
}

func TestWhatIsWrittenAheadOfACallIsBoundToTheVersionThatWasDecidedOn(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	r := &executor{&base{rt: &runkit.Runtime{Client: admin, Namespace: namespace, Clock: clock.RealClock{}}}}
	r.written.Clock = clock.RealClock{}
	phase := func(name string) instance.Switchover {
		return instance.Switchover{Phase: name, Engine: "vol-e-1", UID: "1"}
	}
	for name, call := range map[string]instance.Call{
		"a creation":               {Op: instance.OpCreate, Ahead: instance.Status{State: v1beta2.InstanceStateStarting, Starting: true}},
		"a phase of a switch-over": {Op: instance.OpSwitchOver, Ahead: instance.Status{Switchover: phase(v1beta2.SwitchoverSwitching)}},
		"the way back":             {Op: instance.OpRevert, Ahead: instance.Status{Switchover: phase(v1beta2.SwitchoverReverting)}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &v1beta2.EngineFrontend{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "f-"}}
			require.NoError(t, admin.Create(t.Context(), f))
			_, before := read(f)
			require.True(t, writesAhead(f, before, call))

			written, err := r.writeAhead(t.Context(), f, call)
			require.NoError(t, err)
			_, now := read(written)
			require.Equal(t, call.Ahead.Switchover, now.Switchover)
			require.False(t, writesAhead(written, now, call), "it is written already: the object is to be read")

			_, err = r.writeAhead(t.Context(), f, call)
			require.True(t, status.IsConflict(err), "%v", err)
		})
	}
}
