package leaselock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"drover.dev/drover/shared/testkit"
)

// reads counts the reads of a lease.
type reads struct {
	resourcelock.Interface
	count *atomic.Int64
}

func (r reads) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r.count.Add(1)
	return r.Interface.Get(ctx)
}

// waits lets a standby wait for the lease; the channel has the record that ends the wait.
func (h *holder) waits(ctx context.Context) chan *resourcelock.LeaderElectionRecord {
	h.t.Helper()
	out := make(chan *resourcelock.LeaderElectionRecord, 1)
	go func() {
		record, _, err := h.Get(ctx)
		if err == nil {
			out <- record
		}
		close(out)
	}()
	require.Eventually(h.t, h.clock.HasWaiters, time.Minute, time.Millisecond, "it waits for the lease to expire")
	return out
}

func TestAStandbyFollowsAtOnceWhenTheLeaseIsReleased(t *testing.T) {
	namespace := testkit.Namespace(t)
	leader, standby := newHolder(t, namespace, "leader", nil), newHolder(t, namespace, "standby", nil)
	leader.take()
	free := standby.waits(t.Context())
	before := standby.reads.Load()
	_, _, err := leader.Get(t.Context())
	require.NoError(t, err)
	require.NoError(t, leader.Update(t.Context(), leader.record("")))
	record := <-free // no time passes: only the watch shows it
	require.Empty(t, record.HolderIdentity)
	require.Equal(t, before+1, standby.reads.Load(), "one read confirms what the watch showed")
	require.NoError(t, standby.Update(t.Context(), standby.record("standby")))
	require.Equal(t, "standby", *standby.stored().Spec.HolderIdentity)
}

// takesExpired takes the lease of another holder, which is not renewed.
func (h *holder) takesExpired() {
	h.t.Helper()
	free := h.waits(h.t.Context())
	h.clock.Step(duration)
	require.Empty(h.t, (<-free).HolderIdentity)
	require.NoError(h.t, h.Update(h.t.Context(), h.record(h.Identity())))
}

func TestAStandbyTakesALeaseThatWasNotRenewedForItsDuration(t *testing.T) {
	namespace := testkit.Namespace(t)
	leader, standby := newHolder(t, namespace, "leader", nil), newHolder(t, namespace, "standby", nil)
	leader.take()
	standby.takesExpired()
	require.Equal(t, "standby", *standby.stored().Spec.HolderIdentity)
	record, _, err := leader.Get(t.Context())
	require.NoError(t, err, "who held the lease does not wait for it")
	require.Equal(t, "standby", record.HolderIdentity)
	require.Len(t, leader.lost, 1)
}

// The holder may not know yet that its lease was emptied: a standby waits as for one that was not renewed.
func TestALeaseThatSomebodyEmptiedRunsOut(t *testing.T) {
	namespace := testkit.Namespace(t)
	leader, standby := newHolder(t, namespace, "leader", nil), newHolder(t, namespace, "standby", nil)
	leader.take()
	leader.empties()
	free := standby.waits(t.Context())
	standby.clock.Step(duration - time.Millisecond)
	require.Empty(t, free)
	require.NoError(t, leader.fence.Check(), "it still writes")
	standby.clock.Step(time.Millisecond)
	require.Empty(t, (<-free).HolderIdentity)
}

// Whoever asks before it has run out must not take it for free.
func TestALeaseThatSomebodyEmptiedIsReportedAsHeld(t *testing.T) {
	namespace := testkit.Namespace(t)
	leader, standby := newHolder(t, namespace, "leader", nil), newHolder(t, namespace, "standby", nil)
	leader.take()
	leader.empties()
	ctx, stop := context.WithCancel(t.Context())
	held := standby.waits(ctx)
	stop()
	require.NotEmpty(t, (<-held).HolderIdentity)
}

func TestALeaseThatWasNeverHeldIsFreeAtOnce(t *testing.T) {
	namespace := testkit.Namespace(t)
	require.NoError(t, testkit.Admin(t).Create(t.Context(),
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tested"}}))
	one := newHolder(t, namespace, "one", nil)
	one.take()
	require.Equal(t, "one", *one.stored().Spec.HolderIdentity)
}

// The elector has the times of before the wait.
func TestATakenLeaseHasTheTimesOfItsRequests(t *testing.T) {
	h := newHolder(t, testkit.Namespace(t), "one", nil)
	before := h.record("one")
	h.clock.Step(time.Hour)
	_, _, err := h.Get(t.Context())
	require.True(t, apierrors.IsNotFound(err))
	require.NoError(t, h.Create(t.Context(), before))
	taken := h.clock.Now()
	for _, passed := range []time.Duration{0, interval} {
		h.clock.Step(passed)
		require.NoError(t, h.Update(t.Context(), before))
		record, _, err := h.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, taken.Unix(), record.AcquireTime.Unix())
		require.Equal(t, taken.Add(passed).Unix(), record.RenewTime.Unix())
	}
}

// A standby that is asked to stop must not take the lease.
func TestAStandbyThatStopsFindsTheLeaseHeld(t *testing.T) {
	namespace := testkit.Namespace(t)
	leader, standby := newHolder(t, namespace, "leader", nil), newHolder(t, namespace, "standby", nil)
	leader.take()
	ctx, stop := context.WithCancel(t.Context())
	held := standby.waits(ctx)
	stop()
	require.Equal(t, "leader", (<-held).HolderIdentity)
}

// Without the right to watch, as of an older Role, a standby reads the lease at each retry.
func TestAStandbyThatCannotWatchReads(t *testing.T) {
	namespace := testkit.Namespace(t)
	leader := newHolder(t, namespace, "leader", nil)
	leader.take()
	blind := newHolderWith(t, namespace, "blind", nil, "get", "update")
	free := blind.waits(t.Context())
	_, _, err := leader.Get(t.Context())
	require.NoError(t, err)
	require.NoError(t, leader.Update(t.Context(), leader.record("")))
	for range 2 { // the first retry may be before the release
		require.Eventually(t, func() bool { return blind.clock.Waiters() == 2 || len(free) > 0 }, time.Minute, time.Millisecond,
			"it waits for the expiry, and for the next retry")
		blind.clock.Step(retry)
	}
	require.Empty(t, (<-free).HolderIdentity)
}
