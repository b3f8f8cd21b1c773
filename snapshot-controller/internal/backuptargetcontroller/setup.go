package backuptargetcontroller

import (
	"context"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/filledfrom"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// workers is how many targets are read at once: a slow one keeps a worker for as long as its commands may take.
const workers = 16

// owner is the field manager of what this binary writes.
const owner = "snapshot-controller"

// The indexes find what describes a target by its name.
const (
	backupsByTarget = "backuptargetcontroller.backups"
	volumesByTarget = "backuptargetcontroller.volumes"
)

var indexes = []kube.Index{
	kube.IndexBy(&v1beta2.Backup{}, backupsByTarget, backuplist.TargetOfBackup),
	kube.IndexBy(&v1beta2.BackupVolume{}, volumesByTarget, backuplist.TargetOf),
	filledfrom.Index,
}

// Setup registers the controller of backup targets.
func Setup(ctx context.Context, rt *runkit.Runtime, stores *backupstores.Stores) error {
	if err := rt.AddIndexes(ctx, slices.Concat(volumecontext.Indexes, indexes)...); err != nil {
		return err
	}
	r := &reconciler{rt: rt, stores: stores, tried: map[string]backuplist.Tried{},
		filled: filledfrom.Reader{Client: rt.Client, Namespace: rt.Namespace}}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("backuptarget").WithOptions(queue.Options(workers)).
		For(&v1beta2.BackupTarget{}, builder.WithPredicates(kube.OnChange(facts))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of backup targets: %w", err)
	}
	removals, ended := backupstores.NewRemovals(ctx, rt)
	if err := rt.Manager.Add(removals); err != nil {
		return fmt.Errorf("adding the removals of BackupVolumes: %w", err)
	}
	err = ctrl.NewControllerManagedBy(rt.Manager).Named("backupvolume").WithOptions(queue.Options(workers)).
		For(&v1beta2.BackupVolume{}, builder.WithPredicates(kube.OnChange(volumeFacts))).
		Watches(&v1beta2.Backup{}, kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}.To(volumeOf), builder.WithPredicates(kube.OnEnd())).
		WatchesRawSource(ended).
		Complete(&ending{reconciler: r, removals: removals})
	if err != nil {
		return fmt.Errorf("setting up the controller of BackupVolumes: %w", err)
	}
	return nil
}

type ofVolumes struct{ deleting, objectOnly bool }

// volumeFacts are what the end of a BackupVolume depends on.
func volumeFacts(v *v1beta2.BackupVolume) ofVolumes {
	return ofVolumes{v.DeletionTimestamp != nil, backuplist.IsObjectOnly(v.Labels)}
}

// volumeOf is the BackupVolume that owns a Backup.
func volumeOf(_ context.Context, b client.Object) []string {
	for _, owner := range b.GetOwnerReferences() {
		if owner.Kind == kindBackupVolume {
			return []string{owner.Name}
		}
	}
	return nil
}

// facts are what the next reading depends on, beside the clock.
func facts(t *v1beta2.BackupTarget) int64 { return t.Generation }
