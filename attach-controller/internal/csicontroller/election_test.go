package csicontroller

import (
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

// holder sets a long-term holder of the lease.
func (w *world) holder(name string) {
	w.t.Helper()
	w.hold(name, 3600)
}

// release is what an elector writes when it gives its lease back.
func (w *world) release() {
	w.t.Helper()
	w.hold("", 1)
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

// leads reports whether the process reports that it holds the lease.
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

// serves reports whether an attachment is taken all the way by whoever leads.
func (w *world) serves() {
	w.t.Helper()
	va := w.asks()
	w.serve(va.Name)
	w.reaches(va, "attached", isAttached)
	w.remove(va)
	w.vacate(va.Name)
	testkit.WaitGone(w.t, w.admin, va)
}

// While an external-attacher holds its lease nothing is done; when it takes the lease back, this part alone stops, and when it stops, all
// missed changes are evaluated.
func TestTheLeaseOfTheExternalAttacherDecidesWhoActs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	w.holder("external-attacher")
	p := w.start()
	before := w.asks()
	p.stays(t, "the external-attacher has the lease")

	w.release()
	w.serve(before.Name)
	w.reaches(before, "attached", isAttached)
	require.True(t, p.leads(t))

	w.holder("external-attacher")
	w.eventually("it continues", func() bool { return !p.leads(t) })
	writes := len(p.Client.Writes())
	w.remove(before)
	p.stays(t, "the external-attacher has the lease again")
	require.Len(t, p.Client.Writes(), writes)
	select {
	case <-p.Ended():
		err := p.Wait()
		require.Fail(t, "the process ended with that part", "%v", err)
	default:
	}

	w.release()
	w.vacate(before.Name)
	testkit.WaitGone(t, w.admin, before)
}

// stays reports whether the process writes nothing for a while.
func (p *process) stays(t *testing.T, why string) {
	t.Helper()
	writes := len(p.Client.Writes())
	require.Never(t, func() bool { return len(p.Client.Writes()) > writes }, 500*time.Millisecond, poll, why)
}

func TestOfTwoProcessesOneActsAndTheOtherFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	first := w.start()
	w.eventually("no process leads", func() bool { return first.leads(t) })
	second := w.start()
	w.serves()
	require.Len(t, first.Client.Writes(), 7)
	require.Empty(t, second.Client.Writes())
	first.Stop()
	require.NoError(t, first.Wait())
	w.serves()
	require.Len(t, first.Client.Writes(), 7)
	require.Len(t, second.Client.Writes(), 6, "the PersistentVolume has its finalizer")
}

func TestTurnedOffItIsNotThere(t *testing.T) {
	require.NoError(t, Setup(t.Context(), &runkit.Runtime{}, Options{}, nil), "nothing of the runtime is used")
}

func TestADeletedAttachmentWithoutOurFinalizerNeedsNoStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.holder("external-attacher")
	w.start()
	va := w.asks()
	w.remove(va)
	testkit.WaitGone(t, w.admin, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: va.Name}})
}
