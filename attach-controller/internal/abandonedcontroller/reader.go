package abandonedcontroller

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	err := lookup.ListShared(ctx, r.Client, r.Namespace, &list, client.MatchingFields{index: key})
	return list.Items, err
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

// remove removes the named records, bound to the node as it was read with them: a record that is for another instance by now stays, and
// all others with it.
func remove(ctx context.Context, c client.Client, n *v1beta2.Node, names []string) error {
	var patch status.JSONPatch
	for _, name := range names {
		path := "/status/abandonedInstances/" + name
		patch.Test(path+"/uuid", n.Status.AbandonedInstances[name].UUID)
		patch.Remove(path)
	}
	return client.IgnoreNotFound(patch.WriteStatus(ctx, c, n))
}
