package enginepoll_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginepoll"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	shared "drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

// copying is quick, with a short post-election delay.
var copying = enginepoll.Options{Period: 100 * time.Millisecond, Busy: 20 * time.Millisecond, RebuildStallTimeout: time.Hour,
	Snapshots: times, PostElectionDelay: electionDelay, Copying: threeAndFive}

// threeAndFive are settings of v1.
func threeAndFive(_ context.Context, dataEngine string) (enginepoll.Copying, error) {
	if dataEngine != v1beta2.DataEngineV1 {
		return enginepoll.Copying{Backup: 30, Restore: 50}, nil
	}
	return enginepoll.Copying{Backup: 3, Restore: 5}, nil
}

const backupName, snapName = "backup-1", "snap-1"

// newBackups is a world with a snapshot and a target. The test plays snapshot-controller.
func newBackups(t *testing.T) *snapshots {
	t.Helper()
	w := newSnapshots(t, copying)
	w.described(snapName)
	w.create(&v1beta2.BackupTarget{ObjectMeta: w.meta(v1beta2.BackupTargetDefault),
		Spec: v1beta2.BackupTargetSpec{BackupTargetURL: "nfs://server/path"}})
	return w
}

// wanted makes a Backup and approves it.
func (w *snapshots) wanted() {
	w.t.Helper()
	b := &v1beta2.Backup{ObjectMeta: w.meta(backupName), Spec: v1beta2.BackupSpec{SnapshotName: snapName, BackupMode: "full"}}
	b.Labels, b.Finalizers = map[string]string{v1beta2.LabelBackupVolume: "vol"}, []string{v1beta2.Finalizer}
	w.create(b)
	c := v1beta2.Condition{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady}
	require.NoError(w.t, shared.Apply(w.t.Context(), w.admin, b, "snapshot-controller",
		map[string]any{"conditions": shared.ConditionsField([]v1beta2.Condition{c})}))
}

// ends waits until the Backup is in a state.
func (w *snapshots) ends(state string) *v1beta2.Backup {
	w.t.Helper()
	b := &v1beta2.Backup{}
	w.eventually("the backup never came to be "+state, func() bool {
		err := w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: backupName}, b)
		return err == nil && b.Status.State == state
	})
	return b
}

func (w *snapshots) copied(times int) {
	w.t.Helper()
	w.server.do(func() { require.Len(w.t, w.server.copies.orders, times) })
}

func (w *snapshots) target() *v1beta2.Condition {
	w.t.Helper()
	target := &v1beta2.BackupTarget{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: v1beta2.BackupTargetDefault}, target))
	return conditions.Get(target.Status.Conditions, v1beta2.BackupTargetAvailable)
}

func TestABackupIsTakenAndItsTargetFound(t *testing.T) {
	w := newBackups(t)
	w.start()
	w.wanted()
	b := w.ends(v1beta2.BackupCompleted)
	w.copied(1)
	w.server.do(func() {
		order := w.server.copies.orders[0]
		require.Equal(t, "nfs://server/path", order.GetBackupTarget())
		require.Equal(t, snapName, order.GetSnapshotName())
		require.Equal(t, map[string]string{"backup-mode": "full"}, order.GetParameters())
		require.Equal(t, int32(3), order.GetConcurrentLimit(), "backup-concurrent-limit")
	})
	require.Equal(t, "nfs://server/path?backup="+backupName, b.Status.URL)
	require.Equal(t, 100, b.Status.Progress)
	require.Equal(t, "4096", b.Status.Size)
	require.Equal(t, "vol", b.Status.VolumeName)
	require.Equal(t, v1beta2.BackupTargetDefault, b.Status.BackupTargetName)
	require.NotEmpty(t, b.Status.EngineRun)
	w.eventually("no one reports that the target was reached",
		func() bool { c := w.target(); return c != nil && c.Reason == v1beta2.ReasonReached })
}

// What a restore needs of the volume beside its data goes along with a backup.
func TestABackupReportsWhatItsVolumeIs(t *testing.T) {
	w := newBackups(t)
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + w.namespace}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: "fast", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "driver.longhorn.io",
			VolumeHandle: "vol"}}}}
	w.create(pv)
	t.Cleanup(func() { _ = w.admin.Delete(context.Background(), pv) })
	w.mergeSpec(w.volume, map[string]any{"accessMode": "rwx"})
	w.status(w.volume, map[string]any{"kubernetesStatus": map[string]any{"pvName": pv.Name, "pvcName": "data", "namespace": "app"}})
	w.start()
	w.wanted()
	b := w.ends(v1beta2.BackupCompleted)
	want := map[string]string{"longhorn.io/volume-access-mode": "rwx",
		"KubernetesStatus": `{"namespace":"app","pvName":"` + pv.Name + `","pvcName":"data"}`}
	require.Equal(t, want, b.Status.Labels)
	w.server.do(func() {
		require.Equal(t, want, w.server.copies.orders[0].GetLabels())
		require.Equal(t, "fast", w.server.copies.orders[0].GetStorageClassName())
	})
}

// An engine is given what the Secret of the target has, for a backup as for a restore; without the Secret it is not asked.
func TestABackupToATargetWithCredentials(t *testing.T) {
	w := newBackups(t)
	target := &v1beta2.BackupTarget{ObjectMeta: w.meta(v1beta2.BackupTargetDefault)}
	w.mergeSpec(target, map[string]any{"backupTargetURL": "cifs://nas/share", "credentialSecret": "nas"})
	w.start()
	w.wanted()
	w.eventually("no one reports that the Secret is missing", func() bool {
		c := w.target()
		return c != nil && c.Reason == v1beta2.ReasonRefused && strings.Contains(c.Message, "needs the Secret nas, which does not exist")
	})
	w.polls(3)
	w.copied(0)
	w.create(&corev1.Secret{ObjectMeta: w.meta("nas"),
		Data: map[string][]byte{"CIFS_USERNAME": []byte("backup"), "CIFS_PASSWORD": []byte("s3cret"), "note": []byte("x")}})
	b := w.ends(v1beta2.BackupCompleted)
	w.copied(1)
	w.server.do(func() {
		require.Equal(t, []string{"CIFS_USERNAME=backup", "CIFS_PASSWORD=s3cret"}, w.server.copies.orders[0].GetEnvs())
	})
	require.NotContains(t, fmt.Sprintf("%+v %+v", b, w.target()), "s3cret")
}

func (w *snapshots) mergeSpec(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, shared.MergeSpec(w.t.Context(), w.admin, obj, fields))
}

func TestABackupThatIsRefusedSaysWhy(t *testing.T) {
	w := newBackups(t)
	w.server.do(func() { w.server.refuses["SnapshotBackup"] = status.Error(codes.Unknown, "no route to nas") })
	w.start()
	w.wanted()
	require.Contains(t, w.ends(v1beta2.BackupError).Status.Error, "no route to nas")
	w.eventually("no one reports that the target refused",
		func() bool { c := w.target(); return c != nil && c.Reason == v1beta2.ReasonRefused })
}

// A real v1 engine that cannot mount its target refuses the call, and reports the backup with the error.
func TestABackupThatIsRefusedAndReportedShowsThatItsTargetCannotBeReached(t *testing.T) {
	w := newBackups(t)
	w.server.do(func() { w.server.copies.unreached = "cannot mount nfs" })
	w.start()
	w.wanted()
	require.Contains(t, w.ends(v1beta2.BackupError).Status.Error, "cannot mount nfs")
	w.eventually("no one reports that the target refused",
		func() bool { c := w.target(); return c != nil && c.Reason == v1beta2.ReasonRefused })
}

// What stands against the request alone is reported on the Backup, once, and the request is sent when it is gone.
func TestABackupThatIsNotRequestedSaysWhy(t *testing.T) {
	w := newBackups(t)
	w.mergeSpec(w.volume, map[string]any{"encrypted": true})
	w.status(&v1beta2.Engine{ObjectMeta: w.meta(name)}, map[string]any{"currentImage": engineImage})
	w.start()
	w.wanted()
	w.eventually("no one reports why the engine is not asked", func() bool { return w.emittedAbout(backupName, "BackupHeld") })
	w.copied(0)
	w.image(12)
	require.Equal(t, "enabled", w.ends(v1beta2.BackupCompleted).Status.Labels["volume-encrypted"])
	w.copied(1)
}

// What the engine reports of its replicas waits for an answer about a backup a moment only, and the connection is kept meanwhile.
func TestAQuestionAboutABackupThatHangsDelaysNoModes(t *testing.T) {
	w := newBackups(t)
	w.server.has(addresses[second], ptypes.ReplicaMode_RW)
	w.maps(first, addresses[first], second, addresses[second])
	w.server.do(func() { w.server.copies.hangs = true })
	w.start()
	w.wanted()
	w.eventually("no one asks about the backup", func() bool { return len(w.server.called("SnapshotBackupStatus")) > 0 })
	w.server.do(func() { w.server.members[1].mode = ptypes.ReplicaMode_ERR })
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeERR})
	w.server.do(func() { require.LessOrEqual(t, w.server.copies.waits, 2*time.Second) })
	w.server.do(func() { w.server.copies.hangs = false })
	w.ends(v1beta2.BackupCompleted)
	w.copied(1)
}

// A v1 server answers OK where the replica did not answer it: the copy continues all the same.
func TestACopyOutlastsQuestionsThatDoNotReachItsReplica(t *testing.T) {
	w := newBackups(t)
	w.server.do(func() { w.server.copies.deaf = 10 })
	w.start()
	w.wanted()
	require.Empty(t, w.ends(v1beta2.BackupCompleted).Status.Error)
	w.copied(1)
}

// The node of the replica that copies is lost: the engine does not list the replica as usable, and the server finds no one to ask.
func TestABackupEndsWithTheReplicaThatCopiesIt(t *testing.T) {
	w := newBackups(t)
	w.server.has(addresses[second], ptypes.ReplicaMode_RW)
	w.maps(first, addresses[first], second, addresses[second])
	w.server.do(func() { w.server.copies.deaf = 1 << 30 })
	w.start()
	w.wanted()
	w.ends(v1beta2.BackupInProgress)
	w.server.do(func() { w.server.members[0].mode, w.server.copies.hangs = ptypes.ReplicaMode_ERR, true })
	require.Contains(t, w.ends(v1beta2.BackupError).Status.Error, "does not use the replica at tcp://"+addresses[first]+" any more")
	asked := len(w.server.called("SnapshotBackupStatus"))
	w.polls(3)
	require.Len(t, w.server.called("SnapshotBackupStatus"), asked)
	w.copied(1)
}

// SNP-2, for backups: the answer is lost, and the backup is found.
func TestABackupWhoseAnswerIsLostIsFound(t *testing.T) {
	w := newBackups(t)
	w.server.do(func() { w.server.work.lost = map[string]int{"SnapshotBackup": 1} })
	w.start()
	w.wanted()
	w.ends(v1beta2.BackupCompleted)
	w.copied(1)
}

// newV2Backups is the same world with a v2 engine over two replicas.
func newV2Backups(t *testing.T) *snapshots {
	t.Helper()
	w := newBackups(t)
	w.server.has(addresses[second], ptypes.ReplicaMode_RW)
	w.server.do(func() {
		w.server.v2 = true
		w.server.members[0].name, w.server.members[1].name = first, second
	})
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2, "disableFrontend": true,
		"replicaAddressMap": map[string]any{first: addresses[first], second: addresses[second]}})
	return w
}

func TestABackupOfAV2EngineIsFollowedToItsEnd(t *testing.T) {
	w := newV2Backups(t)
	w.start()
	w.wanted()
	w.ends(v1beta2.BackupCompleted)
	w.copied(1)
}

// A v2 engine finds no backup without the address of a replica: each of its replicas is asked.
func TestABackupOfAV2EngineWhoseAnswerIsLostIsFoundAtTheReplicaThatCopies(t *testing.T) {
	w := newV2Backups(t)
	w.server.do(func() { w.server.work.lost = map[string]int{"SnapshotBackup": 1} })
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeRW})
	w.wanted()
	b := w.ends(v1beta2.BackupCompleted)
	require.Equal(t, "tcp://"+addresses[first], b.Status.ReplicaAddress)
	w.copied(1)
}

// A v2 engine may copy what none of its replicas reports any more: it is not requested to do it a second time.
func TestAV2EngineWhoseAnswerIsLostIsNotRequestedTwice(t *testing.T) {
	w := newV2Backups(t)
	w.server.do(func() {
		w.server.work.lost = map[string]int{"SnapshotBackup": 1}
		w.server.refuses["SnapshotBackupStatus"] = status.Error(codes.Internal, "failed to get backup status: cannot find backup")
	})
	w.start()
	w.wanted()
	require.Contains(t, w.ends(v1beta2.BackupError).Status.Error, "is not requested a second time")
	w.polls(3)
	w.copied(1)
}

// ALL-2, SNP-2: whichever write is the process's last, its successor comes to the same end with one call.
func TestOneBackupWhereverThePrecedingProcessDies(t *testing.T) {
	w := newBackups(t)
	p := w.start()
	w.wanted()
	w.ends(v1beta2.BackupCompleted)
	writes := len(p.client.Writes())
	require.Positive(t, writes)
	for _, at := range cut.Points(writes) {
		t.Run(at.String(), func(t *testing.T) {
			w := newBackups(t)
			end := w.followed(at)
			w.wanted()
			w.ends(v1beta2.BackupCompleted)
			w.copied(1)
			end()
		})
	}
}

// A volume that can be written to is not reverted; one that cannot is, once, also when the answer is lost.
func TestAnEngineRevertsInMaintenanceOnly(t *testing.T) {
	const request = snapName + "@2026-08-01T12:00:00Z"
	w := newBackups(t)
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	require.NoError(t, shared.MergeSpec(t.Context(), w.admin, w.volume,
		map[string]any{"revertToSnapshot": snapName, "revertRequestedAt": "2026-08-01T12:00:00Z"}))
	w.spec(map[string]any{"requestedRevert": request})
	w.polls(3)
	w.server.do(func() { require.Empty(t, w.server.copies.reverted) })
	require.NoError(t, shared.MergeSpec(t.Context(), w.admin, w.volume, map[string]any{"disableFrontend": true}))
	w.status(w.volume, map[string]any{"frontendDisabled": true})
	w.spec(map[string]any{"disableFrontend": true})
	e := w.until("it is not reverted", func(e *v1beta2.Engine) bool { return e.Status.LastRevert == request })
	require.Empty(t, e.Status.LastRevertError)
	w.polls(3)
	w.server.do(func() { require.Equal(t, []string{snapName}, w.server.copies.reverted) })

	require.NoError(t, shared.MergeSpec(t.Context(), w.admin, w.volume, map[string]any{"revertToSnapshot": "none"}))
	w.spec(map[string]any{"requestedRevert": "none@2026-08-01T12:00:00Z"})
	w.until("the refusal is not reported", func(e *v1beta2.Engine) bool { return e.Status.LastRevertError != "" })
}
