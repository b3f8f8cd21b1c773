package csisnapshotcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/volumesnapshot"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

func object(body map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: body}
}

func isReady(s csisnapshot.Status) bool { return s.Ready }

// S12: four writes from the wish to the answer, three to the end.
func TestASnapshotForKubernetes(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	c := w.asks("Delete", "snap", "volumeHandle", vol)
	s := w.takes()
	require.Equal(t, v1beta2.SnapshotSpec{Volume: vol, CreateSnapshot: true}, s.Spec)
	require.Equal(t, []string{v1beta2.Finalizer}, s.Finalizers)
	require.Equal(t, vol, s.Labels[v1beta2.LabelVolume])
	require.Len(t, s.OwnerReferences, 1)
	is := w.shows(c, isReady)
	require.Equal(t, "snap://"+vol+"/"+s.Name, is.Status.Handle)
	require.EqualValues(t, 1000, is.Status.RestoreSize)
	w.wrote(p, 4)

	w.lets(c)
	w.gone(c)
	w.wrote(p, 7)
	w.ends(s)
}

func TestABackupForKubernetes(t *testing.T) {
	w := newWorld(t)
	w.class("Delete", "bak")
	w.start()
	c := w.asks("Delete", "bak", "volumeHandle", vol)
	s := w.takes()
	b := &v1beta2.Backup{ObjectMeta: w.meta(volumesnapshot.BackupName(w.namespace))}
	w.appears(b)
	require.Equal(t, s.Name, b.Spec.SnapshotName)
	require.Equal(t, "full", b.Spec.BackupMode, "as in the class")
	require.Equal(t, vol, b.Labels[v1beta2.LabelBackupVolume])
	is := w.shows(c, func(s csisnapshot.Status) bool { return s.Handle != "" })
	require.Equal(t, "bak://"+vol+"/"+b.Name, is.Status.Handle)
	require.False(t, is.Status.Ready)
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, b, map[string]any{"state": v1beta2.BackupCompleted, "volumeName": vol}))
	w.shows(c, isReady)
	w.lets(c)
	w.ends(b)
	w.ends(s)
	w.gone(c)
}

func TestWhatIsThereAlreadyIsFound(t *testing.T) {
	w := newWorld(t)
	w.start()
	c := w.asks("Delete", "snap", "snapshotHandle", "snap://"+vol+"/old")
	w.shows(c, func(s csisnapshot.Status) bool { return s.Error != "" })
	s := &v1beta2.Snapshot{ObjectMeta: w.meta("old"), Spec: v1beta2.SnapshotSpec{Volume: vol}}
	w.create(s)
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, s,
		map[string]any{"creationTime": "2026-08-01T11:00:00Z", "readyToUse": true}))
	require.Empty(t, w.shows(c, isReady).Status.Error)
	w.lets(c)
	w.gone(c)
	w.gone(s)
}

func TestAClassThatComesLater(t *testing.T) {
	w := newWorld(t)
	w.start()
	c := w.asks("Retain", "late", "volumeHandle", vol)
	w.shows(c, func(s csisnapshot.Status) bool { return s.Error != "" })
	body := map[string]any{"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "driver": volumesnapshot.Driver,
		"metadata": map[string]any{"name": w.namespace + "-late"}, "deletionPolicy": "Retain", "parameters": map[string]any{"type": "snap"}}
	w.create(object(body))
	s := w.takes()
	require.Empty(t, w.shows(c, isReady).Status.Error)
	w.lets(c)
	w.gone(c)
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(s), s), "it is retained")
	require.Nil(t, s.DeletionTimestamp)
}

// While a csi-snapshotter holds its lease nothing is done; when it leaves, what went by meanwhile is checked.
func TestTheLeaseOfTheCSISnapshotterDecidesWhoActs(t *testing.T) {
	w := newWorld(t)
	w.holder("csi-snapshotter")
	p := w.start()
	c := w.asks("Delete", "snap", "volumeHandle", vol)
	w.quiet(p)
	require.Empty(t, p.Client.Writes())
	w.holder("")
	w.takes()
	w.shows(c, isReady)
}

func (w *world) holder(name string) {
	w.t.Helper()
	lease := &coordinationv1.Lease{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: LeaseName}, lease))
	seconds, now := int32(3600), metav1.NowMicro()
	if name == "" {
		seconds = 1 // the mark of a release
	}
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	require.NoError(w.t, w.admin.Update(w.t.Context(), lease))
}

func TestTurnedOffItIsNotThere(t *testing.T) {
	require.NoError(t, Setup(t.Context(), &runkit.Runtime{}, Options{}, nil), "nothing of the runtime is used")
}

// ALL-2: whichever write is the last of a process, before it is sent or after it was answered, the next process comes to
// the same end, with one Snapshot made and nothing left. [SNP-2]
func TestTheEndIsTheSameWhereverTheControllerDies(t *testing.T) {
	writes := 0
	t.Run("not at all", func(t *testing.T) { writes = runCrash(t, cut.Point{}) })
	require.Equal(t, 7, writes)
	for _, point := range cut.Points(writes) {
		t.Run(point.String(), func(t *testing.T) { runCrash(t, point) })
	}
}

// runCrash restarts the controller when it is cut, and returns how many writes the first process sent.
func runCrash(t *testing.T, point cut.Point) int {
	w := newWorld(t)
	next := cut.NewSuccession()
	p := w.startCut(point, next.Cut)
	next.Follow(func() {
		<-p.Ended()
		w.start()
	})
	c := w.asks("Delete", "snap", "volumeHandle", vol)
	s := w.takes()
	uid := s.UID
	w.shows(c, isReady)
	w.lets(c)
	w.gone(c)
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(s), s))
	require.Equal(t, uid, s.UID, "it was made twice")
	w.ends(s)
	if point.Write > 0 {
		next.Wait(p.Stop)
	}
	return len(p.Client.Writes())
}
