package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// What is written to db before db-3 is taken, after it, and what is restored from its backup.
const (
	written, later   = "before the backup", "after the backup"
	backup, restored = "monday", "db-restored"
)

// webhook lets the API server call the webhook of snapshot-controller, which refuses what would only wait.
func (d *demo) webhook(ctx context.Context) error {
	s, w := d.scenario, d.world
	return s.step(ctx, "a Snapshot of a volume that does not exist is refused by the webhook", func(ctx context.Context) (string, error) {
		if err := w.AskAboutSnapshots(ctx, w.Process(world.SnapshotController)); err != nil {
			return "", err
		}
		return w.WaitSnapshotsRefused(ctx, patience)
	})
}

// backups backs a snapshot of an attached volume up, and restores it as another volume.
func (d *demo) backups(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("A backup, and a volume restored from it")
	var url string
	if err := s.step(ctx, "snapshot db-3 is copied to a backup target, while db stays attached", func(ctx context.Context) (string, error) {
		if err := w.BackupTarget(ctx, v1beta2.BackupTargetDefault, filepath.Join(w.Dir, "backups")); err != nil {
			return "", err
		}
		if err := w.Backup(ctx, backup, "db-3"); err != nil {
			return "", err
		}
		b, err := w.WaitBackupState(ctx, backup, v1beta2.BackupCompleted, patience)
		url = b.Status.URL
		return "a directory that each node reaches; NFS and S3 are the same to Drover", err
	}); err != nil {
		return err
	}
	if err := d.plugin(ctx, "snapshots", "db"); err != nil {
		return err
	}
	if err := s.step(ctx, restored+" is restored from it, and has what db had then", func(ctx context.Context) (string, error) {
		if err := w.Write(ctx, "db", 1, later); err != nil {
			return "", err
		}
		if err := w.Order(ctx, restored, v1beta2.DataEngineV1, 1, func(spec *v1beta2.VolumeSpec) { spec.FromBackup = url }); err != nil {
			return "", err
		}
		if err := d.pod(ctx, restored, helper); err != nil {
			return "", err
		}
		if err := errors.Join(w.Keeps(ctx, restored, 1, written), w.Keeps(ctx, "db", 1, later)); err != nil {
			return "", err
		}
		return fmt.Sprintf("%q, while db goes on with %q", written, later), nil
	}); err != nil {
		return err
	}
	return s.step(ctx, "the pod of "+restored+" ends", func(ctx context.Context) (string, error) {
		if err := w.DropTicket(ctx, restored, "csi-"+restored+"-"+helper); err != nil {
			return "", err
		}
		return "", w.WaitDetached(ctx, restored, patience)
	})
}
