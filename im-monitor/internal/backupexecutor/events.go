package backupexecutor

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// endedEvent is reported about a Backup that came to its end; nothing is reported of what is under way.
func endedEvent(c backup.Change) []events.Event {
	switch c.State {
	case v1beta2.BackupCompleted:
		return []events.Event{{Type: corev1.EventTypeNormal, Reason: "BackupCompleted", Action: "TakeBackup",
			Note: "It is whole in the target, as " + c.URL + "."}}
	case v1beta2.BackupError:
		return []events.Event{{Type: corev1.EventTypeWarning, Reason: "BackupFailed", Action: "TakeBackup", Note: c.Error}}
	}
	return nil
}

// beganEvent is reported about a Backup that an engine has begun to copy.
func beganEvent(engine string) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "BackupBegan", Action: "TakeBackup",
		Note: fmt.Sprintf("Engine %s copies it.", engine)}
}
