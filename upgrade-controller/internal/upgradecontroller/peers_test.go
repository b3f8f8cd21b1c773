package upgradecontroller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/plan"
)

// peers play attach-controller, im-monitor, snapshot-controller and kubelet on the API server: what the model does
// to objects in memory is written to them.
type peers struct {
	admin     client.WithWatch
	namespace string
	broken    map[string]bool
	// silent are the binaries that do not answer what they tried, refused what the others report.
	silent  map[string]bool
	refused map[string][]string
	reactor *testkit.Reactor
}

func (w *world) play(broken ...string) *peers {
	n := &peers{admin: w.admin, namespace: w.namespace, broken: map[string]bool{}}
	for _, node := range broken {
		n.broken[node] = true
	}
	n.reactor = testkit.React(w.t, w.admin, w.namespace, n.round, &v1beta2.DataEngineUpgradeManagerList{},
		&v1beta2.NodeDataEngineUpgradeList{}, &v1beta2.NodeList{}, &v1beta2.InstanceManagerList{},
		&v1beta2.VolumeList{}, &v1beta2.EngineList{}, &v1beta2.ReplicaList{}, &v1beta2.SnapshotList{}, &corev1.PodList{})
	return n
}

// round reads everything, lets the model take one step with each volume and node, and writes what changed.
func (n *peers) round(ctx context.Context) error {
	before, err := read(ctx, n.admin, n.namespace)
	if err != nil {
		return err
	}
	after := copied(before)
	after.Broken = n.broken
	for name := range after.Volumes {
		after.Attach(name)
	}
	for name := range after.Nodes {
		after.Monitor(name)
	}
	return firstError(n.answerRehearsals(ctx, before),
		write(ctx, n, before.Engines, after.Engines), write(ctx, n, before.Replicas, after.Replicas),
		write(ctx, n, before.Volumes, after.Volumes), write(ctx, n, before.Managers, after.Managers),
		write(ctx, n, before.Snapshots, after.Snapshots), n.kubelet(ctx))
}

// answerRehearsals answers for the other binaries that the API server accepts each of their requests.
func (n *peers) answerRehearsals(ctx context.Context, seen *model.World) error {
	for _, m := range seen.Plans {
		for _, binary := range plan.Triers {
			if binary == Owner || n.silent[binary] || m.Status.RehearsalRequestedAt == "" ||
				m.Status.Rehearsals[binary].RequestedAt == m.Status.RehearsalRequestedAt {
				continue
			}
			answer := map[string]any{"requestedAt": m.Status.RehearsalRequestedAt, "refused": n.refused[binary]}
			if err := tolerable(status.MergeStatus(ctx, n.admin, m, map[string]any{"rehearsals": map[string]any{binary: answer}})); err != nil {
				return err
			}
		}
	}
	return nil
}

// kubelet runs the pods that try images.
func (n *peers) kubelet(ctx context.Context) error {
	var pods corev1.PodList
	if err := n.admin.List(ctx, &pods, client.InNamespace(n.namespace)); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase == corev1.PodSucceeded || pod.DeletionTimestamp != nil {
			continue
		}
		pod.Status.Phase = corev1.PodSucceeded
		if err := n.admin.Status().Update(ctx, pod); tolerable(err) != nil {
			return err
		}
	}
	return nil
}

// read fills a model's world with what the API server has.
func read(ctx context.Context, c client.Client, namespace string) (*model.World, error) {
	w := model.New()
	var nodes v1beta2.NodeList
	var managers v1beta2.InstanceManagerList
	var volumes v1beta2.VolumeList
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	var snapshots v1beta2.SnapshotList
	var upgrades v1beta2.NodeDataEngineUpgradeList
	var plans v1beta2.DataEngineUpgradeManagerList
	for _, into := range []client.ObjectList{&plans, &upgrades, &nodes, &managers, &volumes, &engines, &replicas, &snapshots} {
		if err := c.List(ctx, into, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
	}
	fill(w.Nodes, nodes.Items)
	fill(w.Managers, managers.Items)
	fill(w.Volumes, volumes.Items)
	fill(w.Engines, engines.Items)
	fill(w.Replicas, replicas.Items)
	fill(w.Snapshots, snapshots.Items)
	fill(w.Upgrades, upgrades.Items)
	fill(w.Plans, plans.Items)
	return w, nil
}

func fill[T any, P interface {
	client.Object
	*T
}](into map[string]P, items []T) {
	for i := range items {
		into[P(&items[i]).GetName()] = &items[i]
	}
}

func copied(w *model.World) *model.World {
	out := model.New()
	deep(out.Nodes, w.Nodes)
	deep(out.Managers, w.Managers)
	deep(out.Volumes, w.Volumes)
	deep(out.Engines, w.Engines)
	deep(out.Replicas, w.Replicas)
	deep(out.Snapshots, w.Snapshots)
	deep(out.Upgrades, w.Upgrades)
	deep(out.Plans, w.Plans)
	return out
}

func deep[P client.Object](into, from map[string]P) {
	for name, object := range from {
		into[name] = object.DeepCopyObject().(P)
	}
}

// write makes the API server's objects of a kind those of after. What changed there meanwhile is left to the next round.
func write[P client.Object](ctx context.Context, n *peers, before, after map[string]P) error {
	for name, object := range before {
		if _, kept := after[name]; !kept {
			object.SetFinalizers(nil)
			if err := tolerable(n.admin.Update(ctx, object)); err != nil {
				return err
			}
			if err := tolerable(n.admin.Delete(ctx, object)); err != nil {
				return err
			}
		}
	}
	for name, object := range after {
		old, had := before[name]
		if had && equality.Semantic.DeepEqual(old, object) {
			continue
		}
		status := object.DeepCopyObject().(P)
		if had {
			if err := n.admin.Update(ctx, object); err != nil {
				if tolerable(err) != nil {
					return err
				}
				continue
			}
		} else {
			object.SetNamespace(n.namespace)
			object.SetUID("")
			if err := tolerable(n.admin.Create(ctx, object)); err != nil {
				return err
			}
		}
		status.SetNamespace(n.namespace)
		status.SetResourceVersion(object.GetResourceVersion())
		status.SetUID(object.GetUID())
		if err := tolerable(n.admin.Status().Update(ctx, status)); err != nil {
			return err
		}
	}
	return nil
}

func tolerable(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
