package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// restartTime is how long the control plane may take to stop and to start again.
const restartTime = 2 * time.Minute

// BackUpEtcd copies etcd's current data, and returns the directory. The control plane is stopped for that time.
func (w *World) BackUpEtcd(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, restartTime)
	defer cancel()
	parent, err := os.MkdirTemp(w.Dir, "backup-")
	if err != nil {
		return "", fmt.Errorf("creating a directory for the backup: %w", err)
	}
	to := filepath.Join(parent, "etcd")
	return to, w.cluster.Backup(ctx, to)
}

// RestoreEtcd puts such a copy back, under running controllers: what was written since never happened, and they learn it from their
// watches, one kind after the other. The data plane continues as it is.
func (w *World) RestoreEtcd(ctx context.Context, from string) error {
	ctx, cancel := context.WithTimeout(ctx, restartTime)
	defer cancel()
	return w.cluster.Restore(ctx, from)
}

// RestartControllers kills all controllers and starts them again, as an administrator does after a disaster.
func (w *World) RestartControllers() error {
	for _, controller := range w.Controllers() {
		if process := w.Process(controller); process != nil {
			if err := process.Crash(); err != nil {
				return err
			}
		}
	}
	return nil
}
