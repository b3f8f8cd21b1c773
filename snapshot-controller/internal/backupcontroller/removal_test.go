package backupcontroller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/simulator/enginecli"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/snapshot-controller/internal/backup"
)

// kept is a Backup that has its finalizer from the start.
func (w *world) kept() *v1beta2.Backup {
	b := &v1beta2.Backup{ObjectMeta: w.meta(name), Spec: v1beta2.BackupSpec{SnapshotName: snap}}
	b.Finalizers = []string{v1beta2.Finalizer}
	w.create(b)
	return b
}

// whole has a Backup that is complete in the target, and another backup of the volume beside it.
func (w *world) whole() *v1beta2.Backup {
	b := w.kept()
	require.NoError(w.t, enginecli.Put(w.target, enginecli.Stored{Name: "other", Volume: vol, Created: time.Now(), Text: "other"}))
	w.stored(b)
	return b
}

// fault makes the target misbehave; empty: it does not any more.
func (w *world) fault(text string) {
	w.t.Helper()
	path := filepath.Join(strings.TrimPrefix(w.target, "file://"), enginecli.FaultFile)
	if text == "" {
		require.NoError(w.t, os.Remove(path))
		return
	}
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

func TestOnlyTheDataOfTheDeletedBackupGoes(t *testing.T) {
	w := newWorld(t)
	w.start(cut.Point{}, nil)
	b := w.whole()
	w.delete(b)
	w.gone()
	require.Equal(t, []string{"other"}, w.inTarget())
}

// Kubernetes deletes what a deleted object owned: that is nobody's wish to be without the data. The same holds of an object whose place
// is another one now, or that has the label.
func TestDataStaysWhereNobodyAskedForItsEnd(t *testing.T) {
	for sentence, change := range map[string]func(*world){
		"its BackupVolume is gone": func(w *world) {
			require.NoError(w.t, status.MergeMetadata(w.t.Context(), w.admin, w.now(), map[string]any{"ownerReferences": []metav1.OwnerReference{
				{APIVersion: v1beta2.GroupVersion.String(), Kind: "BackupVolume", Name: "gone", UID: "1"}}}))
		},
		"the label": func(w *world) {
			require.NoError(w.t, status.MergeMetadata(w.t.Context(), w.admin, w.now(), map[string]any{"labels": map[string]string{
				v1beta2.LabelObjectOnly: "true"}}))
		},
		"the target has another URL": func(w *world) {
			require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, &v1beta2.BackupTarget{ObjectMeta: w.meta(v1beta2.BackupTargetDefault)},
				map[string]any{"backupTargetURL": "file://" + w.t.TempDir()}))
		},
		"the target is gone": func(w *world) {
			w.delete(&v1beta2.BackupTarget{ObjectMeta: w.meta(v1beta2.BackupTargetDefault)})
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b := w.whole()
			change(w)
			w.start(cut.Point{}, nil)
			w.delete(b)
			w.gone()
			require.Equal(t, []string{b.Name, "other"}, w.inTarget())
		})
	}
}

// A target that refuses keeps the object, which shows why, until it answers or a person leaves the data.
func TestATargetThatRefusesKeepsTheBackupWithItsReason(t *testing.T) {
	w := newWorld(t)
	w.start(cut.Point{}, nil)
	b := w.whole()
	w.fault("refuse: access denied")
	w.delete(b)
	w.shows(v1beta2.ReasonRemovalFailed)
	require.Equal(t, v1beta2.BackupDeleting, w.now().Status.State)
	require.Equal(t, []string{name, "other"}, w.inTarget())
	require.NoError(t, status.MergeMetadata(t.Context(), w.admin, w.now(), map[string]any{"labels": map[string]string{
		v1beta2.LabelObjectOnly: "true"}}))
	w.gone()
	require.Equal(t, []string{name, "other"}, w.inTarget())
}

// Another backup that came to the name of this one is not this one's data.
func TestABackupOfAnotherSnapshotIsNotRemoved(t *testing.T) {
	w := newWorld(t)
	w.start(cut.Point{}, nil)
	b := w.whole()
	require.NoError(t, enginecli.Put(w.target, enginecli.Stored{Name: name, Volume: vol, Snapshot: "snap-9", Created: time.Now(), Text: "x"}))
	w.delete(b)
	w.shows(v1beta2.ReasonRemovalFailed)
	require.Equal(t, []string{name, "other"}, w.inTarget())
}

// While a volume is filled from it, the data stays; then it goes.
func TestDataStaysWhileAVolumeIsFilledFromIt(t *testing.T) {
	w := newWorld(t)
	w.start(cut.Point{}, nil)
	b := w.whole()
	v := &v1beta2.Volume{ObjectMeta: w.meta("restored"), Spec: v1beta2.VolumeSpec{Size: 1000, NumberOfReplicas: 1,
		AccessMode: v1beta2.AccessModeReadWriteOnce, FromBackup: w.url(name)}}
	w.create(v)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateAttached, "restoreRequired": true})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		read := &v1beta2.Volume{}
		require.NoError(c, w.rt.Client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "restored"}, read))
		require.True(c, read.Status.RestoreRequired)
	}, patience, poll)
	w.delete(b)
	w.shows(v1beta2.ReasonRestoring)
	require.Equal(t, []string{name, "other"}, w.inTarget())
}

// What a failed copy left goes with its object, which goes by itself in time.
func TestAFailedBackupGoesInTimeWithWhatItLeft(t *testing.T) {
	w := newWorld(t)
	b := w.kept()
	require.NoError(t, enginecli.Put(w.target, enginecli.Stored{Name: "other", Volume: vol, Created: time.Now(), Text: "other"}))
	require.NoError(t, enginecli.Put(w.target, enginecli.Stored{Name: name, Volume: vol, Unfinished: true}))
	w.status(b, map[string]any{"state": v1beta2.BackupError, "volumeName": vol, "engineRun": "run-1", "error": "no space",
		"backupTargetName": v1beta2.BackupTargetDefault, "progressedAt": time.Now().Add(-25 * time.Hour).UTC().Format(time.RFC3339)})
	w.start(cut.Point{}, nil)
	w.gone()
	require.Equal(t, []string{"other"}, w.inTarget())
}

// The cache keeps what a stalled copy is recognized by.
func TestACopyWithoutProgressIsShown(t *testing.T) {
	w := newWorld(t)
	w.start(cut.Point{}, nil)
	b := w.backup()
	w.shows(v1beta2.ReasonWaitingForAttach)
	w.attach()
	w.status(b, map[string]any{"state": v1beta2.BackupInProgress, "volumeName": vol, "backupTargetName": v1beta2.BackupTargetDefault,
		"progress": 10, "progressedAt": time.Now().Add(-3 * time.Hour).UTC().Format(time.RFC3339)})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.True(c, backup.IsStalled(w.now()))
	}, patience, poll)
}
