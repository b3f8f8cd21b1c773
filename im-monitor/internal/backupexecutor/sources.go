package backupexecutor

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/shared/api/v1beta2"
)

// Changed lets pass what makes a poll of the volume's engine due at once: a Backup that was approved.
func Changed() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return wants(e.Object) },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool { return wants(e.ObjectNew) && !wants(e.ObjectOld) },
	}
}

func wants(o client.Object) bool { return backup.Wants(backupOf(o.(*v1beta2.Backup))) }
