package leaselock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/leaselock"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const duration, interval, retry = 15 * time.Second, 7500 * time.Millisecond, time.Second

// holder is one process that wants the lease of a namespace.
type holder struct {
	*leaselock.Lock
	t         *testing.T
	namespace string
	options   leaselock.Options
	fence     *leaselock.Fence
	clock     *clocktesting.FakeClock
	reads     atomic.Int64
	lost      []error
}

func newHolder(t *testing.T, namespace, name string, dead func(string) bool) *holder {
	t.Helper()
	return newHolderWith(t, namespace, name, dead, "get", "create", "update", "watch")
}

// newHolderWith has these rights on leases.
func newHolderWith(t *testing.T, namespace, name string, dead func(string) bool, verbs ...string) *holder {
	t.Helper()
	config := testkit.Identity(t, namespace, name, []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: verbs}})
	clients, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	lease, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, "tested", clients.CoreV1(), clients.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: name})
	require.NoError(t, err)
	h := &holder{t: t, namespace: namespace, clock: clocktesting.NewFakeClock(time.Now())}
	h.fence = leaselock.NewFence(deadline, h.clock)
	h.options = leaselock.Options{Interval: interval, Duration: duration, Retry: retry, Fence: h.fence,
		Clock: h.clock, Dead: dead, Lost: func(err error) { h.lost = append(h.lost, err) },
		Watch: func(ctx context.Context) (watch.Interface, error) {
			return clients.CoordinationV1().Leases(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=tested"})
		}}
	h.Lock = leaselock.New(reads{lease, &h.reads}, h.options)
	return h
}

// record is what an elector writes; an empty holder is the release, which it marks by a duration of a second.
func (h *holder) record(identity string) resourcelock.LeaderElectionRecord {
	seconds := 15
	if identity == "" {
		seconds = 1
	}
	return resourcelock.LeaderElectionRecord{HolderIdentity: identity, LeaseDurationSeconds: seconds, RenewTime: metav1.NewTime(h.clock.Now())}
}

func (h *holder) take() {
	h.t.Helper()
	if _, _, err := h.Get(h.t.Context()); err != nil {
		require.NoError(h.t, h.Create(h.t.Context(), h.record(h.Identity())))
		return
	}
	require.NoError(h.t, h.Update(h.t.Context(), h.record(h.Identity())))
}

// stored is the lease as it stands at the API server.
func (h *holder) stored() *coordinationv1.Lease {
	h.t.Helper()
	var lease coordinationv1.Lease
	require.NoError(h.t, testkit.Admin(h.t).Get(h.t.Context(), client.ObjectKey{Namespace: h.namespace, Name: "tested"}, &lease))
	return &lease
}

// empties removes the holder, as a person would.
func (h *holder) empties() {
	h.t.Helper()
	lease := h.stored()
	lease.Spec.HolderIdentity = nil
	require.NoError(h.t, testkit.Admin(h.t).Update(h.t.Context(), lease))
}

func TestALeaseIsWrittenOnlyWhenARenewalIsDue(t *testing.T) {
	h := newHolder(t, testkit.Namespace(t), "one", nil)
	h.take()
	first := h.stored().ResourceVersion
	h.clock.Step(interval - time.Millisecond)
	require.NoError(t, h.Update(t.Context(), h.record("one")))
	require.Equal(t, first, h.stored().ResourceVersion)
	h.clock.Step(time.Millisecond)
	require.NoError(t, h.Update(t.Context(), h.record("one")))
	require.NotEqual(t, first, h.stored().ResourceVersion)
	h.clock.Step(deadline - time.Millisecond)
	require.NoError(t, h.fence.Check(), "it counts from the renewal that was written")
	h.clock.Step(time.Millisecond)
	require.ErrorIs(t, h.fence.Check(), leaselock.ErrFenced)
}

// An elector wants to renew the lease each second: it is kept waiting, so that a quiet process sleeps.
func TestARenewalThatComesTooEarlyWaitsUntilItIsNearlyDue(t *testing.T) {
	h := newHolder(t, testkit.Namespace(t), "one", nil)
	h.options.Rests = true
	h.Lock = leaselock.New(h.Interface, h.options)
	h.take()
	first := h.stored().ResourceVersion
	h.clock.Step(retry)
	renewed := make(chan error, 1)
	go func() { renewed <- h.Update(t.Context(), h.record("one")) }()
	require.Eventually(t, h.clock.HasWaiters, time.Minute, time.Millisecond, "the renewal waits")
	h.clock.Step(interval - 2*retry - time.Millisecond)
	require.Empty(t, renewed)
	h.clock.Step(time.Millisecond)
	require.NoError(t, <-renewed)
	require.Equal(t, first, h.stored().ResourceVersion, "the elector comes back a retry later")
	h.clock.Step(retry)
	require.NoError(t, h.Update(t.Context(), h.record("one")))
	require.NotEqual(t, first, h.stored().ResourceVersion)
}

func TestARenewalThatWaitsEndsWithItsElector(t *testing.T) {
	h := newHolder(t, testkit.Namespace(t), "one", nil)
	h.options.Rests = true
	h.Lock = leaselock.New(h.Interface, h.options)
	h.take()
	ctx, stop := context.WithCancel(t.Context())
	renewed := make(chan error, 1)
	go func() { renewed <- h.Update(ctx, h.record("one")) }()
	require.Eventually(t, h.clock.HasWaiters, time.Minute, time.Millisecond, "the renewal waits")
	stop()
	require.NoError(t, <-renewed, "the lease is held as long as before")
	require.NoError(t, h.fence.Check())
	require.NoError(t, h.Update(t.Context(), h.record("")), "the elector's release")
	require.Empty(t, *h.stored().Spec.HolderIdentity)
}

// A leader that was paused finds another holder: it reports it once, is fenced, and leaves the lease alone.
func TestALeaseOfAnotherHolderIsNeitherReleasedNorKept(t *testing.T) {
	namespace := testkit.Namespace(t)
	old, next := newHolder(t, namespace, "old", nil), newHolder(t, namespace, "next", nil)
	old.take()
	next.takesExpired()
	_, _, err := old.Get(t.Context())
	require.NoError(t, err)
	require.Len(t, old.lost, 1)
	require.ErrorContains(t, old.lost[0], "is held by next now")
	require.ErrorIs(t, old.fence.Check(), leaselock.ErrFenced)
	require.NoError(t, old.Update(t.Context(), old.record("")), "the elector's release")
	require.Equal(t, "next", *old.stored().Spec.HolderIdentity)
	_, _, err = old.Get(t.Context())
	require.NoError(t, err)
	require.Len(t, old.lost, 1, "reported once")
	require.NoError(t, next.fence.Check())
}

func TestTheHolderReleasesItsLease(t *testing.T) {
	h := newHolder(t, testkit.Namespace(t), "one", nil)
	h.take()
	_, _, err := h.Get(t.Context())
	require.NoError(t, err)
	require.NoError(t, h.Update(t.Context(), h.record("")))
	require.Empty(t, *h.stored().Spec.HolderIdentity)
	require.ErrorIs(t, h.fence.Check(), leaselock.ErrFenced)
	require.Empty(t, h.lost)
}

// Standbys see a renewal by the change of the lease, of which they read whole seconds.
func TestARenewalChangesTheSecondsOfTheLease(t *testing.T) {
	h := newHolder(t, testkit.Namespace(t), "one", nil)
	h.options.Interval = 0
	h.Lock = leaselock.New(h.Interface, h.options)
	h.take()
	before := h.stored().Spec.RenewTime.Unix()
	require.NoError(t, h.Update(t.Context(), h.record("one")), "its clock shows the same time")
	require.Equal(t, before+1, h.stored().Spec.RenewTime.Unix())
}

func TestTheLeaseOfADeadRunIsFree(t *testing.T) {
	namespace := testkit.Namespace(t)
	dead := newHolder(t, namespace, "dead", nil)
	dead.take()
	next := newHolder(t, namespace, "next", func(holder string) bool { return holder == "dead" })
	record, _, err := next.Get(t.Context())
	require.NoError(t, err)
	require.Empty(t, record.HolderIdentity)
	other := newHolder(t, namespace, "other", func(string) bool { return false })
	ctx, stop := context.WithCancel(t.Context())
	held := other.waits(ctx)
	stop()
	require.Equal(t, "dead", (<-held).HolderIdentity)
}
