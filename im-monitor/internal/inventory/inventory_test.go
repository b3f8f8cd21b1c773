package inventory

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAnInventoryIsUnknownUntilReadAndKnownAfterwards(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		_, known := b.Latest(manager)
		require.False(t, known)
		require.Error(t, b.Err(manager))
		b.server.change(false, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") })

		b.Set(b.target)
		synctest.Wait()

		list, known := b.Latest(manager)
		require.True(t, known)
		require.NoError(t, b.Err(manager))
		require.Equal(t, "u1", list.Instances.At("r-1").UUID)
		require.Equal(t, Epoch{PodUID: "pod-1", Connection: 1}, list.Epoch)
		require.True(t, list.Settled)
		require.Equal(t, int64(7), list.Version.APIVersion)
		require.Equal(t, []Change{{InstanceManager: manager, Node: "node-1", Whole: true}}, b.seen())
		require.Equal(t, []string{manager}, b.Holders("r-1"))
		require.Equal(t, []string{manager}, b.OfNode("node-1"))
		require.Equal(t, []imclient.Cause{imclient.CauseReconnect}, b.server.lists())
	})
}

// N5: whoever waits for the first answer hears of it, whichever it is; afterwards an instance manager that is unknown is news.
func TestAnInstanceManagerIsUnheardUntilItsFirstAnswerOrFailure(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		require.False(t, b.Heard(manager))
		b.server.set(func(s *server) { s.latency = 2 * time.Second })
		b.Set(b.target)
		b.after(time.Second)
		require.False(t, b.Heard(manager), "the first list is under way")
		b.after(2 * time.Second)
		require.True(t, b.Heard(manager))
		b.Remove(manager)
		require.True(t, b.Heard(manager))
	})
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.server.set(func(s *server) { s.down = true })
		b.Set(b.target)
		b.after(time.Second)
		require.True(t, b.Heard(manager), "the first attempt failed")
		require.Equal(t, []Change{{InstanceManager: manager, Node: "node-1", Whole: true}}, b.seen(),
			"reported once, however many attempts fail")
	})
}

func TestTheWatchIsOpenBeforeAnythingIsRead(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		synctest.Wait()
		require.Equal(t, []string{"watch", "version", "list"}, b.server.calls)
	})
}

func TestANoticeMeansOneListAndOnlyTheChangedNames(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.server.change(false, func(m map[string]Instance) {
			for i := range 100 {
				m[fmt.Sprint("r-", i)] = running(fmt.Sprint("r-", i), "u")
			}
		})
		b.Set(b.target)
		b.after(time.Second)
		b.seen()
		b.server.lists()

		b.server.change(true, func(m map[string]Instance) {
			m["r-new"] = running("r-new", "u")
			delete(m, "r-7")
			m["r-8"] = running("r-8", "other")
		})
		synctest.Wait()

		require.Equal(t, []Change{{InstanceManager: manager, Node: "node-1", Names: []string{"r-7", "r-8", "r-new"}}}, b.seen())
		require.Equal(t, []imclient.Cause{imclient.CauseEvent}, b.server.lists())
		require.Empty(t, b.Holders("r-7"))
		require.Equal(t, []string{manager}, b.Holders("r-new"))
	})
}

// Whether an instance is listed twice changes with either list, however the other one comes and goes.
func TestTheOtherHoldersOfANameAreNotified(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.startWith(running("r-1", "u1"))
		b.seen()
		shared, other := Change{InstanceManager: manager, Node: "node-1", Names: []string{"r-1"}}, b.target
		other.InstanceManager, other.Node = "instance-manager-b", "node-2" // its address is that of the first one's server
		whole := Change{InstanceManager: other.InstanceManager, Node: other.Node, Whole: true}

		b.Set(other)
		b.after(time.Second)
		require.Equal(t, []string{manager, other.InstanceManager}, b.Holders("r-1"))
		require.Equal(t, []Change{whole, shared}, b.seen(), "listed")

		other.PodUID = "pod-2"
		b.Set(other)
		b.after(time.Second)
		require.Equal(t, []Change{whole, shared, whole, shared}, b.seen(), "lost, and listed again")

		b.Remove(other.InstanceManager)
		b.after(time.Second)
		require.Equal(t, []Change{whole, shared}, b.seen(), "removed")

		b.server.change(true, func(m map[string]Instance) { m["r-1"] = running("r-1", "u2") })
		b.after(time.Second)
		require.Equal(t, []Change{shared}, b.seen(), "nobody else lists it by now")
	})
}

func TestAStormOfNoticesIsCoalesced(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Second)
		b.server.lists()

		for range 1000 {
			b.server.set((*server).notify)
			<-time.After(time.Millisecond)
		}
		b.after(time.Second)

		lists := len(b.server.lists())
		require.LessOrEqual(t, lists, 102, "1000 notices within a second, 10 ms apart")
		require.GreaterOrEqual(t, lists, 99)
		require.Empty(t, b.seen()[1:], "nothing changed")
	})
}

func TestANoticeDuringAListCausesAnotherList(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Second)
		b.server.set(func(s *server) { s.latency = 2 * time.Second })
		b.server.change(true, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") })
		b.after(time.Second)
		b.server.change(true, func(m map[string]Instance) { m["r-2"] = running("r-2", "u2") })
		b.after(5 * time.Second)
		require.Equal(t, []string{"r-1", "r-2"}, b.names(t))
	})
}

func TestAQuietHourHasOnlySafetyLists(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.startWith(running("r-1", "u1"))
		before, _ := b.Latest(manager)
		b.server.lists()
		b.seen()

		b.after(time.Hour)

		lists := b.server.lists()
		require.Len(t, lists, 6)
		require.NotContains(t, lists, imclient.CauseEvent)
		require.Empty(t, b.seen())
		list, _ := b.Latest(manager)
		require.Greater(t, list.Serial, before.Serial)
	})
}

// Nothing shows when a server has a watch: what changes between the first list and that moment sends no notice.
func TestAChangeBeforeTheWatchArrivedIsInTheSecondList(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		synctest.Wait()
		b.server.change(false, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") })
		b.after(9 * time.Second)
		require.Empty(t, b.names(t))
		b.after(time.Second)
		require.Equal(t, []string{"r-1"}, b.names(t))
		b.after(time.Minute)
		require.Equal(t, []imclient.Cause{imclient.CauseReconnect, imclient.CauseSafety}, b.server.lists(), "one more, then none")
	})
}

func TestAV2EpochIsListedOnceMoreWhenItHasSettled(t *testing.T) {
	bubble(t, v1beta2.DataEngineV2, func(t *testing.T, b *bench) {
		b.Set(b.target)
		synctest.Wait()
		list, _ := b.Latest(manager)
		require.False(t, list.Settled, "a v2 server may still be rediscovering")
		b.after(11 * time.Second)
		b.server.change(false, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") }) // rediscovery sends no notice
		b.after(20 * time.Second)
		list, _ = b.Latest(manager)
		require.True(t, list.Settled)
		require.Equal(t, []string{"r-1"}, b.names(t))
		require.Equal(t, []imclient.Cause{imclient.CauseReconnect, imclient.CauseSafety, imclient.CauseFollowUp}, b.server.lists())
		require.True(t, b.seen()[1].Whole, "whoever waited for a settled list hears of it")
	})
}

func TestALostStreamMakesTheInventoryUnknownAtOnceAndANewEpochLater(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.startWith(running("r-1", "u1"))
		b.seen()

		b.server.crash(true)
		synctest.Wait()
		_, known := b.Latest(manager)
		require.False(t, known)
		require.ErrorIs(t, b.Err(manager), imclient.ErrUnreachable)
		require.Empty(t, b.Holders("r-1"))
		require.False(t, b.absent("r-1", "u1"), "unknown is not empty")
		require.Len(t, b.Lost(), 1)
		require.True(t, b.Lost()[0].Instances.Has("r-1"))
		_, _, connected := b.Client(manager)
		require.False(t, connected)
		require.Equal(t, []Change{{InstanceManager: manager, Node: "node-1", Whole: true}}, b.seen())

		b.after(time.Hour)
		require.Empty(t, b.seen(), "further failures are no news")
		b.server.set(func(s *server) { s.down = false })
		b.after(31 * time.Second)
		list, known := b.Latest(manager)
		require.True(t, known)
		require.Greater(t, list.Epoch.Connection, uint64(1))
		require.Empty(t, b.Lost())
		require.Equal(t, []Change{{InstanceManager: manager, Node: "node-1", Whole: true}}, b.seen())
	})
}

func TestAFailedListMakesTheInventoryUnknown(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Second)
		b.server.set(func(s *server) { s.listError = imclient.ErrTooLarge; s.notify() })
		b.after(time.Second)
		_, known := b.Latest(manager)
		require.False(t, known)
		require.ErrorIs(t, b.Err(manager), imclient.ErrTooLarge)
		_, err := b.Fresh(t.Context(), manager)
		require.ErrorIs(t, err, ErrUnreachable)
		require.ErrorIs(t, err, imclient.ErrTooLarge)
	})
}

func TestReconnectsBackOff(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.server.set(func(s *server) { s.down = true })
		b.Set(b.target)
		b.after(time.Hour)
		b.server.mu.Lock()
		defer b.server.mu.Unlock()
		require.InDelta(t, 3600/22.5, len(b.server.clients), 10, "30 s, less a quarter by jitter")
	})
}

func TestAnotherTargetIsAnotherEpochAtOnce(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.startWith(running("r-1", "u1"))
		b.Set(b.target)
		_, known := b.Latest(manager)
		require.True(t, known, "the same target again changes nothing")

		gate := make(chan struct{})
		b.server.set(func(s *server) { s.gate = gate; s.notify() }) // a list of the old pod is on its way
		synctest.Wait()
		replacement := b.target
		replacement.PodUID, replacement.Node = "pod-2", "node-2"
		b.Set(replacement)
		_, known = b.Latest(manager)
		require.False(t, known)
		require.Empty(t, b.Lost(), "what the old pod had ended with it")
		close(gate)
		synctest.Wait()

		list, known := b.Latest(manager)
		require.True(t, known)
		require.Equal(t, Epoch{PodUID: "pod-2", Connection: 2}, list.Epoch)
		require.Empty(t, b.OfNode("node-1"))
		require.Equal(t, []string{manager}, b.OfNode("node-2"))
	})
}

func TestALateAnswerOfTheFormerPodIsThrownAway(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Second)
		b.server.set(func(s *server) { s.latency, s.late = 5*time.Second, true; s.notify() })
		b.after(time.Second)
		replacement := b.target
		replacement.PodUID = "pod-2"
		b.Set(replacement)
		b.after(5 * time.Second) // the former pod has answered, the new one has not
		_, known := b.Latest(manager)
		require.False(t, known)
		b.after(5 * time.Second)
		list, known := b.Latest(manager)
		require.True(t, known)
		require.Equal(t, "pod-2", string(list.Epoch.PodUID))
	})
}

func TestARemovedInstanceManagerIsForgotten(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.startWith(running("r-1", "u1"))
		b.Remove(manager)
		_, known := b.Latest(manager)
		require.False(t, known)
		require.Empty(t, b.Holders("r-1"))
		require.Empty(t, b.OfNode("node-1"))
		_, set := b.Target(manager)
		require.False(t, set)
		_, err := b.Fresh(t.Context(), manager)
		require.ErrorIs(t, err, ErrUnreachable)
		b.after(time.Hour)
		require.Equal(t, []imclient.Cause{imclient.CauseReconnect}, b.server.lists())
	})
}

func TestSubscribersHearThatWhatWasLostIsGone(t *testing.T) {
	for name, end := range map[string]func(*bench){
		"removed": func(b *bench) { b.Remove(manager) },
		"another pod": func(b *bench) {
			next := b.target
			next.PodUID = "pod-2"
			b.Set(next)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
				b.server.change(false, func(m map[string]Instance) { m["e-0"] = running("e-0", "u1") })
				b.Set(b.target)
				b.after(time.Second)
				b.server.crash(true)
				b.after(time.Second)
				b.seen()
				b.Set(b.target)
				require.Empty(t, b.seen(), "nothing has changed")
				require.Len(t, b.Lost(), 1)
				end(b)
				require.Empty(t, b.Lost())
				require.Equal(t, []Change{{InstanceManager: manager, Node: "node-1", Whole: true}}, b.seen())
			})
		})
	}
}

func TestFreshBeginsAfterTheCallAndIsShared(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Second)
		b.server.lists()
		b.server.set(func(s *server) { s.latency = time.Second; s.notify() })
		b.after(500 * time.Millisecond) // the list that the notice caused is half way
		b.server.change(false, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") })
		asked := time.Now()

		answers := make(chan *Snapshot, 10)
		for range 10 {
			go func() {
				list, err := b.Fresh(t.Context(), manager)
				if err == nil {
					answers <- list
				}
			}()
		}
		b.after(5 * time.Second)

		require.Len(t, answers, 10)
		first := <-answers
		require.False(t, first.Began.Before(asked))
		require.True(t, first.Instances.Has("r-1"))
		for range 9 {
			require.Same(t, first, <-answers)
		}
		require.Equal(t, []imclient.Cause{imclient.CauseEvent, imclient.CauseFresh}, b.server.lists())
	})
}

func TestFreshFailsAtOnceInBackOffAndEndsWithItsCaller(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.server.set(func(s *server) { s.down = true })
		b.Set(b.target)
		b.after(time.Minute)
		began := time.Now()
		_, err := b.Fresh(t.Context(), manager)
		require.ErrorIs(t, err, ErrUnreachable)
		require.Zero(t, time.Since(began))

		b.server.set(func(s *server) { s.down, s.latency = false, time.Hour })
		b.after(31 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = b.Fresh(ctx, manager)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestShutdownAnswersWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{gate: make(chan struct{})}
		i := New(Config{Connect: s.connect})
		i.Set(Target{InstanceManager: manager})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- i.Start(ctx) }()
		synctest.Wait()
		fresh := make(chan error, 1)
		go func() {
			_, err := i.Fresh(context.Background(), manager)
			fresh <- err
		}()
		synctest.Wait()
		cancel()
		close(s.gate)
		require.ErrorIs(t, <-fresh, ErrUnreachable)
		require.NoError(t, <-ended)
	})
}

func TestAConnectionThatCannotBeBegunIsAnErrorThatSaysWhy(t *testing.T) {
	refusal := errors.New("bad certificate")
	synctest.Test(t, func(t *testing.T) {
		i := New(Config{Connect: func(Target) (imclient.Client, error) { return nil, refusal }})
		i.Set(Target{InstanceManager: manager})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- i.Start(ctx) }()
		synctest.Wait()
		require.ErrorIs(t, i.Err(manager), refusal)
		cancel()
		require.NoError(t, <-ended)
	})
}
