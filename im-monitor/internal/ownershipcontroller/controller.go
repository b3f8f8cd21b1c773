// Package ownershipcontroller keeps status.ownerID of Engines, EngineFrontends, Replicas and InstanceManagers as package
// ownership decides. It is the one writer of that field there (an Orphan's is written by package orphancontroller), but for an instance's
// first owner: that comes with its first status, which package instancecontroller writes.
//
// Work follows what changed: a changed object is one key; a node that went down or came back enqueues the objects whose
// spec.nodeID it is and those that it serves for another node, both by index, and no one else's.
package ownershipcontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;engines;enginefrontends;replicas;instancemanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines/status;enginefrontends/status;replicas/status;instancemanagers/status,verbs=patch,namespace=longhorn-system

const (
	workers = 4
	// bySubstitute finds objects by status.ownerID where that is another node, or no one.
	bySubstitute = "substitute"
	nowhere      = "-" // no node can have this name
)

// Setup registers one controller for each kind. withInstances reports whether package instancecontroller runs, too, which writes first
// owners.
func Setup(ctx context.Context, rt *runkit.Runtime, withInstances bool) error {
	for _, k := range kinds() {
		k.instance = k.instance && withInstances
		if err := setupKind(ctx, rt, k); err != nil {
			return fmt.Errorf("setting up the owners of %s: %w", k.name, err)
		}
	}
	return nil
}

func setupKind(ctx context.Context, rt *runkit.Runtime, k kind) error {
	if err := rt.AddIndexes(ctx, kube.ByNode(k.object()), kube.IndexBy(k.object(), bySubstitute, k.substitute)); err != nil {
		return err
	}
	s := &reconciler{rt: rt, kind: k, mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	return ctrl.NewControllerManagedBy(rt.Manager).Named(k.name+"-owner").
		WithOptions(queue.Options(workers)).
		For(k.object(), builder.WithPredicates(kube.OnChange(k.facts))).
		Watches(&v1beta2.Node{}, s.mapper.To(s.concerned), builder.WithPredicates(kube.OnChange(service))).
		Complete(s)
}

// substitute is the node that answers for an object of another node; empty where its own one does.
func (k kind) substitute(o client.Object) string {
	switch nodeID, owner := v1beta2.NodeNameOf(o), v1beta2.OwnerNodeOf(o); {
	case nodeID == owner:
		return ""
	case owner == "":
		return nowhere
	default:
		return owner
	}
}

// facts are what of an object its owner depends on.
type facts struct {
	node, owner string
	unreported  bool
}

func (k kind) facts(o client.Object) facts {
	return facts{v1beta2.NodeNameOf(o), v1beta2.OwnerNodeOf(o), k.unreported(o)}
}

// service reports whether a Node is down, and whether it may stand in for another one.
func service(n *v1beta2.Node) [2]bool { return [2]bool{v1beta2.IsNodeDown(n), serves(n)} }

// serves reports whether a node may stand in for another one.
func serves(n *v1beta2.Node) bool {
	return n.DeletionTimestamp == nil && conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady)
}

// concerned are the objects of a node and those that it serves for another one; where the node can serve, also those
// that no one serves yet.
func (s *reconciler) concerned(ctx context.Context, obj client.Object) (out []string) {
	name := obj.GetName()
	lookups := []client.MatchingFields{{kube.FieldNode: name}, {bySubstitute: name}}
	if serves(obj.(*v1beta2.Node)) {
		lookups = append(lookups, client.MatchingFields{bySubstitute: nowhere})
	}
	for _, which := range lookups {
		out = append(out, s.mapper.Names(ctx, s.kind.list(), which)...)
	}
	return out
}
