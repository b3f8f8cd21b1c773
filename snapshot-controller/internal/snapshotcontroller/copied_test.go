package snapshotcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// backup asks for one, and plays who approves it: from then on an engine may copy.
func (w *world) backup(name, of string) *v1beta2.Backup {
	w.t.Helper()
	b := &v1beta2.Backup{ObjectMeta: w.meta(name), Spec: v1beta2.BackupSpec{SnapshotName: of}}
	w.create(b)
	w.status(b, map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{
		{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady},
	})})
	return b
}

// A snapshot that is being copied stays, and holds no ticket, until the copy ended; its condition names what it waits for.
func TestASnapshotIsNotRemovedWhileABackupCopiesIt(t *testing.T) {
	w := newWorld(t)
	w.volume(vol)
	w.attach(vol, "snap-1")
	p := w.start()
	s := w.snapshot("snap-1", vol)
	w.ready("snap-1", v1beta2.ReasonReady)
	first, second := w.backup("backup-1", "snap-1"), w.backup("backup-2", "snap-1")
	w.status(first, map[string]any{"state": v1beta2.BackupInProgress})

	w.delete(s)
	waiting := w.removal("snap-1", v1beta2.ReasonBackingUp)
	require.Contains(t, waiting.Status.Conditions[len(waiting.Status.Conditions)-1].Message, "backup-1, backup-2")
	w.quiet(p)
	require.NotContains(t, w.tickets(vol), snapshot.TicketID("snap-1"))

	w.status(first, map[string]any{"state": v1beta2.BackupCompleted})
	w.removal("snap-1", v1beta2.ReasonBackingUp)
	w.delete(second)
	w.removal("snap-1", v1beta2.ReasonRequested)
	w.lists(vol)
	w.gone("snap-1")
}
