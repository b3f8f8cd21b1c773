package enginepoll

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// snapshotEvent is emitted about a Snapshot when a condition of it changed.
func snapshotEvent(c v1beta2.Condition) events.Event {
	kind := corev1.EventTypeNormal
	if c.Reason == v1beta2.ReasonFailed || c.Type == v1beta2.SnapshotRemovalFailed {
		kind = corev1.EventTypeWarning
	}
	return events.Event{Type: kind, Reason: c.Reason, Action: "LookAtSnapshots", Note: c.Message}
}

// mirroredEvent is reported about an Engine that has snapshots which had no objects: so many were created, among those of these names.
func mirroredEvent(created int, names []string) events.Event {
	note := fmt.Sprintf("The engine has snapshot %s, which had no Snapshot: one was created.", names[0])
	if len(names) > 1 {
		note = fmt.Sprintf("The engine has %d snapshots that had no Snapshot, from %s to %s: %d were created.", len(names), names[0],
			names[len(names)-1], created)
	}
	return events.Event{Type: corev1.EventTypeNormal, Reason: "SnapshotFound", Action: "LookAtSnapshots", Note: note}
}

// snapshotsFailedEvent is emitted about an Engine on which a call failed.
func snapshotsFailedEvent(op string, err error, names []string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: failures[op], Action: op, Note: fmt.Sprintf("Snapshots %q: %v", names, err)}
}

// backupEndedEvent is emitted about a Backup that has ended; there is no event about its progress.
func backupEndedEvent(c backup.Change) []events.Event {
	switch c.State {
	case v1beta2.BackupCompleted:
		return []events.Event{{Type: corev1.EventTypeNormal, Reason: "BackupCompleted", Action: "TakeBackup",
			Note: "The backup is complete in the target, as " + c.URL + "."}}
	case v1beta2.BackupError:
		return []events.Event{{Type: corev1.EventTypeWarning, Reason: "BackupFailed", Action: "TakeBackup", Note: c.Error}}
	}
	return nil
}

// backupBeganEvent is emitted about a Backup that an engine has begun to copy.
func backupBeganEvent(engine string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "BackupBegan", Action: "TakeBackup",
		Note: fmt.Sprintf("Engine %s copies it.", engine)}
}

// backupHeldEvent is emitted about a Backup that is not requested from an engine, for a reason that stays.
func backupHeldEvent(engine, why string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "BackupHeld", Action: "TakeBackup",
		Note: fmt.Sprintf("Engine %s is not asked for it yet: %s. It goes on by itself once that has changed.", engine, why)}
}
