package upgrade

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
)

// Enqueue enqueues the volumes that a change of an upgrade concerns: those that it lists, and, if its state changed, those with anything
// on its node, which onNode returns. While a node of five hundred volumes is listed one after the other, only the volumes whose entry
// differs are enqueued.
func Enqueue(namespace string, onNode func(ctx context.Context, node string) []string) handler.EventHandler {
	add := func(q queue, volumes ...string) {
		seen := map[string]bool{}
		for _, name := range volumes {
			if name != "" && !seen[name] {
				seen[name] = true
				q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
			}
		}
	}
	all := func(ctx context.Context, u *v1beta2.NodeDataEngineUpgrade) []string {
		out := onNode(ctx, u.Spec.NodeID)
		for name := range u.Status.Volumes {
			out = append(out, name)
		}
		return out
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if u := e.Object.(*v1beta2.NodeDataEngineUpgrade); Active(u.Status.State) {
				add(q, all(ctx, u)...)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, after := e.ObjectOld.(*v1beta2.NodeDataEngineUpgrade), e.ObjectNew.(*v1beta2.NodeDataEngineUpgrade)
			if before.Status.State != after.Status.State {
				add(q, append(all(ctx, before), all(ctx, after)...)...)
				return
			}
			add(q, differing(before.Status.Volumes, after.Status.Volumes)...)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			if u := e.Object.(*v1beta2.NodeDataEngineUpgrade); Active(u.Status.State) {
				add(q, all(ctx, u)...)
			}
		},
	}
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// differing are the volumes whose relevant entry of an upgrade differs.
func differing(before, after map[string]v1beta2.VolumeUpgradeStatus) []string {
	var out []string
	for name, now := range after {
		was, known := before[name]
		if !known || was.Replica != now.Replica || was.OriginalNodeID != now.OriginalNodeID {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			out = append(out, name)
		}
	}
	return out
}
