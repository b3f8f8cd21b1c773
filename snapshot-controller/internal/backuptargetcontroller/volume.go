package backuptargetcontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// readVolume reads what the target has of a volume, unless that did not change. problem is why the target's list has nothing to read of it.
func (p *pass) readVolume(ctx context.Context, volume, problem string) error {
	v := p.volumes[volume]
	if v != nil {
		p.absences.Forget(v.UID)
		if v.DeletionTimestamp != nil {
			return nil // it is being removed
		}
	}
	if problem != "" {
		return p.tolerate("volume "+volume, &enginecommand.Failure{Kind: enginecommand.ErrRefused, Text: problem})
	}
	changed, err := p.store.ChangedAt(ctx, volume)
	if err != nil {
		return p.tolerate("volume "+volume, err)
	}
	at := changed.UTC().Format(time.RFC3339Nano)
	if v != nil && !p.all && v.Status.LastModificationTime == at && v.Status.TargetURL == p.target.Spec.BackupTargetURL {
		return nil
	}
	names, err := p.store.Backups(ctx, volume)
	if err != nil {
		return p.tolerate("volume "+volume, err)
	}
	info, err := p.store.Volume(ctx, volume)
	if err != nil {
		return p.tolerate("volume "+volume, err)
	}
	if err := p.isSame(ctx); err != nil {
		return err
	}
	if v, err = p.ensureVolume(ctx, volume, v); v == nil || err != nil {
		return err
	}
	whole, err := p.readBackups(ctx, v, names)
	if err != nil {
		return err
	}
	missed, err := p.missesBackups(ctx, volume, names)
	if err != nil {
		return err
	}
	if !whole || missed {
		at = v.Status.LastModificationTime // the next reading reads it again
	}
	return p.writeVolume(ctx, v, info, at)
}

// ensureVolume returns the BackupVolume of a volume, which it creates if there is none; nil: another object has its name.
func (p *pass) ensureVolume(ctx context.Context, volume string, v *v1beta2.BackupVolume) (*v1beta2.BackupVolume, error) {
	if v != nil {
		return v, nil
	}
	name := backuplist.ObjectName(volume, p.target.Name)
	if !lookup.Nameable(name) {
		return nil, p.tolerate("volume "+volume, &enginecommand.Failure{Kind: enginecommand.ErrRefused, Text: "no object can have that name"})
	}
	v = &v1beta2.BackupVolume{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.rt.Namespace, Name: name, Finalizers: []string{v1beta2.Finalizer}, Labels: map[string]string{
			v1beta2.LabelBackupTarget: v1beta2.LabelValue(p.target.Name), v1beta2.LabelBackupVolume: v1beta2.LabelValue(volume)}},
		Spec: v1beta2.BackupVolumeSpec{BackupTargetName: p.target.Name, VolumeName: volume},
	}
	err := p.rt.Client.Create(ctx, v)
	if err == nil {
		log.FromContext(ctx).Info("BackupVolume created", "name", name, "target", p.target.Name)
		return v, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("creating BackupVolume %s: %w", name, err)
	}
	there := &v1beta2.BackupVolume{}
	if err := p.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(v), there); err != nil {
		return nil, fmt.Errorf("reading BackupVolume %s: %w", name, err)
	}
	if backuplist.VolumeOf(there) != volume || backuplist.TargetOf(there) != p.target.Name {
		return nil, p.tolerate("volume "+volume, &enginecommand.Failure{Kind: enginecommand.ErrRefused,
			Text: "the BackupVolume " + name + " is of another volume or target"})
	}
	return there, nil
}

// writeVolume records what was read of a volume, as of the change at that time. It is the last write about a volume.
func (p *pass) writeVolume(ctx context.Context, v *v1beta2.BackupVolume, info enginecommand.Volume, at string) error {
	fields := map[string]any{
		"size": text(info.Size), "labels": replaced(v.Status.Labels, info.Labels), "createdAt": text(info.Created),
		"lastBackupName": text(info.LastBackupName), "lastBackupAt": text(info.LastBackupAt), "dataStored": text(info.DataStored),
		"messages": replaced(v.Status.Messages, info.Messages), "backingImageName": text(info.BackingImageName),
		"backingImageChecksum": text(info.BackingImageChecksum), "storageClassName": text(info.StorageClassname),
		"targetURL": p.target.Spec.BackupTargetURL, "lastModificationTime": text(at),
		"lastSyncedAt": p.began.UTC().Format(time.RFC3339),
	}
	return client.IgnoreNotFound(status.MergeStatus(ctx, p.rt.Client, v, fields))
}

// missesVolume is about a BackupVolume whose volume the target does not list.
func (p *pass) missesVolume(ctx context.Context, volume string, v *v1beta2.BackupVolume) error {
	if !backuplist.IsOfTarget(v, p.target.Spec.BackupTargetURL) {
		p.elsewhere++
		return nil
	}
	_, err := p.store.Volume(ctx, volume)
	switch {
	case err == nil:
		p.absences.Forget(v.UID)
		return nil
	case !errors.Is(err, enginecommand.ErrNotFound):
		return p.tolerate("volume "+volume, err)
	case !p.absences.Note(v.UID, p.began):
		return nil
	}
	if err := p.isSame(ctx); err != nil {
		return err
	}
	for _, b := range p.backups[volume] {
		if backuplist.IsStored(b, p.target.Name, volume, p.target.Spec.BackupTargetURL) {
			if err := p.forget(ctx, b, &v1beta2.Backup{}); err != nil {
				return err
			}
		}
	}
	return p.forget(ctx, v, &v1beta2.BackupVolume{})
}

// text returns the value of a merge patch that removes an empty field.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// replaced returns the value of a merge patch that makes a map of the status another one. It names all entries, not only those that differ,
// because the cache may be behind the object.
func replaced(was, is map[string]string) any {
	if len(is) == 0 {
		return nil
	}
	out := map[string]any{}
	for key := range was {
		out[key] = nil
	}
	for key, value := range is {
		out[key] = value
	}
	return out
}
