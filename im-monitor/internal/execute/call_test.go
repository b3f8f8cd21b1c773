package execute

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	testingclock "k8s.io/utils/clock/testing"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

var start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// scene is a Guard with one instance manager, and a call whose steps note that they ran.
type scene struct {
	*Guard
	call  Call
	clock *testingclock.FakeClock
	// epoch is that of the connection, listErr what a list fails with.
	epoch   inventory.Epoch
	listErr error
	steps   []string
	result  Result
}

func (s *scene) Fresh(context.Context, string) (*inventory.Snapshot, error) {
	s.step("list")
	return &inventory.Snapshot{Epoch: s.epoch}, s.listErr
}

func (s *scene) Client(string) (imclient.Client, inventory.Epoch, bool) {
	return nil, s.epoch, s.epoch.Connection > 0
}

func (s *scene) step(name string) { s.steps = append(s.steps, name) }

func newScene() *scene {
	s := &scene{clock: testingclock.NewFakeClock(start), epoch: inventory.Epoch{Connection: 1}}
	s.Guard = &Guard{Clock: s.clock, Store: s, Locks: &Locks{}, Slots: &Semaphore{}, PerManager: 1}
	s.call = Call{
		InstanceManager: "im-1", Locks: []Key{{"im-1", "vol-e-0"}, {"", "engine of vol"}}, Noun: "instance", List: true,
		Gather: func(context.Context) error { s.step("gather"); return nil },
		Check: func(_ context.Context, at Reading) (Checked, error) {
			s.step("check")
			return Checked{Allowed: true, Epoch: at.List.Epoch, Timeout: 5 * time.Second}, nil
		},
		Ahead: func(context.Context) (Stop, error) { s.step("ahead"); return Stop{}, nil },
		Send: func(ctx context.Context, _ imclient.Client) error {
			if ctx.Err() != nil { // as a connection does
				return imclient.ErrUnreachable
			}
			s.step("send")
			return nil
		},
		Record: func(_ context.Context, r Result) { s.step("record"); s.result = r },
	}
	return s
}

// beforeCheck runs f before each check.
func (s *scene) beforeCheck(f func()) {
	check := s.call.Check
	s.call.Check = func(ctx context.Context, at Reading) (Checked, error) { f(); return check(ctx, at) }
}

// A call takes every step in the order of the package comment; whatever goes wrong at one of them, none of the later ones is taken, and
// nothing stays locked.
func TestWhatStopsACallAtEachStep(t *testing.T) {
	broken := errors.New("the API server is away")
	for _, c := range []struct {
		name    string
		change  func(s *scene)
		steps   string
		wait    time.Duration
		reason  string
		outcome Outcome
		err     error
	}{
		{name: "nothing", change: func(*scene) {}, steps: "list gather check ahead send record", outcome: Accepted},
		{name: "nothing, and there is nothing to write ahead", change: func(s *scene) { s.call.Ahead = nil },
			steps: "list gather check send record", outcome: Accepted},
		{name: "the back-off or the fencing delay", change: func(s *scene) { s.call.NotBefore = start.Add(time.Minute) }, wait: time.Minute},
		{name: "no slot", change: func(s *scene) { s.Slots.Take("im-1", 1) }, wait: BusyDelay},
		{name: "a lock of another executor", change: func(s *scene) { s.Locks.TryLock(s.call.Locks[1]) }, wait: BusyDelay},
		{name: "no list", change: func(s *scene) { s.listErr = imclient.ErrUnreachable }, steps: "list record",
			reason: v1beta2.ReasonUnreachable},
		{name: "an error while gathering", change: func(s *scene) {
			s.call.Gather = func(context.Context) error { return broken }
		}, steps: "list", err: broken},
		{name: "an error of the check", change: func(s *scene) {
			s.call.Check = func(context.Context, Reading) (Checked, error) { return Checked{}, broken }
		}, steps: "list gather", err: broken},
		{name: "the decision", change: func(s *scene) {
			s.call.Check = func(context.Context, Reading) (Checked, error) { return Checked{Stop: Stop{Result: Disagreed}}, nil }
		}, steps: "list gather record", reason: Disagreed},
		{name: "a check that allows nothing", change: func(s *scene) {
			s.call.Check = func(context.Context, Reading) (Checked, error) { return Checked{}, nil }
		}, steps: "list gather record", reason: Disagreed},
		{name: "a failure without a reason", change: func(s *scene) {
			s.call.Check = func(context.Context, Reading) (Checked, error) {
				return Checked{Allowed: true, Stop: Stop{Failure: true}}, nil
			}
		}, steps: "list gather record"},
		{name: "a failure of the write ahead without a reason", change: func(s *scene) {
			s.call.Ahead = func(context.Context) (Stop, error) { return Stop{Failure: true}, nil }
		}, steps: "list gather check record"},
		{name: "no check", change: func(s *scene) { s.call.Check = nil }, err: errUnchecked},
		{name: "a check that changes what it reads", change: func(s *scene) {
			s.call.Check = func(context.Context, Reading) (Checked, error) { return Checked{Again: true}, nil }
		}, steps: "list gather record", reason: v1beta2.ReasonUnreachable},
		{name: "observing", change: func(s *scene) { s.Observe = true }, steps: "list gather check record", reason: Observed},
		{name: "an error of the write ahead", change: func(s *scene) {
			s.call.Ahead = func(context.Context) (Stop, error) { return Stop{}, broken }
		}, steps: "list gather check", err: broken},
		{name: "evidence that is stale every time", change: func(s *scene) {
			s.beforeCheck(func() { s.clock.Step(ReadToCall + time.Second) })
		}, steps: "list gather check ahead check ahead check ahead record", reason: v1beta2.ReasonUnreachable},
		{name: "an earlier check that is too old", change: func(s *scene) {
			s.call.Check = func(_ context.Context, at Reading) (Checked, error) {
				s.step("check")
				return Checked{Allowed: true, Epoch: at.List.Epoch, Since: start.Add(-ReadToCall - 1)}, nil
			}
		}, steps: "list gather check ahead check ahead check ahead record", reason: v1beta2.ReasonUnreachable},
		{name: "a check that read everything, and states when", change: func(s *scene) {
			s.call.Check = func(_ context.Context, at Reading) (Checked, error) {
				s.step("check")
				return Checked{Allowed: true, Epoch: at.List.Epoch, Since: start.Add(-ReadToCall)}, nil
			}
		}, steps: "list gather check ahead send record", outcome: Accepted},
		{name: "a new connection", change: func(s *scene) { s.beforeCheck(func() { s.epoch.Connection++ }) },
			steps: "list gather check ahead record", reason: v1beta2.ReasonUnreachable},
		{name: "no connection", change: func(s *scene) { s.beforeCheck(func() { s.epoch.Connection = 0 }) },
			steps: "list gather check ahead record", reason: v1beta2.ReasonUnreachable},
		{name: "a refusal", change: func(s *scene) {
			s.call.Send = func(context.Context, imclient.Client) error { return imclient.ErrRefused }
		}, steps: "list gather check ahead record", outcome: Refused},
		{name: "a lease that is old", change: func(s *scene) { // the connection withholds the call
			s.call.Send = func(context.Context, imclient.Client) error { return imclient.ErrUnreachable }
		}, steps: "list gather check ahead record", outcome: Unanswered},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			c.change(s)
			out, err := s.Do(t.Context(), s.call)
			require.Equal(t, c.steps, strings.Join(s.steps, " "))
			require.Equal(t, c.err, err)
			require.Equal(t, c.wait, out.Wait)
			require.Equal(t, c.reason, out.Stop.Result)
			require.Equal(t, c.outcome, out.Outcome)
			require.Equal(t, c.outcome != "", out.Sent())
			if strings.HasSuffix(c.steps, "record") {
				require.Equal(t, out, s.result)
			}
			if c.wait == 0 {
				leave, ok := s.enter(s.call)
				require.True(t, ok, "everything was given back")
				leave()
			}
		})
	}
}

func TestALostLockGivesTheOthersBack(t *testing.T) {
	s := newScene()
	unlock, _ := s.Locks.TryLock(s.call.Locks[1])
	out, err := s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.Equal(t, BusyDelay, out.Wait)
	unlock()
	_, err = s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.True(t, s.result.Sent())
}

// A slow first check is repeated; what was written ahead is on record by then.
func TestASlowCheckIsRepeated(t *testing.T) {
	s := newScene()
	slow := true
	s.beforeCheck(func() {
		if slow {
			s.clock.Step(ReadToCall + time.Millisecond)
		}
		slow = false
	})
	out, err := s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.Equal(t, Accepted, out.Outcome)
	require.Equal(t, "list gather check ahead check ahead send record", strings.Join(s.steps, " "))
}

// The end of the leadership during the try leaves no record: the next leader does not know more either.
func TestTheEndOfTheLeadershipInterrupts(t *testing.T) {
	for _, during := range []string{"gather", "check", "ahead"} {
		t.Run(during, func(t *testing.T) {
			s := newScene()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			switch during {
			case "gather":
				s.call.Gather = func(context.Context) error { cancel(); return nil }
			case "check":
				s.beforeCheck(cancel)
			case "ahead":
				s.call.Ahead = func(context.Context) (Stop, error) { cancel(); return Stop{}, nil }
			}
			out, err := s.Do(ctx, s.call)
			require.NoError(t, err)
			require.Equal(t, Result{Interrupted: true}, out)
			require.NotContains(t, s.steps, "send")
			require.NotContains(t, s.steps, "record")
		})
	}
}

// A call that was sent is known to have been, whatever came of it.
func TestTheEndOfTheLeadershipDuringTheCallIsRecorded(t *testing.T) {
	for _, err := range []error{nil, imclient.ErrUnreachable} {
		s := newScene()
		ctx, cancel := context.WithCancel(t.Context())
		s.call.Send = func(context.Context, imclient.Client) error { cancel(); return err }
		out, problem := s.Do(ctx, s.call)
		require.NoError(t, problem)
		require.Equal(t, Result{Interrupted: true, Outcome: OutcomeOf(err), Err: err, Epoch: s.epoch, Ended: start}, out)
		require.Equal(t, out, s.result)
	}
}

// A call gets no longer than its timeout, also where its check was quick.
func TestTheDeadlineOfACall(t *testing.T) {
	for took, most := range map[time.Duration]time.Duration{0: 5 * time.Second, 2 * time.Second: 5 * time.Second,
		4 * time.Second: 3 * time.Second} {
		s := newScene()
		s.call.Send = func(ctx context.Context, _ imclient.Client) error {
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.InDelta(t, most.Seconds(), time.Until(deadline).Seconds(), 1, "%s", took)
			return nil
		}
		s.send(t.Context(), s.call, Checked{Allowed: true, Epoch: s.epoch, Timeout: 5 * time.Second}, Reading{Began: start.Add(-took)})
	}
}

// O17: a process that was paused after its checks sends nothing when it continues, since the deadline counts from them.
func TestAPauseAfterTheChecksEndsTheCall(t *testing.T) {
	for pause, sent := range map[time.Duration]bool{0: true, 2 * time.Second: true, time.Minute: false} {
		s := newScene()
		out := s.send(t.Context(), s.call, Checked{Allowed: true, Epoch: s.epoch, Timeout: 5 * time.Second}, Reading{Began: start.Add(-pause)})
		require.Equal(t, sent, out.Outcome == Accepted, "%s", pause)
		require.Equal(t, sent, len(s.steps) > 0, "%s", pause)
	}
}

func TestADeletionIsProvenWithTheConnectionThatItWasSentOver(t *testing.T) {
	s := newScene()
	out, err := s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.Equal(t, &inventory.Call{InstanceManager: "im-1", Name: "vol-e-0", UUID: "1", Type: "engine", DiskUUID: "d", Epoch: s.epoch,
		Ended: start}, out.Deletion("im-1", imclient.DeleteRequest{Name: "vol-e-0", UUID: "1", Type: "engine", DiskUUID: "d"}))
}

func TestACallNeedsNoStepButItsCheckAndItsSend(t *testing.T) {
	s := newScene()
	s.Store, s.Slots = nil, nil
	s.call.List, s.call.Gather, s.call.Ahead, s.call.Record, s.call.Locks = false, nil, nil, nil, nil
	s.call.NotBefore = start // due at once, not a moment later
	s.call.Check = func(_ context.Context, at Reading) (Checked, error) {
		require.Equal(t, Reading{Tried: start, Began: start}, at)
		return Checked{Allowed: true}, nil
	}
	out, err := s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.Equal(t, Result{Outcome: Accepted, Ended: start}, out)
	require.Equal(t, []string{"send"}, s.steps)
}

// A check may state an earlier read that it relies on; it never becomes younger than itself by that.
func TestAnEarlierReadMakesACheckOlderAndALaterOneDoesNotMakeItYounger(t *testing.T) {
	for since, sent := range map[time.Duration]bool{-time.Millisecond: false, 0: true, time.Second: true, time.Minute: true} {
		s := newScene()
		s.call.Check = func(_ context.Context, at Reading) (Checked, error) {
			s.clock.Step(ReadToCall)
			return Checked{Allowed: true, Epoch: at.List.Epoch, Since: at.Began.Add(since)}, nil
		}
		out, err := s.Do(t.Context(), s.call)
		require.NoError(t, err)
		require.Equal(t, sent, out.Sent(), "%s", since)
	}
	s := newScene()
	s.call.Check = func(_ context.Context, at Reading) (Checked, error) {
		s.clock.Step(ReadToCall + time.Second)
		return Checked{Allowed: true, Epoch: at.List.Epoch, Since: at.Began.Add(time.Minute)}, nil
	}
	out, err := s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.False(t, out.Sent(), "the check itself took too long")
}

func TestACheckThatRequestsAnotherOneSendsNothingItself(t *testing.T) {
	s := newScene()
	checks := 0
	s.call.Check = func(_ context.Context, at Reading) (Checked, error) {
		s.step("check")
		checks++
		return Checked{Allowed: true, Epoch: at.List.Epoch, Again: checks < 2}, nil
	}
	out, err := s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.True(t, out.Sent())
	require.Equal(t, "list gather check check ahead send record", strings.Join(s.steps, " "))
}

func TestACallIsNotSentWithoutAConnectionAlsoWhereItsEpochFits(t *testing.T) {
	s := newScene()
	s.epoch = inventory.Epoch{}
	out, err := s.Do(t.Context(), s.call)
	require.NoError(t, err)
	require.Equal(t, v1beta2.ReasonUnreachable, out.Stop.Result)
	require.Contains(t, out.Stop.Message, "im-1 was reconnected meanwhile; the instance is checked again.")
	require.NotContains(t, s.steps, "send")
}
