package backupexecutor

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// endedEvent is emitted about a Backup that has ended; there is no event about its progress.
func endedEvent(c backup.Change) []events.Event {
	switch c.State {
	case v1beta2.BackupCompleted:
		return []events.Event{{Type: corev1.EventTypeNormal, Reason: "BackupCompleted", Action: "TakeBackup",
			Note: "The backup is complete in the target, as " + c.URL + "."}}
	case v1beta2.BackupError:
		return []events.Event{{Type: corev1.EventTypeWarning, Reason: "BackupFailed", Action: "TakeBackup", Note: c.Error}}
	}
	return nil
}

// beganEvent is emitted about a Backup that an engine has begun to copy.
func beganEvent(engine string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "BackupBegan", Action: "TakeBackup",
		Note: fmt.Sprintf("Engine %s copies it.", engine)}
}
