package ticketcontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
)

// A12: each kind of work gets its ticket, on the right node and with the right frontend, and takes it back.

func TestRestoreHoldsTheVolumeUntilItsDataIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.start()
	w.status(v, map[string]any{"restoreRequired": true})
	w.shows(vol, "volume-restore-controller-vol-1 @node-1 true")
	w.attached(v, "node-1")
	w.stays(vol)
	w.status(v, map[string]any{"restoreRequired": false})
	w.shows(vol)
}

func TestExpansionAttachesADetachedVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.start()
	w.spec(v, map[string]any{"size": "20"})
	w.shows(vol, "volume-expansion-controller-vol-1 @node-1 any")
	w.down("node-1")
	w.shows(vol, "volume-expansion-controller-vol-1 @node-2 any")
	require.EqualValues(t, 2, w.tickets(vol)["volume-expansion-controller-vol-1"].Generation)
	w.attached(v, "node-2")
	w.ready("node-1")
	w.stays(vol)
	w.status(&v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0")}, map[string]any{"currentSize": "20"})
	w.shows(vol)
}

// newEviction is a world with a detached volume that has its ticket, since node-1 is to be emptied.
func newEviction(t *testing.T) (*world, *v1beta2.Volume) {
	t.Helper()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.start()
	w.spec(&v1beta2.Node{ObjectMeta: w.meta("node-1")}, map[string]any{"evictionRequested": true})
	w.shows(vol, "volume-eviction-controller-vol-1 @node-1 any")
	return w, v
}

func TestEvictionAttachesADetachedVolumeUntilNothingIsLeft(t *testing.T) {
	t.Parallel()
	w, v := newEviction(t)
	w.attached(v, "node-1")
	w.stays(vol)
	w.delete(&v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-node-1")})
	w.shows(vol)

	disk := w.meta("node-2")
	w.spec(&v1beta2.Node{ObjectMeta: disk}, map[string]any{"disks": map[string]any{"fast": map[string]any{"evictionRequested": true}}})
	w.status(&v1beta2.Node{ObjectMeta: disk}, map[string]any{
		"diskStatus": map[string]any{"fast": map[string]any{"diskUUID": "disk-of-node-2"}}})
	w.detached(v)
	w.shows(vol, "volume-eviction-controller-vol-1 @node-2 any")
}

// A replica that is being deleted needs a running engine, but not while its node is down.
func TestEvictionAttachesAgainOnceTheNodeOfALeavingReplicaIsBack(t *testing.T) {
	t.Parallel()
	w, v := newEviction(t)
	leaving := &v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-node-1")}
	finalizers := func(list string) {
		body := []byte(`{"metadata":{"finalizers":` + list + `}}`)
		require.NoError(t, w.admin.Patch(t.Context(), leaving, client.RawPatch("application/merge-patch+json", body)))
	}
	finalizers(`["` + v1beta2.Finalizer + `"]`)
	w.delete(leaving)
	w.shows(vol, "volume-eviction-controller-vol-1 @node-2 any")
	w.down("node-1")
	w.attached(v, "node-2")
	w.detached(v)
	w.shows(vol)
	w.ready("node-1")
	w.shows(vol, "volume-eviction-controller-vol-1 @node-2 any")
	finalizers("null")
	w.shows(vol)
}

func TestOfflineRebuildingYieldsToAPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.start()
	w.spec(&v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-node-1")}, map[string]any{"failedAt": "2026-09-01T01:00:00Z"})
	w.stays(vol)
	w.setting(setting.OfflineRebuilding, "true")
	w.shows(vol, "volume-rebuilding-controller-vol-1 @node-2 any")
	w.attached(v, "node-2")
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-3")
	w.shows(vol, "csi-1 @node-3")
	w.drop(vol, "csi-1")
	w.detached(v)
	w.shows(vol, "volume-rebuilding-controller-vol-1 @node-2 any")
	w.spec(&v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-node-1")}, map[string]any{"failedAt": nil})
	w.shows(vol)
}

func TestACloneHoldsBothVolumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source := w.volume(vol, nil)
	w.start()
	target := w.volume("copy", func(s *v1beta2.VolumeSpec) { s.DataSource = "snap://vol-1/s" })
	w.shows("copy", "volume-clone-controller-copy @node-1 true")
	w.stays(vol)
	w.attached(target, "node-1")
	w.shows(vol, "volume-clone-controller-copy @node-1 any")
	w.attached(source, "node-2")
	w.shows(vol, "volume-clone-controller-copy @node-2 any")
	w.status(target, map[string]any{"cloneStatus": map[string]any{"state": "completed"}})
	w.shows("copy")
	w.shows(vol)
}

func TestACloneThatIsDeletedFreesItsSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.start()
	target := w.volume("copy", func(s *v1beta2.VolumeSpec) { s.DataSource = "vol://vol-1" })
	w.attached(target, "node-1")
	w.shows(vol, "volume-clone-controller-copy @node-1 any")
	w.delete(target)
	w.shows(vol)
}

func TestAnExportHoldsItsVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.start()
	source := &v1beta2.BackingImageDataSource{ObjectMeta: w.meta("image"), Spec: v1beta2.BackingImageDataSourceSpec{
		SourceType: "export-from-volume", Parameters: map[string]string{"volume-name": vol},
	}}
	w.create(source)
	w.shows(vol, "bim-ds-controller-image @node-1 any")
	w.status(source, map[string]any{"currentState": "in-progress"})
	w.stays(vol)
	w.status(source, map[string]any{"currentState": "ready"})
	w.shows(vol)
}

// A11.
func TestPodsOfASharedVolumeAreSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, func(s *v1beta2.VolumeSpec) { s.AccessMode = "rwx" })
	w.start()
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-3")
	w.shows(vol, "csi-1 @node-3", "share-manager-controller-vol-1 @ false")
	w.event("ShareManagerMissing")
	share := &v1beta2.ShareManager{ObjectMeta: w.meta(vol)}
	w.create(share)
	w.status(share, map[string]any{"ownerID": "node-2"})
	w.shows(vol, "csi-1 @node-3", "share-manager-controller-vol-1 @node-2 false")
	w.put(vol, "csi-2", v1beta2.AttacherCSI, "node-1")
	w.status(share, map[string]any{"ownerID": "node-1"})
	w.shows(vol, "csi-1 @node-3", "csi-2 @node-1", "share-manager-controller-vol-1 @node-1 false")
	w.drop(vol, "csi-1")
	w.shows(vol, "csi-2 @node-1", "share-manager-controller-vol-1 @node-1 false")
	w.drop(vol, "csi-2")
	w.shows(vol)
}

// A8: the pod's node is down, and all replicas failed.
func TestAFaultedVolumeWithoutAServableTicketIsSalvaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-3")
	w.attached(v, "node-3")
	w.start()
	replicas := func(failedAt any) {
		for _, node := range []string{"node-1", "node-2"} {
			w.spec(&v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-" + node)}, map[string]any{"failedAt": failedAt})
		}
	}
	replicas("2026-09-01T01:00:00Z")
	w.status(v, map[string]any{"robustness": v1beta2.VolumeRobustnessFaulted})
	w.stays(vol)
	w.detached(v)
	w.status(v, map[string]any{"robustness": v1beta2.VolumeRobustnessFaulted})
	w.down("node-3")
	w.shows(vol, "csi-1 @node-3", "salvage-controller-vol-1 @ false")
	replicas(nil)
	w.status(v, map[string]any{"robustness": v1beta2.VolumeRobustnessUnknown})
	w.shows(vol, "csi-1 @node-3", "salvage-controller-vol-1 @node-1 false")
	w.attached(v, "node-1")
	w.shows(vol, "csi-1 @node-3")
}

func TestAPodThatComesBackNeedsNoSalvage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-3")
	w.down("node-3")
	w.status(v, map[string]any{"robustness": v1beta2.VolumeRobustnessFaulted})
	w.start()
	w.shows(vol, "csi-1 @node-3", "salvage-controller-vol-1 @node-1 false")
	w.ready("node-3")
	w.shows(vol, "csi-1 @node-3")
}

// A15.
func TestTicketsEndWithTheirOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	snapshot := &v1beta2.Snapshot{ObjectMeta: w.meta("s"), Spec: v1beta2.SnapshotSpec{Volume: vol}}
	snapshot.Labels = map[string]string{v1beta2.LabelVolume: vol}
	w.create(snapshot)
	backup := &v1beta2.Backup{ObjectMeta: w.meta("b")}
	w.create(backup)
	w.put(vol, "snapshot-controller-s", v1beta2.AttacherSnapshot, "node-1", v1beta2.TicketOwnerKind, ticket.KindSnapshot,
		v1beta2.TicketOwnerName, "s", v1beta2.TicketOwnerUID, string(snapshot.UID))
	w.put(vol, "backup-controller-b", v1beta2.AttacherBackup, "node-1")
	w.put(vol, "longhorn-ui", v1beta2.AttacherLonghornAPI, "node-1")
	w.start()
	w.stays(vol)
	w.delete(snapshot)
	w.shows(vol, "backup-controller-b @node-1", "longhorn-ui @node-1")
	w.event("TicketOwnerGone")
	w.delete(backup)
	w.shows(vol, "longhorn-ui @node-1")
}

func TestAnOwnerThatWasDeletedWhileTheControllerWasDownIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.put(vol, "snapshot-controller-s", v1beta2.AttacherSnapshot, "node-1")
	w.put(vol, "mine", v1beta2.AttacherLonghornAPI, "node-1", v1beta2.TicketOwnerKind, ticket.KindVolume, v1beta2.TicketOwnerName, vol,
		v1beta2.TicketOwnerUID, "another")
	w.put(vol, "csi-pod", v1beta2.AttacherCSI, "node-1")
	w.start()
	w.shows(vol, "csi-pod @node-1")
}

func TestAPodsTicketEndsWithItsKubernetesAttachment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	name := "csi-" + w.namespace
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: v1beta2.CSIDriver, NodeName: "node-1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("pv")},
	}}
	w.create(a)
	w.put(vol, name, v1beta2.AttacherCSI, "node-1", v1beta2.TicketOwnerKind, ticket.KindKubernetesAttachment,
		v1beta2.TicketOwnerName, name, v1beta2.TicketOwnerUID, string(a.UID))
	w.start()
	w.stays(vol)
	w.delete(a)
	w.shows(vol)
}

func TestATicketEndsExactlyAtItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.start()
	until := time.Now().Add(2 * time.Second).Truncate(time.Second)
	w.put(vol, "by-hand", v1beta2.AttacherLonghornAPI, "node-1", v1beta2.TicketExpiresAt, until.UTC().Format(time.RFC3339))
	require.Eventually(t, func() bool { return len(w.tickets(vol)) == 0 }, patience, poll)
	require.WithinDuration(t, until, time.Now(), time.Second)
	require.False(t, time.Now().Before(until))
	w.event("TicketExpired")
}

func TestACordonedNodeLosesTicketsOfPeopleWhereWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.put(vol, "by-hand", v1beta2.AttacherLonghornAPI, "node-1")
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-1")
	w.start()
	w.cordon("node-1")
	w.stays(vol)
	w.setting(setting.DetachWhenCordoned, "true")
	w.shows(vol, "csi-1 @node-1")
	w.event("TicketOfCordonedNode")
}

func TestAVolumeThatIsStillToBeTakenOverIsLetAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.status(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(vol)}, map[string]any{"observedGeneration": nil})
	w.attached(v, "node-1")
	w.start()
	w.spec(v, map[string]any{"size": "20"})
	w.stays(vol)
	w.put(vol, ticket.UITicket, v1beta2.AttacherLonghornAPI, "node-1")
	w.shows(vol, "longhorn-ui @node-1", "volume-expansion-controller-vol-1 @node-1 any")
}

// ALL-1: what does not concern tickets writes nothing.
func TestWhatDoesNotConcernTicketsWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-1")
	w.attached(v, "node-1")
	p := w.start()
	w.status(v, map[string]any{"actualSize": 5})
	w.down("node-1")
	w.ready("node-1")
	w.stays(vol)
	require.Empty(t, p.Client.Writes())
}
