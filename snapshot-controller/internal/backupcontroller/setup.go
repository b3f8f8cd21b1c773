package backupcontroller

import (
	"context"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// workers is how many backups are decided on at once; each has its own object and its own ticket.
const workers = 4

// Setup registers the controller of backups, and the one that states which is a volume's last.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values], stores *backupstores.Stores) error {
	if err := rt.AddIndexes(ctx, slices.Concat(volumecontext.Indexes, indexes)...); err != nil {
		return err
	}
	removals, ended := backupstores.NewRemovals(ctx, rt)
	if err := rt.Manager.Add(removals); err != nil {
		return fmt.Errorf("adding the removals of backups: %w", err)
	}
	r := &reconciler{
		observer: observer{reader: rt.Client, uncached: rt.Uncached, namespace: rt.Namespace, clock: rt.Clock, settings: settings,
			removals: removals},
		client: rt.Client, recorder: rt.Recorder, stores: stores, removals: removals, observe: rt.Observe,
	}
	w := watches{Mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("backup").
		For(&v1beta2.Backup{}).
		WatchesRawSource(ended).
		WithOptions(queue.Options(workers))
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of backups: %w", err)
	}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("lastbackup").WithOptions(queue.Options(1)).
		For(&v1beta2.Volume{}, ofLast()).
		Watches(&v1beta2.Backup{}, w.To(finishedOf), changed(endFacts)).
		Complete(&last{reader: rt.Client, client: rt.Client, namespace: rt.Namespace})
	if err != nil {
		return fmt.Errorf("setting up the controller of volumes' last backups: %w", err)
	}
	return nil
}
