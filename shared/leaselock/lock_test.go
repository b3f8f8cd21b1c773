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
	h.Lock = leaselock.New(reads{lease, &h.reads}, leaselock.Options{Interval: interval, Duration: duration, Retry: retry, Fence: h.fence,
		Clock: h.clock, Dead: dead, Lost: func(err error) { h.lost = append(h.lost, err) },
		Watch: func(ctx context.Context) (watch.Interface, error) {
			return clients.CoordinationV1().Leases(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=tested"})
		}})
	return h
}

// record is what an elector writes; an empty holder is the release.
func (h *holder) record(identity string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: identity, LeaseDurationSeconds: 15, RenewTime: metav1.NewTime(h.clock.Now())}
}

func (h *holder) take() {
	h.t.Helper()
	if _, _, err := h.Get(h.t.Context()); err != nil {
		require.NoError(h.t, h.Create(h.t.Context(), h.record(h.Identity())))
		return
	}
	require.NoError(h.t, h.Update(h.t.Context(), h.record(h.Identity())))
}

// stored is who holds the lease, and its version.
func (h *holder) stored() (string, string) {
	h.t.Helper()
	var lease coordinationv1.Lease
	require.NoError(h.t, testkit.Admin(h.t).Get(h.t.Context(), client.ObjectKey{Namespace: h.namespace, Name: "tested"}, &lease))
	return *lease.Spec.HolderIdentity, lease.ResourceVersion
}

func TestALeaseIsWrittenOnlyWhenARenewalIsDue(t *testing.T) {
	h := newHolder(t, testkit.Namespace(t), "one", nil)
	h.take()
	_, first := h.stored()
	h.clock.Step(interval - time.Millisecond)
	require.NoError(t, h.Update(t.Context(), h.record("one")))
	_, still := h.stored()
	require.Equal(t, first, still)
	h.clock.Step(time.Millisecond)
	require.NoError(t, h.Update(t.Context(), h.record("one")))
	_, renewed := h.stored()
	require.NotEqual(t, first, renewed)
	h.clock.Step(deadline - time.Millisecond)
	require.NoError(t, h.fence.Check(), "it counts from the renewal that was written")
	h.clock.Step(time.Millisecond)
	require.ErrorIs(t, h.fence.Check(), leaselock.ErrFenced)
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
	name, _ := old.stored()
	require.Equal(t, "next", name)
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
	name, _ := h.stored()
	require.Empty(t, name)
	require.ErrorIs(t, h.fence.Check(), leaselock.ErrFenced)
	require.Empty(t, h.lost)
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
