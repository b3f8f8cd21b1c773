package machinecontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit"
)

func clientIn(w *world) client.ListOption { return client.InNamespace(w.namespace) }

// attachment creates the volume's, as the decision on tickets does.
func (w *world) attachment() {
	w.t.Helper()
	a := &v1beta2.VolumeAttachment{ObjectMeta: w.meta(vol),
		Spec: v1beta2.VolumeAttachmentSpec{Volume: vol, AttachmentTickets: map[string]v1beta2.AttachmentTicket{}}}
	a.Finalizers = []string{v1beta2.Finalizer}
	w.create(a)
}

// gone waits until nothing of the volume is left.
func (w *world) gone(v *v1beta2.Volume) {
	w.t.Helper()
	testkit.WaitGone(w.t, w.admin, v)
	for _, list := range []client.ObjectList{&v1beta2.EngineList{}, &v1beta2.EngineFrontendList{}, &v1beta2.ReplicaList{},
		&v1beta2.VolumeAttachmentList{}} {
		require.NoError(w.t, w.admin.List(w.t.Context(), list, clientIn(w)))
		raw, err := extractNames(list)
		require.NoError(w.t, err)
		require.Empty(w.t, raw, "%T", list)
	}
}

// A16.
func TestAVolumeIsDeletedWhileItIsAttached(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.attached(dataEngine, "node-3")
		w.attachment()
		w.delete(v)
		w.gone(v)
	})
}

// A16.
func TestAVolumeIsDeletedWhileItIsDetached(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.placed(dataEngine)
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		w.attachment()
		w.delete(v)
		w.gone(v)
	})
}

// A16.
func TestAVolumeIsDeletedWhileItIsBeingAttached(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.placed(dataEngine)
		w.plane.change(func(p *plane) { p.still["r-1"] = true })
		w.wanted(v, "node-3")
		w.theReplica("r-2", "running", func(r *v1beta2.Replica) bool { return r.Status.CurrentState == v1beta2.InstanceStateRunning })
		w.delete(v)
		w.is(v, "being deleted", func(v *v1beta2.Volume) bool { return v.Status.State == v1beta2.VolumeStateDeleting })
		w.plane.change(func(p *plane) { p.still = map[string]bool{} })
		w.gone(v)
	})
}

// A16.
func TestAVolumeIsDeletedWhileItMigrates(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.migrating(dataEngine)
		w.delete(v)
		w.gone(v)
	})
}

// A16, A7: nothing waits for ever for a node that is down.
func TestAVolumeIsDeletedWhileItsNodeIsDown(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.attached(dataEngine, "node-1")
		w.down("node-1")
		w.delete(v)
		w.gone(v)
	})
}

// A16: no object with a finalizer is left behind.
func TestAVolumeIsDeletedRightAfterItsCreation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	for n := range 5 {
		v := w.volume(fmt.Sprintf("v-%d", n), nil)
		w.delete(v)
	}
	w.quiet(p)
	for n := range 5 {
		testkit.WaitGone(t, w.admin, &v1beta2.Volume{ObjectMeta: w.meta(fmt.Sprintf("v-%d", n))})
	}
	// A volume whose finalizer came too late may have got an engine.
	w.collectGarbage()
	w.gone(w.theVolume())
}

// A16: it waits, and reports for what.
func TestADeletedVolumeWaitsForItsReplicasAndSnapshots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	snapshot := &v1beta2.Snapshot{ObjectMeta: w.meta("s-1"), Spec: v1beta2.SnapshotSpec{Volume: vol}}
	w.create(snapshot)
	w.plane.change(func(p *plane) { p.holding = true })
	w.delete(v)
	w.is(v, "detached, and waiting for its replicas", func(v *v1beta2.Volume) bool {
		c := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached)
		return v.Status.State == v1beta2.VolumeStateDeleting && v.Status.CurrentNodeID == "" &&
			c.Reason == v1beta2.ReasonWaitingForReplicas && strings.Contains(c.Message, "2 replicas")
	})
	w.quiet(p)
	w.plane.change(func(p *plane) { p.holding = false })
	said := w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonWaitingForSnapshots)
	require.Contains(t, said.Message, "1 Snapshots, first s-1; snapshot-controller must run")
	require.Contains(t, said.Message, "kubectl -n "+w.namespace+" get lhsnap --field-selector spec.volume="+vol)
	w.quiet(p)
	w.delete(snapshot)
	w.gone(v)
}
