package instancecontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheMetricHasFiveOutcomes(t *testing.T) {
	for outcome, want := range map[execute.Outcome]string{
		execute.Accepted: "Accepted", execute.AlreadyExists: "AlreadyExists", execute.NotFound: "NotFound", execute.Refused: "Refused",
		execute.Failed: "Refused", execute.Unanswered: "Unreachable",
	} {
		require.Equal(t, want, labelOf(outcome))
	}
}

func TestTheEnginesOfAVolumeAreCreatedOneAfterTheOther(t *testing.T) {
	create := instance.Call{Op: instance.OpCreate, InstanceManager: "im-1"}
	stop := instance.Call{Op: instance.OpDelete, InstanceManager: "im-1"}
	own := execute.Key{InstanceManager: "im-1", Name: "a"}
	key := Key{Kind: v1beta2.InstanceTypeEngine, Name: "a"}
	require.Equal(t, []execute.Key{own, {Name: "engine of vol"}}, locks(key, "vol", create))
	require.Equal(t, []execute.Key{own}, locks(key, "vol", stop))
	require.Equal(t, []execute.Key{own}, locks(Key{Kind: v1beta2.InstanceTypeReplica, Name: "a"}, "vol", create))
}

func TestOnlyDeletionsHaveADeadlineOfTheirOwn(t *testing.T) {
	require.Equal(t, stopTimeout, timeoutOf(instance.Call{Op: instance.OpDelete}))
	require.Equal(t, outTimeout, timeoutOf(instance.Call{Op: instance.OpDelete, Out: true}))
	for _, op := range []instance.Op{instance.OpCreate, instance.OpSwitchOver, instance.OpRevert, instance.OpSuspend, instance.OpResume} {
		require.Zero(t, timeoutOf(instance.Call{Op: op}))
	}
}

// Another call has no past; that the server refuses creations is remembered until it accepts a call.
func TestTheTriesOfAnotherCallDoNotCount(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	create, stop := instance.Call{Op: instance.OpCreate}, instance.Call{Op: instance.OpDelete, UUID: "1"}
	var a attempt
	for range 3 {
		a.failed(create, now)
	}
	require.Equal(t, now.Add(4*time.Second), a.NotBefore)
	a.refusals, a.refusal = 3, "no"
	a.failed(stop, now)
	require.Equal(t, now.Add(time.Second), a.NotBefore)
	require.Equal(t, 3, a.refusals)
	a.accepted(stop, now)
	require.Equal(t, now.Add(afterCall.First), a.NotBefore)
	require.Zero(t, a.refusals)
	a.decline(now)
	a.decline(now)
	require.Equal(t, now.Add(2*time.Second), a.moveAfter)
}
