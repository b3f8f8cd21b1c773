package backupcontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// finished makes a Backup that came to its end so many minutes from now.
func (w *world) finished(name, state string, minutes int) *v1beta2.Backup {
	w.t.Helper()
	b := &v1beta2.Backup{ObjectMeta: w.meta(name), Spec: v1beta2.BackupSpec{SnapshotName: snap}}
	w.create(b)
	w.status(b, map[string]any{"state": state, "volumeName": vol, "url": "nfs://server/path?backup=" + name,
		"backupCreatedAt": time.Now().Add(time.Duration(minutes) * time.Minute).UTC().Format(time.RFC3339)})
	return b
}

// last waits until the volume reports that this is its last backup.
func (w *world) last(name string) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		v := &v1beta2.Volume{}
		require.NoError(c, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: vol}, v))
		require.Equal(c, name, v.Status.LastBackup)
		require.Equal(c, name == "", v.Status.LastBackupAt == "")
	}, patience, poll)
}

// A volume states which of its backups is the newest, also if that changed while no controller ran, and if a person wrote
// over it; what is there before the process is read once.
func TestAVolumeSaysItsLastBackup(t *testing.T) {
	w := newWorld(t)
	w.finished("first", v1beta2.BackupCompleted, 1)
	w.start(cut.Point{}, nil)
	w.last("first")
	second := w.finished("second", v1beta2.BackupCompleted, 2)
	w.last("second")
	w.finished("failed", v1beta2.BackupError, 3)
	w.status(&v1beta2.Volume{ObjectMeta: w.meta(vol)}, map[string]any{"lastBackup": "other"})
	w.last("second")
	w.delete(second)
	w.last("first")
}

// A standby volume has the backups of another volume: what is reported of its last one stays, until it is activated.
func TestTheLastBackupOfAStandbyVolumeIsNotOurs(t *testing.T) {
	w := newWorld(t)
	v := &v1beta2.Volume{ObjectMeta: w.meta(vol)}
	w.status(v, map[string]any{"isStandby": true, "lastBackup": "of-another", "lastBackupAt": "2026-08-01T09:00:00Z"})
	w.finished("first", v1beta2.BackupCompleted, 1)
	p := w.start(cut.Point{}, nil)
	require.Never(t, func() bool { return len(p.Client.Writes()) > 0 }, 500*time.Millisecond, 50*time.Millisecond)
	w.last("of-another")
	w.status(v, map[string]any{"isStandby": false})
	w.last("first")
}
