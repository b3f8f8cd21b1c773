package backuptargetcontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
	"drover.dev/drover/snapshot-controller/internal/enginecommand"
)

// readBackups reads the backups of a volume that no Backup describes yet; not whole: some could not be read, or are still being taken.
func (p *pass) readBackups(ctx context.Context, v *v1beta2.BackupVolume, names []string) (whole bool, err error) {
	results := make([]bool, len(names))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(p.stores.AtOnce())
	for i, name := range names {
		group.Go(func() (err error) {
			results[i], err = p.readBackup(within, v, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	return !slices.Contains(results, false), nil
}

// readBackup reads one backup, unless that was done before.
func (p *pass) readBackup(ctx context.Context, v *v1beta2.BackupVolume, name string) (done bool, err error) {
	volume := backuplist.VolumeOf(v)
	if !lookup.Nameable(name) {
		return false, p.tolerate("backup "+name, &enginecommand.Failure{Kind: enginecommand.ErrRefused, Text: "no object can have that name"})
	}
	b, err := lookup.Shared(ctx, p.rt.Client, p.rt.Namespace, name, &v1beta2.Backup{})
	if err != nil {
		return false, err
	}
	if b != nil {
		p.absences.Forget(b.UID)
		if settled, done := p.needsNothing(b, volume); settled {
			return done, nil
		}
	}
	info, err := p.store.Backup(ctx, volume, name)
	switch {
	case errors.Is(err, enginecommand.ErrInProgress):
		return false, nil
	case errors.Is(err, enginecommand.ErrNotFound):
		return false, nil // it was removed since the list; the next reading shows it
	case err != nil:
		return false, p.tolerate("backup "+name+" of volume "+volume, err)
	}
	if b == nil {
		if b, err = p.createBackup(ctx, v, name); b == nil || err != nil {
			return false, err
		}
	}
	return true, p.writeBackup(ctx, b, info)
}

// needsNothing reports whether nothing is to be read for a Backup that exists: it is read, it is not this one, or somebody else writes it.
func (p *pass) needsNothing(b *v1beta2.Backup, volume string) (settled, done bool) {
	switch {
	case b.DeletionTimestamp != nil:
		return true, true
	case backuplist.IsStored(b, p.target.Name, volume, p.target.Spec.BackupTargetURL):
		return b.Status.LastSyncedAt != "", true
	case isUnfinished(b, p.target.Name, volume):
		return false, false
	case b.Status.VolumeName == volume && backuplist.TargetOfBackup(b) == p.target.Name && b.Status.State != v1beta2.BackupCompleted:
		return true, false // an engine takes it, or failed to
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.problems = append(p.problems, fmt.Sprintf("backup %s of volume %s: the Backup of that name is of another volume or URL", b.Name, volume))
	return true, true
}

// isUnfinished reports whether an earlier reading created this Backup, and ended before it wrote the status.
func isUnfinished(b *v1beta2.Backup, target, volume string) bool {
	return b.Spec.SnapshotName == "" && b.Status.State == "" && b.Status.VolumeName == "" &&
		b.Labels[v1beta2.LabelBackupTarget] == v1beta2.LabelValue(target) && b.Labels[v1beta2.LabelBackupVolume] == v1beta2.LabelValue(volume)
}

// createBackup creates the Backup that describes a backup; nil: one of that name came meanwhile.
func (p *pass) createBackup(ctx context.Context, v *v1beta2.BackupVolume, name string) (*v1beta2.Backup, error) {
	b := &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{
		Namespace: p.rt.Namespace, Name: name, Finalizers: []string{v1beta2.Finalizer},
		Labels: map[string]string{v1beta2.LabelBackupTarget: v1beta2.LabelValue(p.target.Name),
			v1beta2.LabelBackupVolume: v1beta2.LabelValue(backuplist.VolumeOf(v))},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: kindBackupVolume, Name: v.Name,
			UID: v.UID}},
	}}
	err := p.rt.Client.Create(ctx, b)
	if apierrors.IsAlreadyExists(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("creating Backup %s: %w", name, err)
	}
	return b, nil
}

// writeBackup records what the target reports of a backup. Of one that this cluster took, what im-monitor recorded stays.
func (p *pass) writeBackup(ctx context.Context, b *v1beta2.Backup, info enginecommand.Backup) error {
	fields := map[string]any{
		"newlyUploadDataSize": text(info.NewlyUploadedDataSize), "reUploadedDataSize": text(info.ReUploadedDataSize),
		"messages": replaced(b.Status.Messages, info.Messages), "lastSyncedAt": p.began.UTC().Format(time.RFC3339),
	}
	if b.Status.State == "" {
		url := info.URL
		if !v1beta2.LiesInTarget(url, p.target.Spec.BackupTargetURL) {
			url = p.store.BackupURL(info.VolumeName, info.Name)
		}
		for key, value := range map[string]string{
			"state": v1beta2.BackupCompleted, "url": url, "volumeName": info.VolumeName, "volumeSize": info.VolumeSize,
			"volumeCreated": info.VolumeCreated, "snapshotName": info.SnapshotName, "snapshotCreatedAt": info.SnapshotCreated,
			"backupCreatedAt": info.Created, "size": info.Size, "compressionMethod": info.CompressionMethod,
			"volumeBackingImageName": info.VolumeBackingImageName, "backupTargetName": p.target.Name,
		} {
			fields[key] = text(value)
		}
		fields["labels"], fields["progress"] = replaced(b.Status.Labels, info.Labels), 100
	}
	return client.IgnoreNotFound(status.MergeStatus(ctx, p.rt.Client, b, fields, status.AtVersion()))
}

// missesBackups is about the Backups whose backups the target does not list. missed: some of them may be gone, which another reading has to
// show.
func (p *pass) missesBackups(ctx context.Context, volume string, names []string) (missed bool, err error) {
	var stored []*v1beta2.Backup
	for _, b := range p.backups[volume] {
		if backuplist.IsStored(b, p.target.Name, volume, p.target.Spec.BackupTargetURL) {
			stored = append(stored, b)
		}
	}
	for _, b := range backuplist.Missing(stored, names) {
		_, err := p.store.Backup(ctx, volume, b.Name)
		switch {
		case err == nil || errors.Is(err, enginecommand.ErrInProgress):
			p.absences.Forget(b.UID)
			missed = true // list and answer differ
			continue
		case !errors.Is(err, enginecommand.ErrNotFound):
			missed = true
			if err := p.tolerate("backup "+b.Name+" of volume "+volume, err); err != nil {
				return true, err
			}
			continue
		case !p.absences.Note(b.UID, p.began):
			missed = true
			continue
		}
		if err := p.isSame(ctx); err != nil {
			return true, err
		}
		if err := p.forget(ctx, b, &v1beta2.Backup{}); err != nil {
			return true, err
		}
	}
	return missed, nil
}

// forget removes an object and leaves the target alone: first the label is written that keeps the deletion off the target. live is read
// uncached; an object that is not the one that was evaluated stays.
func (r *reconciler) forget(ctx context.Context, evaluated, live client.Object) error {
	err := r.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(evaluated), live)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.GetUID() != evaluated.GetUID() || live.GetDeletionTimestamp() != nil && backuplist.IsObjectOnly(live.GetLabels()) {
		return nil
	}
	if !backuplist.IsObjectOnly(live.GetLabels()) {
		labels := map[string]any{"labels": map[string]string{v1beta2.LabelObjectOnly: "true"}}
		if err := status.MergeMetadata(ctx, r.rt.Client, live, labels); err != nil {
			return client.IgnoreNotFound(err)
		}
		if err := r.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(evaluated), live); err != nil || live.GetUID() != evaluated.GetUID() {
			return client.IgnoreNotFound(err)
		}
	}
	if err := status.Delete(ctx, r.rt.Client, live); err != nil {
		return err
	}
	r.absences.Forget(live.GetUID())
	forgotten.WithLabelValues(kindOf(live)).Inc()
	log.FromContext(ctx).Info("object of what is not in the backup target any more deleted", "kind", kindOf(live), "name", live.GetName())
	return nil
}

func kindOf(obj client.Object) string {
	if _, ok := obj.(*v1beta2.Backup); ok {
		return kindBackup
	}
	return kindBackupVolume
}
