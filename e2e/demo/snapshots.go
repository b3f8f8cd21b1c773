package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// pruned is the label of the snapshots that the demo prunes.
const pruned = "prune-me"

// snapshots takes snapshots of an attached and of a detached volume, and prunes by label.
func (d *demo) snapshots(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("Snapshots by kubectl")
	if err := d.webhook(ctx); err != nil {
		return err
	}
	if err := s.step(ctx, "a snapshot of archive, which is detached", func(ctx context.Context) (string, error) {
		if err := w.Snapshot(ctx, archive, "before-release"); err != nil {
			return "", err
		}
		if err := w.WaitSnapshot(ctx, "before-release", v1beta2.SnapshotReady, v1beta2.ReasonReady, patience); err != nil {
			return "", err
		}
		return "the volume was attached, the snapshot taken, the volume detached", w.WaitDetached(ctx, archive, patience)
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "three snapshots of db, which stays attached; two have a label", func(ctx context.Context) (string, error) {
		if err := w.Write(ctx, "db", 1, written); err != nil {
			return "", err
		}
		for _, name := range []string{"db-1", "db-2", "db-3"} {
			if err := d.snapshotOfDB(ctx, name); err != nil {
				return "", err
			}
		}
		return "each taken exactly once", w.WaitAttached(ctx, "db", cut, patience)
	}); err != nil {
		return err
	}
	if err := d.tables(ctx, "snapshots", "lhsnap"); err != nil {
		return err
	}
	return s.step(ctx, "kubectl delete lhsnap -l "+pruned+"=yes", func(ctx context.Context) (string, error) {
		if err := w.Admin.DeleteAllOf(ctx, &v1beta2.Snapshot{}, client.InNamespace(w.Namespace),
			client.MatchingLabels{pruned: "yes"}); err != nil {
			return "", fmt.Errorf("pruning: %w", err)
		}
		for _, name := range []string{"db-1", "db-2"} {
			if err := w.WaitSnapshotGone(ctx, name, patience); err != nil {
				return "", err
			}
		}
		left, err := w.SnapshotsOf(ctx, "db")
		if err == nil && left["db-3"].Name == "" {
			err = fmt.Errorf("snapshot db-3 was not to be pruned, and is gone")
		}
		return "the two were removed and purged; db-3 still exists", err
	})
}

// snapshotOfDB takes a snapshot; all but db-3 have the label.
func (d *demo) snapshotOfDB(ctx context.Context, name string) error {
	w := d.world
	if err := w.Snapshot(ctx, "db", name); err != nil {
		return err
	}
	if name != "db-3" {
		if err := label(ctx, w, name); err != nil {
			return err
		}
	}
	return w.WaitSnapshot(ctx, name, v1beta2.SnapshotReady, v1beta2.ReasonReady, patience)
}

func label(ctx context.Context, w *world.World, name string) error {
	object := &v1beta2.Snapshot{}
	object.Name, object.Namespace = name, w.Namespace
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+pruned+`":"yes"}}}`))
	if err := w.Admin.Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("labelling snapshot %s: %w", name, err)
	}
	return nil
}
