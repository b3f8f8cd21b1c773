package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// BackupTarget creates a backup target: a directory that every node reaches.
func (w *World) BackupTarget(ctx context.Context, name, directory string) error {
	target := &v1beta2.BackupTarget{}
	target.Name, target.Namespace = name, w.Namespace
	target.Spec.BackupTargetURL = TargetURL(directory)
	if IsReal() {
		_ = os.MkdirAll(directory, 0o755) // a scenario may want a target that cannot be used
	}
	if err := w.Admin.Create(ctx, target); err != nil {
		return fmt.Errorf("creating backup target %s: %w", name, err)
	}
	return nil
}

// TargetURL is the URL of a directory as a backup target. Real engines have another scheme for it than the simulator.
func TargetURL(directory string) string {
	if IsReal() {
		return "vfs://" + directory
	}
	return "file://" + directory
}

// MoveTarget gives a backup target another URL.
func (w *World) MoveTarget(ctx context.Context, name, url string) error {
	target := &v1beta2.BackupTarget{}
	target.Name, target.Namespace = name, w.Namespace
	return w.patch(ctx, target, map[string]any{"spec": map[string]any{"backupTargetURL": url}})
}

// Backup requests a backup of a snapshot, as a person does.
func (w *World) Backup(ctx context.Context, name, snapshot string) error {
	backup := &v1beta2.Backup{}
	backup.Name, backup.Namespace = name, w.Namespace
	backup.Spec.SnapshotName = snapshot
	if err := w.Admin.Create(ctx, backup); err != nil {
		return fmt.Errorf("creating backup %s: %w", name, err)
	}
	return nil
}

// DeleteBackup deletes a Backup, as a person does.
func (w *World) DeleteBackup(ctx context.Context, name string) error {
	backup := &v1beta2.Backup{}
	backup.Name, backup.Namespace = name, w.Namespace
	if err := w.Admin.Delete(ctx, backup); err != nil {
		return fmt.Errorf("deleting backup %s: %w", name, err)
	}
	return nil
}

// ForgetBackup deletes a Backup and leaves its data in the target, as a person does, and waits until it is gone.
func (w *World) ForgetBackup(ctx context.Context, name string) error {
	backup := &v1beta2.Backup{}
	backup.Name, backup.Namespace = name, w.Namespace
	label := map[string]any{"metadata": map[string]any{"labels": map[string]string{v1beta2.LabelObjectOnly: "true"}}}
	if err := w.patch(ctx, backup, label); err != nil {
		return err
	}
	if err := w.DeleteBackup(ctx, name); err != nil {
		return err
	}
	return w.WaitBackupGone(ctx, name, time.Minute)
}

// ReadTarget has a backup target read, as a person does, and waits until it was.
func (w *World) ReadTarget(ctx context.Context, name string, within time.Duration) error {
	target := &v1beta2.BackupTarget{}
	target.Name, target.Namespace = name, w.Namespace
	at := time.Now().UTC().Format(time.RFC3339)
	if err := w.patch(ctx, target, map[string]any{"spec": map[string]any{"syncRequestedAt": at}}); err != nil {
		return err
	}
	return w.Wait(ctx, "the reading of backup target "+name, within, func(ctx context.Context) (string, error) {
		t := &v1beta2.BackupTarget{}
		if err := w.Get(ctx, name, t); err != nil {
			return "", err
		}
		return unless(t.Status.LastSyncedAt >= at, "it was read at %q: %+v", t.Status.LastSyncedAt, t.Status.Conditions), nil
	})
}

// DeleteBackupVolume deletes the BackupVolume of a volume, as a person does, and waits until it is gone.
func (w *World) DeleteBackupVolume(ctx context.Context, volume, target string, within time.Duration) error {
	v, err := w.BackupVolume(ctx, volume, target)
	if err != nil || v == nil {
		return errors.Join(err, fmt.Errorf("there is a BackupVolume of volume %s: %t", volume, v != nil))
	}
	if err := w.Admin.Delete(ctx, v); err != nil {
		return fmt.Errorf("deleting BackupVolume %s: %w", v.Name, err)
	}
	return w.WaitBackupVolumeGone(ctx, volume, target, within)
}

// WaitBackupVolumeGone waits until there is no BackupVolume of a volume.
func (w *World) WaitBackupVolumeGone(ctx context.Context, volume, target string, within time.Duration) error {
	return w.Wait(ctx, "the end of the BackupVolume of "+volume, within, func(ctx context.Context) (string, error) {
		now, err := w.BackupVolume(ctx, volume, target)
		return unless(now == nil, "it is still there"), err
	})
}

// BackupVolume returns the BackupVolume of a volume; nil: there is none.
func (w *World) BackupVolume(ctx context.Context, volume, target string) (*v1beta2.BackupVolume, error) {
	var list v1beta2.BackupVolumeList
	if err := w.List(ctx, &list); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if v := &list.Items[i]; v.Spec.VolumeName == volume && v.Spec.BackupTargetName == target {
			return v, nil
		}
	}
	return nil, nil
}

// WaitBackup waits until check accepts the Backup, and returns it.
func (w *World) WaitBackup(ctx context.Context, name, what string, within time.Duration, check func(*v1beta2.Backup) bool) (*v1beta2.Backup,
	error) {
	backup := &v1beta2.Backup{}
	return backup, w.Wait(ctx, "backup "+name+" "+what, within, func(ctx context.Context) (string, error) {
		*backup = v1beta2.Backup{}
		if err := w.Get(ctx, name, backup); err != nil {
			return "", err
		}
		s := backup.Status
		return unless(check(backup), "it is %q at %d %%, error %q, conditions %+v", s.State, s.Progress, s.Error, s.Conditions), nil
	})
}

// WaitBackupState waits until the Backup is in a state.
func (w *World) WaitBackupState(ctx context.Context, name, state string, within time.Duration) (*v1beta2.Backup, error) {
	return w.WaitBackup(ctx, name, "to be "+state, within, func(b *v1beta2.Backup) bool { return b.Status.State == state })
}

// WaitBackupReason waits until the Backup reports the reason.
func (w *World) WaitBackupReason(ctx context.Context, name, reason string, within time.Duration) error {
	_, err := w.WaitBackup(ctx, name, "to report "+reason, within, func(b *v1beta2.Backup) bool {
		return conditions.Reason(b.Status.Conditions, v1beta2.BackupApproved) == reason
	})
	return err
}

// WaitBackupGone waits until the Backup does not exist.
func (w *World) WaitBackupGone(ctx context.Context, name string, within time.Duration) error {
	return w.Wait(ctx, "the end of backup "+name, within, func(ctx context.Context) (string, error) {
		b := &v1beta2.Backup{}
		err := w.Get(ctx, name, b)
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return fmt.Sprintf("its status is %+v", b.Status), err
	})
}

// Stored are the files of a volume's backups in a directory of BackupTarget.
func Stored(directory, volume string) ([]string, error) {
	pattern := filepath.Join(directory, "volumes", volume, "backups", "*")
	if IsReal() {
		pattern = filepath.Join(directory, "backupstore", "volumes", "*", "*", volume, "backups", "*")
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("listing backups: %w", err)
	}
	return files, nil
}

// Revert requests a revert of the volume to its snapshot, as a person does.
func (w *World) Revert(ctx context.Context, volume, snapshot string, at time.Time) error {
	object := &v1beta2.Volume{}
	object.Name, object.Namespace = volume, w.Namespace
	return w.patch(ctx, object, map[string]any{"spec": map[string]any{"revertToSnapshot": snapshot,
		"revertRequestedAt": at.UTC().Format(time.RFC3339Nano)}})
}

// WaitReverted waits until the volume reports the reason for the requested revert.
func (w *World) WaitReverted(ctx context.Context, volume, reason string, within time.Duration) error {
	return w.WaitVolume(ctx, volume, "to report that it is "+reason, within, func(v *v1beta2.Volume) string {
		return unless(conditions.Reason(v.Status.Conditions, v1beta2.VolumeReverted) == reason, "it reports %+v", v.Status.Conditions)
	})
}
