package world

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Owner is the Engine or Replica that has the instance's name.
func (w *World) Owner(ctx context.Context, s Stale) (client.Object, error) {
	var object client.Object = &v1beta2.Replica{}
	if s.Type == v1beta2.InstanceTypeEngine {
		object = &v1beta2.Engine{}
	}
	return object, w.Get(ctx, s.Name, object)
}

// DisownInstance removes the object of the instance as attach-controller does, which first records the instance as abandoned; the
// instance still runs.
func (w *World) DisownInstance(ctx context.Context, s Stale) error {
	object, err := w.Owner(ctx, s)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		return nil
	}
	if err := w.recordAbandoned(ctx, s); err != nil {
		return err
	}
	return w.Disown(ctx, object)
}

// recordAbandoned records instances as abandoned; one write for each node.
func (w *World) recordAbandoned(ctx context.Context, list ...Stale) error {
	nodes := map[string]map[string]any{}
	for _, s := range list {
		if nodes[s.Node] == nil {
			nodes[s.Node] = map[string]any{}
		}
		nodes[s.Node][s.Name] = v1beta2.AbandonedInstance{UUID: s.UUID, DataEngine: s.DataEngine, At: time.Now().UTC().Format(time.RFC3339)}
	}
	for node, entries := range nodes {
		if err := w.setStatus(ctx, w.NodeObject(node), map[string]any{"abandonedInstances": entries}); err != nil {
			return err
		}
	}
	return nil
}

// SetNodeInObject writes another node into the Engine or Replica of the instance. It starts no instance there.
func (w *World) SetNodeInObject(ctx context.Context, s Stale, node string) error {
	object, err := w.Owner(ctx, s)
	if err != nil {
		return err
	}
	if err := w.patch(ctx, object, map[string]any{"spec": map[string]any{"nodeID": node}}); err != nil {
		return err
	}
	status := map[string]any{"instanceManagerName": w.InstanceManager(node, s.DataEngine), "currentState": v1beta2.InstanceStateRunning}
	return w.setStatus(ctx, object, status)
}

// WaitOwners waits until im-monitor has written every running Engine's and Replica's owner.
func (w *World) WaitOwners(ctx context.Context, within time.Duration) error {
	return w.Wait(ctx, "the owners of engines and replicas", within, func(ctx context.Context) (string, error) {
		var engines v1beta2.EngineList
		if err := w.List(ctx, &engines); err != nil {
			return "", err
		}
		for _, e := range engines.Items {
			if e.Spec.DesireState == v1beta2.InstanceStateRunning && e.Status.OwnerID != e.Spec.NodeID {
				return fmt.Sprintf("engine %s of node %s is owned by %q", e.Name, e.Spec.NodeID, e.Status.OwnerID), nil
			}
		}
		var replicas v1beta2.ReplicaList
		if err := w.List(ctx, &replicas); err != nil {
			return "", err
		}
		for _, r := range replicas.Items {
			if r.Spec.DesireState == v1beta2.InstanceStateRunning && r.Status.OwnerID != r.Spec.NodeID {
				return fmt.Sprintf("replica %s of node %s is owned by %q", r.Name, r.Spec.NodeID, r.Status.OwnerID), nil
			}
		}
		return "", nil
	})
}

// WaitNode waits until the Longhorn Node is ready, or is not.
func (w *World) WaitNode(ctx context.Context, node string, ready v1beta2.ConditionStatus, within time.Duration) error {
	return w.Wait(ctx, "Ready="+string(ready)+" of node "+node, within, func(ctx context.Context) (string, error) {
		object := &v1beta2.Node{}
		if err := w.Get(ctx, node, object); err != nil {
			return "", err
		}
		c := conditions.Get(object.Status.Conditions, v1beta2.NodeReady)
		if c == nil || c.Status != ready {
			return "it reports " + FormatConditions(object.Status.Conditions), nil
		}
		return "", nil
	})
}

// WaitManager waits until the instance manager of the node reports the state.
func (w *World) WaitManager(ctx context.Context, node, dataEngine, state string, within time.Duration) error {
	name := w.InstanceManager(node, dataEngine)
	return w.Wait(ctx, fmt.Sprintf("%s instance manager %s of %s", state, dataEngine, node), within,
		func(ctx context.Context) (string, error) {
			object := &v1beta2.InstanceManager{}
			if err := w.Get(ctx, name, object); err != nil {
				return "", err
			}
			if object.Status.CurrentState != state {
				return fmt.Sprintf("it is %q: %s", object.Status.CurrentState, FormatConditions(object.Status.Conditions)), nil
			}
			return "", nil
		})
}

// Evict requests the node's eviction, or cancels the request.
func (w *World) Evict(ctx context.Context, node string, requested bool) error {
	object := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Namespace: w.Namespace}}
	return w.patch(ctx, object, map[string]any{"spec": map[string]any{"evictionRequested": requested}})
}

// FailReplica marks the replica as failed.
func (w *World) FailReplica(ctx context.Context, name string) error {
	object := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.Namespace}}
	return w.patch(ctx, object, map[string]any{"spec": map[string]any{"failedAt": now(), "healthyAt": ""}})
}

// SetAutoDeletion writes the setting and its grace period in seconds.
func (w *World) SetAutoDeletion(ctx context.Context, value, grace string) error {
	if err := w.Set(ctx, "orphan-resource-auto-deletion-grace-period", grace); err != nil {
		return err
	}
	return w.Set(ctx, "orphan-resource-auto-deletion", value)
}

// DeleteOrphanIfThere deletes an Orphan as a person would; a missing one is no error.
func (w *World) DeleteOrphanIfThere(ctx context.Context, name string) error {
	return client.IgnoreNotFound(w.DeleteOrphan(ctx, name))
}

func isReady(n v1beta2.Node) bool { return conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady) }
