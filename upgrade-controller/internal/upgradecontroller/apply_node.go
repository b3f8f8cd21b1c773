package upgradecontroller

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

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// Owner is the field manager of everything that this binary writes.
const Owner = nodeupgrade.Owner

// applyNode does the effects in their order, then writes the status, or drops the upgrade's finalizer. If an effect fails, the upgrade
// stays in its state, whose reason and condition Stalled are written all the same. It reports whether anything was written, also beside an
// error.
func applyNode(ctx context.Context, c client.Client, w *nodeupgrade.World, v nodeupgrade.Verdict) (bool, error) {
	if v.AddFinalizer {
		return false, addFinalizer(ctx, c, w.Upgrade)
	}
	failed := applyEffects(ctx, c, w, v.Effects)
	if failed != nil && (v.DropFinalizer || v.Status.State != w.Upgrade.Status.State) {
		return false, failed
	}
	if v.DropFinalizer {
		return true, client.IgnoreNotFound(status.DropFinalizer(ctx, c, w.Upgrade, v1beta2.Finalizer))
	}
	changed, err := nodeDifference(w.Upgrade.Status, v.Status)
	if err != nil {
		return false, errors.Join(failed, err)
	}
	if len(changed) == 0 {
		return len(v.Effects) > 0 && failed == nil, failed
	}
	err = client.IgnoreNotFound(status.MergeStatus(ctx, c, w.Upgrade, changed, status.AtVersion()))
	return err == nil, errors.Join(failed, err)
}

// applyEffects does the effects in their order; those of volumes that follow one another at once, since they are of different objects. Each
// of these is tried, whatever becomes of the others; what follows them is not, if one fails.
func applyEffects(ctx context.Context, c client.Client, w *nodeupgrade.World, effects []nodeupgrade.Effect) error {
	for len(effects) > 0 {
		next := slices.IndexFunc(effects, func(e nodeupgrade.Effect) bool { return e.Volume == "" })
		switch {
		case next < 0:
			next = len(effects)
		case next == 0:
			next = 1
		}
		if err := applyTogether(ctx, c, w, effects[:next]); err != nil {
			return err
		}
		effects = effects[next:]
	}
	return nil
}

// applyTogether does effects at once, and joins the errors of those that fail in their order.
func applyTogether(ctx context.Context, c client.Client, w *nodeupgrade.World, effects []nodeupgrade.Effect) error {
	failed := make([]error, len(effects))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, e := range effects {
		group.Go(func() error {
			if err := applyEffect(ctx, c, w, e); err != nil {
				failed[i] = fmt.Errorf("%s %s: %w", e.Kind, e.Name, err)
			}
			return nil
		})
	}
	_ = group.Wait() // each error is among those that failed
	return errors.Join(failed...)
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
