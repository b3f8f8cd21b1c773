package world

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// Sweep empties the World for the next scenario: no volumes, no instances, no orphans, default settings, every node back,
// every instance manager running, nothing for pods. Instances end first, so that none becomes an orphan meanwhile.
func (w *World) Sweep(ctx context.Context) error {
	if err := w.Set(ctx, "orphan-resource-auto-deletion", ""); err != nil {
		return err
	}
	if w.API != nil {
		w.API.Before(nil)
		w.DataPlane.Before(nil)
	}
	if w.options.Upgrades {
		if err := w.sweepUpgrades(ctx); err != nil {
			return err
		}
	}
	if w.options.Attach {
		if err := w.sweepKubernetes(ctx); err != nil {
			return err
		}
		for _, list := range []client.ObjectList{&v1beta2.BackupList{}, &v1beta2.BackupTargetList{}, &v1beta2.SnapshotList{},
			&v1beta2.ShareManagerList{},
			&v1beta2.BackingImageDataSourceList{}} {
			if err := w.removeAll(ctx, list); err != nil {
				return err
			}
		}
		if err := w.deleteVolumes(ctx); err != nil {
			return err
		}
	}
	if err := w.resetDataPlane(ctx); err != nil {
		return err
	}
	for _, node := range w.options.Nodes {
		if err := w.Evict(ctx, node, false); err != nil {
			return err
		}
		if err := w.setStatus(ctx, w.NodeObject(node), map[string]any{"abandonedInstances": nil}); err != nil {
			return err
		}
	}
	for _, list := range []client.ObjectList{&v1beta2.VolumeList{}, &v1beta2.EngineList{}, &v1beta2.EngineFrontendList{},
		&v1beta2.ReplicaList{}, &v1beta2.VolumeAttachmentList{}, &v1beta2.OrphanList{}} {
		if err := w.removeAll(ctx, list); err != nil {
			return err
		}
	}
	return w.settled(ctx)
}

// deleteVolumes deletes every volume as a person would, without misbehaviour of the data plane, and waits for the end of their
// objects.
func (w *World) deleteVolumes(ctx context.Context) error {
	if err := w.Heal(ctx); err != nil {
		return err
	}
	for _, node := range w.options.Nodes {
		if err := w.JoinNode(ctx, node); err != nil {
			return err
		}
	}
	if err := w.Admin.DeleteAllOf(ctx, &v1beta2.Volume{}, client.InNamespace(w.Namespace)); err != nil {
		return fmt.Errorf("deleting all volumes: %w", err)
	}
	return w.WaitSlowly(ctx, "the end of all volumes", 500*time.Millisecond, time.Minute, func(ctx context.Context) (string, error) {
		var list v1beta2.VolumeList
		if err := w.List(ctx, &list); err != nil {
			return "", err
		}
		// A stale engine of a returned node still maps replicas: it is an orphan, which a person deletes.
		if err := w.Admin.DeleteAllOf(ctx, &v1beta2.Orphan{}, client.InNamespace(w.Namespace)); err != nil {
			return "", fmt.Errorf("deleting all orphans: %w", err)
		}
		if !w.options.Snapshots {
			// im-monitor mirrors the engines' snapshots, and no controller deletes the mirrored objects of a detached volume.
			if err := w.removeAll(ctx, &v1beta2.SnapshotList{}); err != nil {
				return "", err
			}
		}
		for i := range list.Items {
			return "volume " + list.Items[i].Name + " still exists; " + w.explain(ctx, &list.Items[i]), nil
		}
		return w.leftovers(ctx)
	})
}

func (w *World) removeAll(ctx context.Context, list client.ObjectList) error {
	if err := w.List(ctx, list); err != nil {
		return err
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		return w.Disown(ctx, item.(client.Object))
	})
}

// settled waits until every object reports that it is empty and ready.
func (w *World) settled(ctx context.Context) error {
	for _, node := range w.options.Nodes {
		if err := w.WaitNode(ctx, node, v1beta2.ConditionTrue, time.Minute); err != nil {
			return err
		}
		for _, engine := range DataEngines() {
			if err := w.WaitManager(ctx, node, engine, v1beta2.InstanceManagerStateRunning, time.Minute); err != nil {
				return err
			}
			if err := w.emptyManager(ctx, node, engine); err != nil {
				return err
			}
		}
	}
	return w.Wait(ctx, "the end of all orphans", time.Minute, func(ctx context.Context) (string, error) {
		var list v1beta2.OrphanList
		if err := w.List(ctx, &list); err != nil {
			return "", err
		}
		if len(list.Items) == 0 {
			return "", nil
		}
		return fmt.Sprintf("%d are left", len(list.Items)), w.removeAll(ctx, &v1beta2.OrphanList{})
	})
}

// emptyManager waits until im-monitor reports that no instance runs there: the next scenario needs that.
func (w *World) emptyManager(ctx context.Context, node, engine string) error {
	return w.Wait(ctx, "an empty instance manager "+engine+" on "+node, time.Minute, func(ctx context.Context) (string, error) {
		object := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{}}
		if err := w.Get(ctx, w.InstanceManager(node, engine), object); err != nil {
			return "", err
		}
		if n := len(object.Status.InstanceEngines) + len(object.Status.InstanceReplicas); n > 0 {
			return fmt.Sprintf("%d instances are listed", n), nil
		}
		return "", nil
	})
}
