package election

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/leaselock"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testkit.Main(m)
}

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
	name     = "other-program"
)

// world is a namespace with the lease, and an identity that may use it.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.identity = testkit.Identity(t, w.namespace, "controller", []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{name},
			Verbs: []string{"get", "update", "watch"}},
	})
	require.NoError(t, w.admin.Create(t.Context(), w.empty()))
	return w
}

func (w *world) empty() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
}

// quick is a lease that changes its holder fast.
func quick() Lease {
	return Lease{Name: name, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond}
}

// hold makes somebody the holder of the lease.
func (w *world) hold(holder string, seconds int32) {
	w.t.Helper()
	lease := w.empty()
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(lease), lease))
	now := metav1.NowMicro()
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	require.NoError(w.t, w.admin.Update(w.t.Context(), lease))
}

func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	require.Eventually(w.t, holds, patience, poll, what)
}

// election wants the lease once elected is closed.
func election(t *testing.T, w *world, elected chan struct{}) *Election {
	t.Helper()
	own, err := leaselock.NewIdentity(leaselock.Place{})
	require.NoError(t, err)
	e := &Election{elected: elected, lease: quick(), won: func(context.Context) {}, leading: func(bool) {}}
	e.hold(w.identity, w.namespace, own)
	return e
}

// elections returns two that want the same lease.
func elections(t *testing.T) (*world, [2]*Election, [2]context.CancelFunc) {
	w := newWorld(t)
	var both [2]*Election
	var stop [2]context.CancelFunc
	elected := make(chan struct{})
	close(elected)
	for i := range both {
		both[i] = election(t, w, elected)
		ctx, cancel := context.WithCancel(t.Context())
		stop[i] = cancel
		ended := make(chan struct{})
		go func() { defer close(ended); _ = both[i].Start(ctx) }()
		t.Cleanup(func() { cancel(); <-ended })
	}
	return w, both, stop
}

func leader(both [2]*Election) int {
	for i, e := range both {
		if _, done, ok := e.Enter(context.Background()); ok {
			done()
			return i
		}
	}
	return -1
}

func TestTheLeaseIsGivenBackOnlyAfterTheWorkHasEnded(t *testing.T) {
	t.Parallel()
	w, both, stop := elections(t)
	w.eventually("no process leads", func() bool { return leader(both) >= 0 })
	one := leader(both)
	work, done, ok := both[one].Enter(t.Context())
	require.True(t, ok)
	stop[one]()
	select {
	case <-work.Done():
	case <-time.After(patience):
		require.Fail(t, "the work was not cancelled")
	}
	require.Never(t, func() bool {
		_, leave, ok := both[1-one].Enter(context.Background())
		if ok {
			leave()
		}
		return ok
	}, time.Second, poll, "two act at once")
	done()
	w.eventually("no process follows", func() bool { return leader(both) == 1-one })
}

// Somebody who empties the lease under its holder ends its term; it leads again once the lease has run out.
func TestALeaseThatSomebodyEmptiedIsTakenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	elected := make(chan struct{})
	close(elected)
	e := election(t, w, elected)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	var work context.Context
	var done func()
	enters := func() (ok bool) { work, done, ok = e.Enter(t.Context()); return ok }
	w.eventually("it does not lead", enters)
	lease := w.empty()
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	lease.Spec.HolderIdentity = nil
	require.NoError(t, w.admin.Update(t.Context(), lease))
	select {
	case <-work.Done():
	case <-time.After(patience):
		require.Fail(t, "the term did not end")
	}
	done()
	w.eventually("it does not lead again", enters)
	done()
}

// A crash of the leader lets two leases run out; a standby waits for them at the same time.
func TestAStandbyOfTheBinaryKnowsWhenTheLeaseRanOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const seconds = 2
	w.hold("crashed", seconds)
	elected := make(chan struct{})
	e := election(t, w, elected)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	leads := func() bool {
		_, done, ok := e.Enter(context.Background())
		if ok {
			done()
		}
		return ok
	}
	require.Never(t, leads, (seconds+1)*time.Second, poll, "a standby acts")
	close(elected)
	require.Eventually(t, leads, time.Minute, poll, "it waits once more")
}

// A renewal that succeeds late keeps the term: what was refused meanwhile comes with no new term.
func TestWorkThatIsRefusedWithinATermIsTriedAgain(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	e := &Election{lease: quick(), fence: leaselock.NewFence(time.Second, clock), won: func(context.Context) {}, leading: func(bool) {}}
	require.Zero(t, e.Resumes(), "each term begins with all")
	own, end := context.WithCancel(t.Context())
	of := &term{Context: own, end: end}
	e.begin(of)
	e.fence.Renewed(clock.Now())
	clock.Step(2 * time.Second)
	_, _, ok := e.Enter(t.Context())
	require.False(t, ok, "the lease was not renewed in time")
	require.Equal(t, e.lease.RetryPeriod, e.Resumes())
	e.fence.Renewed(clock.Now())
	_, done, ok := e.Enter(t.Context())
	require.True(t, ok)
	done()
	e.stop(of)
	require.Zero(t, e.Resumes())
}

func TestAnObserverNeverTouchesTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := make(chan struct{})
	e, err := New(&runkit.Runtime{Observe: true, Namespace: w.namespace}, quick(), func(bool) {}, func(context.Context) { close(began) })
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Start(ctx) }()
	<-began
	_, done, ok := e.Enter(ctx)
	require.True(t, ok, "it states what it would do")
	done()
	cancel()
	require.NoError(t, <-ended)
	lease := w.empty()
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	require.Nil(t, lease.Spec.HolderIdentity)
}
