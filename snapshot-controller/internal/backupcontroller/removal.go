package backupcontroller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/enginecommand"
	"drover.dev/drover/snapshot-controller/internal/filledfrom"
	"drover.dev/drover/snapshot-controller/internal/uninstall"
)

// readRemoval reads what the end of the data of a Backup depends on. from reads the Backup's owner.
func (o observer) readRemoval(ctx context.Context, w *backup.World, from client.Reader) (err error) {
	b := w.Backup
	w.TargetName = cmp.Or(backuplist.TargetOfBackup(b), v1beta2.BackupTargetDefault)
	if w.Target, err = lookup.Get(ctx, from, o.namespace, w.TargetName, &v1beta2.BackupTarget{}); err != nil {
		return err
	}
	if w.Removal.OwnerEnds, err = o.ownerEnds(ctx, b, from); err != nil {
		return err
	}
	if w.Removal.Uninstalled, err = uninstall.Why(ctx, o.uncached, o.namespace); err != nil {
		return err
	}
	w.Removal.Restoring, err = filledfrom.Reader{Client: o.reader, Namespace: o.namespace}.Volume(ctx, b)
	return err
}

// ownerEnds explains why a Backup goes with its BackupVolume: Kubernetes deletes what a deleted object owned, and nobody asked for the data
// to go.
func (o observer) ownerEnds(ctx context.Context, b *v1beta2.Backup, from client.Reader) (string, error) {
	for _, owner := range b.OwnerReferences {
		if owner.Kind != "BackupVolume" {
			continue
		}
		v, err := lookup.Get(ctx, from, o.namespace, owner.Name, &v1beta2.BackupVolume{})
		switch {
		case err != nil:
			return "", err
		case v == nil || v.UID != owner.UID:
			return "Its BackupVolume " + owner.Name + " is gone", nil
		case backuplist.IsObjectOnly(v.Labels):
			return "Its BackupVolume " + owner.Name + " has the label " + v1beta2.LabelObjectOnly, nil
		}
	}
	return "", nil
}

// errOutdated is that the objects are not any more what was evaluated: nothing was removed.
var errOutdated = errors.New("the Backup or its target changed meanwhile")

// remover removes the data of one Backup.
type remover struct {
	observer observer
	stores   *backupstores.Stores
	// evaluated is what the verdict was about.
	evaluated *backup.World
}

// run removes the data and returns once the target was seen without it. The note says what else became of it.
func (r remover) run(ctx context.Context) (note string, err error) {
	b, target, err := r.confirm(ctx)
	if err != nil {
		return "", err
	}
	store, err := r.stores.ForRemoval(ctx, target)
	if err != nil {
		return "", err
	}
	volume := b.Status.VolumeName
	info, err := store.Backup(ctx, volume, b.Name)
	switch {
	case errors.Is(err, enginecommand.ErrNotFound):
		return "It was not in the target any more.", isAbsent(ctx, store, volume, b.Name)
	case errors.Is(err, enginecommand.ErrInProgress) && b.Status.URL == "":
		// What a copy that failed left behind: it keeps the engine from removing blocks that nothing uses.
	case err != nil:
		return "", err
	case b.Status.URL == "":
		return "It is whole in the target, although it had failed here: it stays, and the next reading of the target shows it.", nil
	case b.Status.SnapshotName != "" && info.SnapshotName != b.Status.SnapshotName:
		return "", fmt.Errorf("the backup of that name in the target is of snapshot %s, not of %s: it is another one and stays",
			info.SnapshotName, b.Status.SnapshotName)
	}
	if _, _, err := r.confirm(ctx); err != nil { // the target may have taken long to answer
		return "", err
	}
	log.FromContext(ctx).Info("removing a backup from its target", "backup", b.Name, "volume", volume, "target", target.Name)
	if err := store.RemoveBackup(ctx, volume, b.Name); err != nil {
		return "", err
	}
	return "", isAbsent(ctx, store, volume, b.Name)
}

// confirm reads the objects uncached, and returns them if the data may go for the same reason as when it was decided.
func (r remover) confirm(ctx context.Context) (*v1beta2.Backup, *v1beta2.BackupTarget, error) {
	o, was := r.observer, r.evaluated
	live, err := lookup.Get(ctx, o.uncached, o.namespace, was.Backup.Name, &v1beta2.Backup{})
	if err != nil {
		return nil, nil, err
	}
	if live == nil || live.UID != was.Backup.UID || live.DeletionTimestamp == nil || live.Status.State != v1beta2.BackupDeleting ||
		live.Status.URL != was.Backup.Status.URL || live.Status.VolumeName != was.Backup.Status.VolumeName {
		return nil, nil, errOutdated
	}
	now := *was
	now.Backup, now.Removal = live, backup.Removal{}
	if err := o.readRemoval(ctx, &now, o.uncached); err != nil {
		return nil, nil, err
	}
	if now.Target == nil || now.Target.UID != was.Target.UID || now.Target.Spec.BackupTargetURL != was.Target.Spec.BackupTargetURL ||
		backup.Decide(now).Step != backup.StepRemove {
		return nil, nil, errOutdated
	}
	return live, now.Target, nil
}

// isAbsent returns nil once the target shows twice that it does not have a backup: it finds no such backup, and does not list it. Engines
// answer "cannot find" also where an object store refused to answer, so one question is not enough.
func isAbsent(ctx context.Context, store enginecommand.Store, volume, name string) error {
	_, err := store.Backup(ctx, volume, name)
	switch {
	case err == nil, errors.Is(err, enginecommand.ErrInProgress):
		return errors.New("the target still has it")
	case !errors.Is(err, enginecommand.ErrNotFound):
		return err
	}
	names, err := store.Backups(ctx, volume)
	if errors.Is(err, enginecommand.ErrNotFound) {
		volumes, err := store.Volumes(ctx)
		if err != nil {
			return err
		}
		if _, listed := volumes[volume]; listed {
			return fmt.Errorf("the target's record of volume %s cannot be read", volume)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if slices.Contains(names, name) {
		return errors.New("the target still lists it")
	}
	return nil
}
