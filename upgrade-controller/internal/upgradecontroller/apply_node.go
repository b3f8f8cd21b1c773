package upgradecontroller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// Owner is the field manager of everything that this binary writes.
const Owner = nodeupgrade.Owner

// applyNode does the effects in their order, then writes the status, or drops the upgrade's finalizer. It reports whether anything was
// written.
func applyNode(ctx context.Context, c client.Client, w *nodeupgrade.World, v nodeupgrade.Verdict) (bool, error) {
	if v.AddFinalizer {
		return false, addFinalizer(ctx, c, w.Upgrade)
	}
	if err := applyEffects(ctx, c, w, v.Effects); err != nil {
		return false, err
	}
	if v.DropFinalizer {
		return true, client.IgnoreNotFound(status.DropFinalizer(ctx, c, w.Upgrade, v1beta2.Finalizer))
	}
	changed, err := nodeDifference(w.Upgrade.Status, v.Status)
	if err != nil {
		return false, err
	}
	if len(changed) == 0 {
		return len(v.Effects) > 0, nil
	}
	return true, client.IgnoreNotFound(status.MergeStatus(ctx, c, w.Upgrade, changed, status.AtVersion()))
}

// applyEffects does the effects in their order; those of volumes that follow one another at once, since they are of different objects.
func applyEffects(ctx context.Context, c client.Client, w *nodeupgrade.World, effects []nodeupgrade.Effect) error {
	for len(effects) > 0 {
		next := slices.IndexFunc(effects, func(e nodeupgrade.Effect) bool { return e.Volume == "" })
		switch {
		case next < 0:
			next = len(effects)
		case next == 0:
			next = 1
		}
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(parallel)
		for _, e := range effects[:next] {
			group.Go(func() error {
				if err := applyEffect(groupCtx, c, w, e); err != nil {
					return fmt.Errorf("%s %s: %w", e.Kind, e.Name, err)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		effects = effects[next:]
	}
	return nil
}

// applyEffect does one effect. An object that no longer exists is no error: its deletion enqueues the next decision.
func applyEffect(ctx context.Context, c client.Client, w *nodeupgrade.World, e nodeupgrade.Effect) error {
	meta := metav1.ObjectMeta{Namespace: w.Upgrade.Namespace, Name: e.Name}
	var err error
	switch e.Kind {
	case nodeupgrade.CloseNode:
		err = status.MergeSpec(ctx, c, &v1beta2.Node{ObjectMeta: meta}, map[string]any{"upgradeRequested": true})
	case nodeupgrade.OpenNode:
		err = uncordonNode(ctx, c, &v1beta2.Node{ObjectMeta: meta})
	case nodeupgrade.SetTarget:
		err = setTarget(ctx, c, w.Cluster.Volumes[e.Volume].Object, e.Node)
	case nodeupgrade.RequestPoll:
		asked := e.At.UTC().Format(time.RFC3339Nano)
		err = status.MergeSpec(ctx, c, &v1beta2.Engine{ObjectMeta: meta}, map[string]any{"lookRequestedAt": asked})
	case nodeupgrade.TakeSnapshot:
		err = takeSnapshot(ctx, c, w.Cluster.Volumes[e.Volume].Object, e.Name)
	case nodeupgrade.DropSnapshot:
		err = status.Delete(ctx, c, w.Snapshots[e.Name])
	default:
		err = fmt.Errorf("unknown effect")
	}
	return client.IgnoreNotFound(err)
}

func uncordonNode(ctx context.Context, c client.Client, node *v1beta2.Node, options ...status.Option) error {
	return status.MergeSpec(ctx, c, node, map[string]any{"upgradeRequested": nil}, options...)
}

// setTarget writes to the version that was evaluated, so that a volume that was detached or moved meanwhile is evaluated again.
func setTarget(ctx context.Context, c client.Client, v *v1beta2.Volume, node string) error {
	fields := map[string]any{"targetNodeID": node}
	if node == "" {
		fields["targetNodeID"] = nil
	}
	return status.MergeSpec(ctx, c, v, fields, status.AtVersion())
}

// takeSnapshot creates the Snapshot, complete in one write.
func takeSnapshot(ctx context.Context, c client.Client, v *v1beta2.Volume, name string) error {
	snapshot := v1beta2.NewSnapshotBy(v1beta2.ManagedByUpgradeController, v, name)
	if err := c.Create(ctx, snapshot, client.FieldOwner(Owner)); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating snapshot %s of volume %s: %w", name, v.Name, err)
	}
	return nil
}
