package csisnapshot

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// end lets the content go: with what is behind it, or without.
func (w World) end() Verdict {
	if !w.Content.Deletes {
		return w.release(false)
	}
	if v, waits := w.endBackup(); waits {
		return v
	}
	if v, waits := w.endSnapshot(); waits {
		return v
	}
	if w.Content.Status != (Status{}) {
		return Verdict{Step: StepStatus, Outcome: OutcomeGone, Confirm: true}
	}
	return w.release(true)
}

// has reports whether the content answers for what it names: it was taken for it, or found.
func (c Content) has() bool { return c.dynamic() || c.Status.Handle != "" }

func (w World) endBackup() (Verdict, bool) {
	b := w.Backup
	switch {
	case b == nil || !w.Content.has():
		return Verdict{}, false
	case b.DeletionTimestamp == nil:
		return Verdict{Step: StepDeleteBackup, Outcome: OutcomeDeleting}, true
	case w.Snapshot != nil && v1beta2.IsBackupBegun(b):
		// Its snapshot is being read.
		return w.waits(OutcomeDeleting, b.DeletionTimestamp.Time, "the end of Backup "+b.Name, "it is still being copied"), true
	}
	return Verdict{}, false
}

// endSnapshot deletes the Snapshot. Its data goes as soon as it can; the content does not wait for that.
func (w World) endSnapshot() (Verdict, bool) {
	volume, _, _ := w.Content.Names()
	s := w.Snapshot
	switch {
	case s == nil || !w.Content.has() || s.Spec.Volume != volume || s.DeletionTimestamp != nil:
		return Verdict{}, false
	case len(w.Clones) > 0:
		return w.err(OutcomeDeleting, fmt.Sprintf("Snapshot %s cannot be deleted: clones share or copy its data: %s", s.Name,
			strings.Join(w.Clones, ", "))), true
	}
	return Verdict{Step: StepDeleteSnapshot, Outcome: OutcomeDeleting}, true
}

// release takes off what holds the content. With confirm it rests on nothing being left behind it.
func (w World) release(confirm bool) Verdict {
	switch c := w.Content; {
	case c.BeingCreated:
		return Verdict{Step: StepUnmark, Outcome: OutcomeGone, Confirm: confirm}
	case c.HasFinalizer:
		return Verdict{Step: StepRelease, Outcome: OutcomeGone, Confirm: confirm}
	}
	return Verdict{Step: StepNone, Outcome: OutcomeGone}
}
