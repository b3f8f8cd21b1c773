package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Backup keeps etcd's data as they are now in a directory that must not exist. The servers are stopped for that moment: to their clients it
// is a short failure.
func (c *Cluster) Backup(ctx context.Context, to string) error {
	if _, err := os.Stat(to); err == nil {
		return fmt.Errorf("backing up etcd to %s: it exists", to)
	}
	c.StopAPIServer()
	if err := c.etcd.terminate(); err != nil {
		return fmt.Errorf("stopping etcd: %w", err)
	}
	copied := os.CopyFS(to, os.DirFS(c.dataDir()))
	return errors.Join(copied, c.startAgain(ctx))
}

// Restore puts back the data that Backup kept, under running clients: writes since the backup are lost, and resource versions go back
// with it.
func (c *Cluster) Restore(ctx context.Context, from string) error {
	c.StopAPIServer()
	c.etcd.kill()
	if err := os.RemoveAll(c.dataDir()); err != nil {
		return fmt.Errorf("removing etcd's data: %w", err)
	}
	if err := os.CopyFS(c.dataDir(), os.DirFS(from)); err != nil {
		return fmt.Errorf("restoring etcd from %s: %w", from, err)
	}
	return c.startAgain(ctx)
}

func (c *Cluster) startAgain(ctx context.Context) error {
	if err := c.startEtcd(ctx); err != nil {
		return fmt.Errorf("starting etcd again: %w", err)
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return fmt.Errorf("starting kube-apiserver again: %w", err)
	}
	return nil
}
