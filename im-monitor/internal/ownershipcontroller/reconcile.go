package ownershipcontroller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/ownership"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
)

type reconciler struct {
	rt     *runkit.Runtime
	kind   kind
	mapper kube.Mapper
}

// Reconcile keeps the owner of one object.
func (s *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	obj := s.kind.object()
	if err := s.rt.Client.Get(ctx, request.NamespacedName, obj); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w, err := s.observe(ctx, obj)
	if err != nil {
		return ctrl.Result{}, err
	}
	owner := ownership.Owner(w)
	if owner == w.Owner {
		return ctrl.Result{}, nil
	}
	if err := status.MergeStatus(ctx, s.rt.Client, obj, map[string]any{"ownerID": owner}); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	s.rt.Log.V(1).Info("owner set", "kind", s.kind.name, "name", request.Name, "node", owner)
	return ctrl.Result{}, nil
}

func (s *reconciler) observe(ctx context.Context, obj client.Object) (ownership.World, error) {
	var w ownership.World
	w.NodeID, w.Owner, w.Unreported = v1beta2.NodeNameOf(obj), v1beta2.OwnerNodeOf(obj), s.kind.unreported(obj)
	if w.NodeID == "" {
		return w, nil
	}
	own, err := s.node(ctx, w.NodeID)
	if err != nil {
		return w, err
	}
	if w.Down = v1beta2.IsNodeDown(own); !w.Down {
		return w, nil
	}
	if w.Owner != "" && w.Owner != w.NodeID {
		present, err := s.node(ctx, w.Owner)
		if err != nil {
			return w, err
		}
		w.OwnerReady = present != nil && serves(present)
	}
	if !w.OwnerReady {
		w.FirstReady, err = s.firstReady(ctx)
	}
	return w, err
}

func (s *reconciler) node(ctx context.Context, name string) (*v1beta2.Node, error) {
	return lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, name, &v1beta2.Node{})
}

// firstReady checks every node, but only for an object whose node is down and that no one serves.
func (s *reconciler) firstReady(ctx context.Context) (string, error) {
	var list v1beta2.NodeList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &list); err != nil {
		return "", err
	}
	first := ""
	for i := range list.Items {
		if name := list.Items[i].Name; serves(&list.Items[i]) && (first == "" || name < first) {
			first = name
		}
	}
	return first, nil
}
