package queue

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// limiter lets an item wait for an hour once it failed.
func limiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour)
}

func named(t *testing.T, clock clock.PassiveClock) *queue[string] {
	q := newQueue(t.Name(), limiter(), clock)
	t.Cleanup(q.ShutDown)
	return q
}

// read returns a queue's series in the registry that the binaries serve, by the metric's name: values, and the sums of histograms.
func read(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, family := range families {
		short, ours := strings.CutPrefix(family.GetName(), metrics.WorkQueueSubsystem+"_")
		for _, series := range family.GetMetric() {
			values := map[string]string{}
			for _, label := range series.GetLabel() {
				values[label.GetName()] = label.GetValue()
			}
			if ours && values["name"] == name {
				require.Equal(t, name, values["controller"])
				require.NotContains(t, found, short, "one series of a queue")
				found[short] = series.GetGauge().GetValue() + series.GetCounter().GetValue() +
					series.GetHistogram().GetSampleSum()
			}
		}
	}
	return found
}

// loops returns the functions that run in goroutines of priority queues.
func loops() string {
	stacks := make([]byte, 1<<20)
	return string(stacks[:runtime.Stack(stacks, true)])
}

// controller-runtime's queue, once it has a name, wakes twice a second to compute the age of work under way. Once it does not any more,
// this package can go.
func TestAQuietQueueWakesNothing(t *testing.T) {
	const everyHalfSecond = "updateUnfinishedWorkLoop"
	named(t, clock.RealClock{})
	started := func() bool {
		now := loops()
		return strings.Contains(now, "handleWaitingItems") && strings.Contains(now, "logState")
	}
	require.Eventually(t, started, time.Minute, time.Millisecond)
	require.NotContains(t, loops(), everyHalfSecond)
	theirs := priorityqueue.New[string]("named")
	defer theirs.ShutDown()
	require.Eventually(t, func() bool { return strings.Contains(loops(), everyHalfSecond) }, time.Minute, time.Millisecond)
}

func TestMetricsFollowAnItemFromItsAdditionToTheEndOfTheWork(t *testing.T) {
	now := testclock.NewFakePassiveClock(time.Now())
	q := named(t, now)
	q.Add("a")
	now.SetTime(now.Now().Add(time.Second))
	q.Add("a") // is one with the first
	q.Add("b")
	require.InDelta(t, 2, read(t, t.Name())[metrics.DepthKey], 0)

	item, shutdown := q.Get()
	require.False(t, shutdown)
	require.Equal(t, "a", item)
	now.SetTime(now.Now().Add(3 * time.Second))
	seen := read(t, t.Name())
	require.InDelta(t, 1, seen[metrics.DepthKey], 0)
	require.InDelta(t, 1, seen[metrics.AddsKey], 0)
	require.InDelta(t, 1, seen[metrics.QueueLatencyKey], 1e-6, "since the first addition")
	require.InDelta(t, 3, seen[metrics.UnfinishedWorkKey], 1e-6)
	require.InDelta(t, 3, seen[metrics.LongestRunningProcessorKey], 1e-6)
	require.NotContains(t, seen, metrics.WorkDurationKey)

	q.Done("a")
	seen = read(t, t.Name())
	require.InDelta(t, 3, seen[metrics.WorkDurationKey], 1e-6)
	require.Zero(t, seen[metrics.UnfinishedWorkKey])
	require.Zero(t, seen[metrics.LongestRunningProcessorKey])
}

func TestAnItemIsCountedAsWaitingFromTheTimeThatItCanBeTaken(t *testing.T) {
	now := testclock.NewFakePassiveClock(time.Now())
	q := named(t, now)
	q.AddAfter("a", time.Hour)
	q.AddRateLimited("a")
	require.Equal(t, 1, q.NumRequeues("a"), "one limiter, asked once")
	require.Zero(t, read(t, t.Name())[metrics.DepthKey])
	require.InDelta(t, 2, testutil.ToFloat64(retries.WithLabelValues(t.Name(), t.Name())), 0)
	now.SetTime(now.Now().Add(time.Minute))
	q.Add("a") // earlier than both
	now.SetTime(now.Now().Add(time.Second))
	item, _ := q.Get()
	require.Equal(t, "a", item)
	require.InDelta(t, 1, read(t, t.Name())[metrics.QueueLatencyKey], 1e-6)
	q.Forget("a")
	require.Zero(t, q.NumRequeues("a"))
}

func TestTheHighestPriorityIsTakenFirst(t *testing.T) {
	q := named(t, clock.RealClock{})
	q.AddWithOpts(priorityqueue.AddOpts{Priority: new(-100)}, "initial list", "initial list too")
	q.Add("event")
	item, priority, _ := q.GetWithPriority()
	require.Equal(t, "event", item)
	require.Zero(t, priority)
	item, priority, _ = q.GetWithPriority()
	require.Equal(t, "initial list", item)
	require.Equal(t, -100, priority)
}

func TestAFailedItemComesBackAfterTheLimitersTime(t *testing.T) {
	q := newQueue(t.Name(), workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Millisecond), clock.RealClock{})
	t.Cleanup(q.ShutDown)
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: new(5)}, "a")
	item, priority, shutdown := q.GetWithPriority()
	require.False(t, shutdown)
	require.Equal(t, "a", item)
	require.Equal(t, 5, priority)
}

func TestAQueueThatWasShutDownHasNoGauges(t *testing.T) {
	q := newQueue(t.Name(), limiter(), clock.RealClock{})
	require.Contains(t, read(t, t.Name()), metrics.DepthKey)
	q.ShutDown()
	_, shutdown := q.Get()
	require.True(t, shutdown)
	require.NotContains(t, read(t, t.Name()), metrics.DepthKey)
}

// An object whose writes were refused for hours is written minutes after they no longer are.
func TestAnObjectThatFailsIsEvaluatedAgainWithinMinutes(t *testing.T) {
	limiter := Options(1).RateLimiter
	var pause time.Duration
	for range 100 {
		pause = limiter.When(reconcile.Request{})
	}
	require.Equal(t, 5*time.Minute, pause)
}
