package world

import (
	"context"
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
