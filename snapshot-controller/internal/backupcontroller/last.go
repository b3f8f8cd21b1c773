package backupcontroller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/backup"
)

// last reports about each volume which of its backups is the newest. It writes nothing else of a volume. A standby volume has the backups
// of another one: attach-controller states which is the newest.
type last struct {
	reader    client.Reader
	client    client.Client
	namespace string
}

// Reconcile implements reconcile.Reconciler.
func (l *last) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	v, err := lookup.Shared(ctx, l.reader, l.namespace, request.Name, &v1beta2.Volume{})
	if v == nil || err != nil || v.DeletionTimestamp != nil || v.Status.IsStandby {
		return ctrl.Result{}, err
	}
	var list v1beta2.BackupList
	err = lookup.ListShared(ctx, l.reader, l.namespace, &list, client.MatchingFields{byEnded: v1beta2.LabelValue(v.Name)})
	if err != nil {
		return ctrl.Result{}, err
	}
	backups := make([]*v1beta2.Backup, 0, len(list.Items))
	for i := range list.Items {
		backups = append(backups, &list.Items[i])
	}
	name, at := backup.Last(v, backups)
	if v.Status.LastBackup == name && v.Status.LastBackupAt == at {
		return ctrl.Result{}, nil
	}
	err = status.MergeStatus(ctx, l.client, v, map[string]any{"lastBackup": nilIfEmpty(name), "lastBackupAt": nilIfEmpty(at)},
		status.AtVersion())
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	log.FromContext(ctx).Info("last backup written", "volume", v.Name, "backup", name, "at", at)
	return ctrl.Result{}, nil
}

func nilIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// ofLast lets pass what is reported of a volume's last backup, and that a volume came.
func ofLast() builder.Predicates {
	return builder.WithPredicates(predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1beta2.Volume), e.ObjectNew.(*v1beta2.Volume)
			return was.UID != is.UID || was.Status.IsStandby != is.Status.IsStandby ||
				was.Status.LastBackup != is.Status.LastBackup || was.Status.LastBackupAt != is.Status.LastBackupAt
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	})
}

type ofEnds struct{ state, at string }

func endFacts(b *v1beta2.Backup) ofEnds { return ofEnds{b.Status.State, b.Status.BackupCreatedAt} }

// finishedOf is the volume that a finished Backup is of.
func finishedOf(_ context.Context, obj client.Object) []string {
	if b := obj.(*v1beta2.Backup); v1beta2.IsBackupEnded(b) {
		return []string{b.Status.VolumeName}
	}
	return nil
}
