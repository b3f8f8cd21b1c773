package csicontroller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
)

// holder makes somebody the holder of the lease for long; "" gives it back.
func (w *world) holder(name string) {
	w.t.Helper()
	w.hold(name, 3600)
}

func (w *world) hold(name string, seconds int32) {
	w.t.Helper()
	lease := &coordinationv1.Lease{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: LeaseName}, lease))
	now := metav1.NowMicro()
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	err := w.admin.Update(w.t.Context(), lease)
	if apierrors.IsConflict(err) {
		w.hold(name, seconds)
		return
	}
	require.NoError(w.t, err)
}

// leads tells whether the process says that it holds the lease.
func (p *process) leads(t *testing.T) bool {
	t.Helper()
	families, err := p.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "drover_attach_controller_csi_leading" {
			return f.GetMetric()[0].GetGauge().GetValue() == 1
		}
	}
	return false
}

func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	require.Eventually(w.t, holds, patience, poll, what)
}

// serves tells that an attachment is taken all the way by whoever leads.
func (w *world) serves() {
	w.t.Helper()
	va := w.asks()
	w.serve(va.Name)
	w.reaches(va, "attached", isAttached)
	w.remove(va)
	w.vacate(va.Name)
	testkit.WaitGone(w.t, w.admin, va)
}

// While an external-attacher holds its lease nothing is done; when it takes the lease back, this part alone stops, and
// when it leaves, everything that went by meanwhile is looked at.
func TestTheLeaseOfTheExternalAttacherDecidesWhoActs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	w.holder("external-attacher")
	p := w.start()
	before := w.asks()
	p.stays(t, "the external-attacher has the lease")

	w.holder("")
	w.serve(before.Name)
	w.reaches(before, "attached", isAttached)
	require.True(t, p.leads(t))

	w.holder("external-attacher")
	w.eventually("it goes on", func() bool { return !p.leads(t) })
	writes := len(p.client.Writes())
	w.remove(before)
	p.stays(t, "the external-attacher has the lease again")
	require.Len(t, p.client.Writes(), writes)
	select {
	case err := <-p.done:
		require.Fail(t, "the process ended with that part", "%v", err)
	default:
	}

	w.holder("")
	w.vacate(before.Name)
	testkit.WaitGone(t, w.admin, before)
}

// stays tells that the process writes nothing for a while.
func (p *process) stays(t *testing.T, why string) {
	t.Helper()
	writes := len(p.client.Writes())
	require.Never(t, func() bool { return len(p.client.Writes()) > writes }, 500*time.Millisecond, poll, why)
}

func TestOfTwoProcessesOneActsAndTheOtherFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	first := w.start()
	w.eventually("nobody leads", func() bool { return first.leads(t) })
	second := w.start()
	w.serves()
	require.Len(t, first.client.Writes(), 7)
	require.Empty(t, second.client.Writes())
	first.stop()
	require.NoError(t, <-first.done)
	first.done <- nil
	w.serves()
	require.Len(t, first.client.Writes(), 7)
	require.Len(t, second.client.Writes(), 6, "the PersistentVolume has its finalizer")
}

// elections returns two that want the same lease.
func elections(t *testing.T) (*world, [2]*election, [2]context.CancelFunc) {
	w := newWorld(t)
	var both [2]*election
	var stop [2]context.CancelFunc
	elected := make(chan struct{})
	close(elected)
	for i := range both {
		lock, err := newLock(w.identity, w.namespace, quick())
		require.NoError(t, err)
		both[i] = &election{lock: lock, elected: elected, options: quick(), won: func(context.Context) {}, leading: func(bool) {}}
		ctx, cancel := context.WithCancel(t.Context())
		stop[i] = cancel
		ended := make(chan struct{})
		go func() { defer close(ended); _ = both[i].Start(ctx) }()
		t.Cleanup(func() { cancel(); <-ended })
	}
	return w, both, stop
}

func leader(both [2]*election) int {
	for i, e := range both {
		if _, done, ok := e.enter(context.Background()); ok {
			done()
			return i
		}
	}
	return -1
}

func TestTheLeaseIsGivenBackOnlyAfterTheWorkHasEnded(t *testing.T) {
	t.Parallel()
	w, both, stop := elections(t)
	w.eventually("nobody leads", func() bool { return leader(both) >= 0 })
	one := leader(both)
	work, done, ok := both[one].enter(t.Context())
	require.True(t, ok)
	stop[one]()
	select {
	case <-work.Done():
	case <-time.After(patience):
		require.Fail(t, "the work was not told to end")
	}
	require.Never(t, func() bool {
		_, leave, ok := both[1-one].enter(context.Background())
		if ok {
			leave()
		}
		return ok
	}, time.Second, poll, "two act at once")
	done()
	w.eventually("nobody follows", func() bool { return leader(both) == 1-one })
}

// A crash of the leader lets two leases run out; a standby waits for them at the same time.
func TestAStandbyOfTheBinaryKnowsWhenTheLeaseRanOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const seconds = 2
	w.hold("crashed", seconds)
	lock, err := newLock(w.identity, w.namespace, quick())
	require.NoError(t, err)
	elected := make(chan struct{})
	e := &election{lock: lock, elected: elected, options: quick(), won: func(context.Context) {}, leading: func(bool) {}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	leads := func() bool {
		_, done, ok := e.enter(context.Background())
		if ok {
			done()
		}
		return ok
	}
	require.Never(t, leads, (seconds+1)*time.Second, poll, "a standby acts")
	close(elected)
	require.Eventually(t, leads, time.Minute, poll, "it waits once more")
}

func TestAnObserverNeverTouchesTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := make(chan struct{})
	e, err := newElection(&runkit.Runtime{Observe: true, Namespace: w.namespace}, quick(), func(bool) {}, func(context.Context) { close(began) })
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Start(ctx) }()
	<-began
	_, done, ok := e.enter(ctx)
	require.True(t, ok, "it says what it would do")
	done()
	cancel()
	require.NoError(t, <-ended)
	lease := &coordinationv1.Lease{}
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: LeaseName}, lease))
	require.Nil(t, lease.Spec.HolderIdentity)
}

func TestTurnedOffItIsNotThere(t *testing.T) {
	require.NoError(t, Setup(t.Context(), &runkit.Runtime{}, Options{}, nil), "nothing of the runtime is used")
}

func TestADeletedAttachmentNeedsNobodyWhoHasNotHeldIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.holder("external-attacher")
	w.start()
	va := w.asks()
	w.remove(va)
	testkit.WaitGone(t, w.admin, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: va.Name}})
}
