package snapshotexecutor

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
)

// Changed lets pass what makes a poll of the volume's engine due at once: a snapshot that is to be taken, or removed, or
// that was deleted while it was asked for.
func Changed() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return asks(e.Object) != enginesnapshot.Nothing },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			after := asks(e.ObjectNew)
			return after != enginesnapshot.Nothing && after != asks(e.ObjectOld)
		},
	}
}

func asks(o client.Object) enginesnapshot.Wish {
	return enginesnapshot.WishOf(snapshotOf(o.(*v1beta2.Snapshot)))
}
