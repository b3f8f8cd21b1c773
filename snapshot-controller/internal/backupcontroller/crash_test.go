package backupcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/snapshot-controller/internal/backup"
)

// scenario is the whole life of a Backup of a detached volume; its end must be the same wherever the controller dies.
func scenario(w *world) {
	b := w.backup()
	w.shows(v1beta2.ReasonWaitingForAttach)
	w.holds(true)
	w.attach()
	w.shows(v1beta2.ReasonReady)
	require.Equal(w.t, vol, w.now().Labels[v1beta2.LabelBackupVolume])
	w.status(b, map[string]any{"state": v1beta2.BackupInProgress, "volumeName": vol, "backupTargetName": v1beta2.BackupTargetDefault})
	w.holds(true)
	w.stored(b)
	w.holds(false)
	require.Equal(w.t, []string{name}, w.inTarget())
	w.delete(b)
	w.gone()
	require.Empty(w.t, w.inTarget(), "its data goes with it")
}

// deletedWhileCopied is a Backup that is deleted while an engine copies it: it stays, without a ticket, until that has ended.
func deletedWhileCopied(w *world) {
	b := w.backup()
	w.holds(true)
	w.attach()
	w.shows(v1beta2.ReasonReady)
	w.status(b, map[string]any{"state": v1beta2.BackupInProgress, "volumeName": vol, "backupTargetName": v1beta2.BackupTargetDefault})
	w.delete(b)
	w.shows(v1beta2.ReasonBackingUp)
	w.holds(false)
	w.stored(b)
	w.gone()
}

// ALL-2: whichever write of the controller is its last, before it is sent or after it was answered, the next process
// comes to the same end.
func TestTheEndIsTheSameWhereverTheControllerDies(t *testing.T) {
	for name, scenario := range map[string]func(*world){"to the end": scenario, "deleted while it is copied": deletedWhileCopied} {
		t.Run(name, func(t *testing.T) {
			writes := runCrash(t, scenario, cut.Point{})
			require.Positive(t, writes)
			for _, point := range cut.Points(writes) {
				t.Run(point.String(), func(t *testing.T) {
					t.Parallel()
					runCrash(t, scenario, point)
				})
			}
		})
	}
}

// runCrash runs the scenario, restarting the controller when it is cut, and returns how many writes the first process sent.
func runCrash(t *testing.T, scenario func(*world), point cut.Point) int {
	w := newWorld(t)
	next := cut.NewSuccession()
	p := w.start(point, next.Cut)
	next.Follow(func() {
		<-p.Ended()
		w.start(cut.Point{}, nil)
	})
	scenario(w)
	if point.Write > 0 {
		next.Wait(p.Stop)
	}
	return len(p.Client.Writes())
}

// What a person mends is seen at once; what waits for a person holds no ticket.
func TestWhatIsMendedLetsItGoOn(t *testing.T) {
	w := newWorld(t)
	target := &v1beta2.BackupTarget{ObjectMeta: w.meta(v1beta2.BackupTargetDefault)}
	w.delete(target)
	w.start(cut.Point{}, nil)
	w.backup()
	w.shows(v1beta2.ReasonTargetUnavailable)
	w.holds(false)
	w.create(&v1beta2.BackupTarget{ObjectMeta: w.meta(v1beta2.BackupTargetDefault),
		Spec: v1beta2.BackupTargetSpec{BackupTargetURL: w.target}})
	w.shows(v1beta2.ReasonWaitingForAttach)
	w.holds(true)
	w.delete(&v1beta2.Snapshot{ObjectMeta: w.meta(snap)})
	w.shows(v1beta2.ReasonSnapshotNotReady)
	w.holds(false)
	w.delete(&v1beta2.Volume{ObjectMeta: w.meta(vol)})
	b := w.now()
	require.NotNil(t, b)
	w.delete(b)
	w.gone()
}

// A cache that is behind shows the ticket, or its end, when the Backup is ended: it goes all the same, and so does the Backup.
func TestATicketThatShowsUpAfterTheEndGoes(t *testing.T) {
	w := newWorld(t)
	w.start(cut.Point{}, nil)
	b := w.backup()
	w.shows(v1beta2.ReasonWaitingForAttach)
	w.stored(b)
	w.holds(false)
	late := v1beta2.AttachmentTicket{ID: backup.TicketID(name), Type: v1beta2.AttacherBackup, NodeID: "node-1",
		Parameters: map[string]string{v1beta2.TicketOwnerKind: "Backup", v1beta2.TicketOwnerName: name}}
	require.NoError(t, status.MergeSpec(t.Context(), w.admin, &v1beta2.VolumeAttachment{ObjectMeta: w.meta(vol)},
		map[string]any{"attachmentTickets": map[string]any{late.ID: late}}))
	w.holds(false)
	w.delete(b)
	w.gone()
}
