package instancecontroller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
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
		require.Greater(t, stopTimeout, 82*time.Second, "the deletion of a frontend takes a real v2 server that long")
	}
}

// Another call has no past; that the server refuses creations is remembered until it accepts one.
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
	require.Equal(t, 3, a.refusals, "a refused engine is deleted before it is created again")
	a.found(create, now)
	require.Equal(t, 3, a.refusals, "the server has the name, perhaps of the instance that it refused")
	a.accepted(create, now)
	require.Zero(t, a.refusals)
	a.decline(now)
	a.decline(now)
	require.Equal(t, now.Add(2*time.Second), a.moveAfter)
}

// An answer of a switch-over may be lost once. Tries that ended here, before the call or at a write after it, are no answers.
func TestWhichTriesOfASwitchOverAreDeclined(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	call := instance.Call{Op: instance.OpSwitchOver}
	unanswered := execute.Result{Outcome: execute.Unanswered, Err: imclient.ErrUnreachable}
	unwritten := &unwrittenError{fmt.Errorf("writing: %w", imclient.ErrRefused)}
	require.Equal(t, execute.Unanswered, execute.OutcomeOf(unwritten))
	for _, c := range []struct {
		name string
		do   func(a *attempt)
		want int
	}{
		{"one answer is lost", func(a *attempt) { a.notAccepted(call, unanswered, now) }, 0},
		{"two answers are lost", func(a *attempt) { a.notAccepted(call, unanswered, now); a.notAccepted(call, unanswered, now) }, 1},
		{"an answer is lost after one that accepted", func(a *attempt) { a.accepted(call, now); a.notAccepted(call, unanswered, now) }, 1},
		{"it is refused", func(a *attempt) {
			a.notAccepted(call, execute.Result{Outcome: execute.Refused, Err: imclient.ErrRefused}, now)
		}, 1},
		{"nothing was sent before", func(a *attempt) {
			a.failed(call, now)
			a.failed(call, now)
			a.notAccepted(call, unanswered, now)
		}, 0},
		{"it was accepted, and that not written", func(a *attempt) {
			for range 3 {
				a.notAccepted(call, execute.Result{Outcome: execute.OutcomeOf(unwritten), Err: unwritten}, now)
			}
		}, 0},
	} {
		var a attempt
		c.do(&a)
		require.Equal(t, c.want, a.declined, c.name)
	}
}

func TestAnExistingInstanceIsARefusalWhereAListAfterItLacksTheName(t *testing.T) {
	key := Key{Kind: v1beta2.InstanceTypeEngineFrontend, Name: "vol-ef-1"}
	answer := execute.Result{Outcome: execute.AlreadyExists, Err: &imclient.CallError{Method: "InstanceCreate", Address: "10.0.0.1",
		Kind: imclient.ErrAlreadyExists, Err: errors.New("engine frontend vol-ef-0 already exists for volume vol")}}
	other := inventory.InstancesOf(map[string]inventory.Instance{"vol-ef-0": {Name: "vol-ef-0"}})
	own := inventory.InstancesOf(map[string]inventory.Instance{key.Name: {Name: key.Name}})
	for name, c := range map[string]struct {
		list     *inventory.Snapshot
		refusals int
	}{
		"it lacks the name":                  {&inventory.Snapshot{Settled: true, Instances: other}, 1},
		"it has the name":                    {&inventory.Snapshot{Settled: true, Instances: own}, 0},
		"the server may still rediscover it": {&inventory.Snapshot{Instances: other}, 0},
		"there is none":                      {nil, 0},
	} {
		recorder := events.NewFakeRecorder(1)
		b := &base{rt: &runkit.Runtime{Clock: clock.RealClock{}, Recorder: recorder}, log: logr.Discard()}
		tr := &try{executor: &executor{b}, key: key, object: &v1beta2.EngineFrontend{},
			call: instance.Call{Op: instance.OpCreate, InstanceManager: "im-1"}}
		tr.sent(existing(answer, c.list, key.Name))
		a := b.attempts.Of(key)
		require.Equal(t, c.refusals, a.refusals, name)
		require.Equal(t, c.refusals, len(recorder.Events), name)
		if c.refusals > 0 {
			require.Contains(t, a.refusal, "engine frontend vol-ef-0 already exists for volume vol")
			require.Contains(t, <-recorder.Events, "CallRefused")
		}
	}
}

func TestTheAgeOfAnEndIsThatOfOneProcess(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	entry := func(state, uuid string) *instance.Entry { return &instance.Entry{State: state, UUID: uuid} }
	var a attempt
	require.Zero(t, a.sawTransient(entry(v1beta2.InstanceStateRunning, "u-1"), now))
	require.Equal(t, now, a.sawTransient(entry(v1beta2.InstanceStateStopping, "u-1"), now))
	require.Equal(t, now, a.sawTransient(entry(v1beta2.InstanceStateStopping, "u-1"), now.Add(time.Minute)))
	later := now.Add(2 * time.Minute)
	require.Equal(t, later, a.sawTransient(entry(v1beta2.InstanceStateStopping, "u-2"), later), "another process")
	require.Zero(t, a.sawTransient(nil, later))
}
