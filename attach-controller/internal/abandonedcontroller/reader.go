package abandonedcontroller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// byInstance finds the instance managers that list an engine or replica of a name.
const byInstance = "abandonedcontroller.instance"

var indexes = []kube.Index{
	kube.ByNode(&v1beta2.InstanceManager{}),
	kube.IndexByEach(&v1beta2.InstanceManager{}, byInstance, func(m *v1beta2.InstanceManager) []string {
		return slices.AppendSeq(slices.Collect(maps.Keys(m.Status.InstanceEngines)), maps.Keys(m.Status.InstanceReplicas))
	}),
}

// Reader finds what instance managers list. Its cache must have been set up by Setup.
type Reader struct {
	Client    client.Reader
	Namespace string
}

// Listed finds the instances of a name, with the records of their nodes.
func (r Reader) Listed(ctx context.Context, kind abandoned.Kind, name string) ([]abandoned.Listing, error) {
	managers, err := r.managers(ctx, byInstance, name)
	if err != nil {
		return nil, err
	}
	nodes := map[string]*v1beta2.Node{}
	for i := range managers {
		if nodes[managers[i].Spec.NodeID], err = r.node(ctx, managers[i].Spec.NodeID); err != nil {
			return nil, err
		}
	}
	return abandoned.Listed(kind, name, managers, nodes), nil
}

func (r Reader) managers(ctx context.Context, index, key string) ([]v1beta2.InstanceManager, error) {
	var list v1beta2.InstanceManagerList
	err := r.Client.List(ctx, &list, client.InNamespace(r.Namespace), client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("listing instance managers of %s: %w", key, err)
	}
	return list.Items, nil
}

// node is nil if it does not exist.
func (r Reader) node(ctx context.Context, name string) (*v1beta2.Node, error) {
	return lookup.Shared(ctx, r.Client, r.Namespace, name, &v1beta2.Node{})
}

// Write stores one record. A missing node took its instances along.
func Write(ctx context.Context, c client.Client, namespace string, record abandoned.Record) error {
	object := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: record.Node}}
	entries := map[string]any{record.Name: record.Instance}
	return client.IgnoreNotFound(status.MergeStatus(ctx, c, object, map[string]any{"abandonedInstances": entries}))
}

// step is one operation of a JSON patch.
type step struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// remove removes the named records, bound to the node as it was read with them: a record that is for another instance by now stays, and
// all others with it.
func remove(ctx context.Context, c client.Client, n *v1beta2.Node, names []string) error {
	var steps []step
	for _, name := range names {
		path := "/status/abandonedInstances/" + name
		steps = append(steps, step{Op: "test", Path: path + "/uuid", Value: n.Status.AbandonedInstances[name].UUID},
			step{Op: "remove", Path: path})
	}
	body, err := json.Marshal(steps)
	if err != nil {
		return fmt.Errorf("encoding the removal of records of node %s: %w", n.Name, err)
	}
	object := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: n.Namespace, Name: n.Name}}
	if err := c.Status().Patch(ctx, object, client.RawPatch(types.JSONPatchType, body)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing records of node %s that have had their time: %w", n.Name, err)
	}
	return nil
}
