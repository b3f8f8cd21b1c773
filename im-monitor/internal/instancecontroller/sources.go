package instancecontroller

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// reportSources are the events that may change a verdict. Each enqueues only the objects that it concerns.
func (s *base) reportSources(c cache.Cache) []source.TypedSource[Key] {
	return []source.TypedSource[Key]{
		source.TypedFunc[Key](s.reportQueue.Start),
		source.TypedKind(c, &v1beta2.Engine{}, objectHandler[*v1beta2.Engine](s, v1beta2.InstanceTypeEngine),
			objectChanged[*v1beta2.Engine](s.engineConcerns)),
		source.TypedKind(c, &v1beta2.EngineFrontend{}, objectHandler[*v1beta2.EngineFrontend](s, v1beta2.InstanceTypeEngineFrontend),
			objectChanged[*v1beta2.EngineFrontend](nil)),
		source.TypedKind(c, &v1beta2.Replica{}, objectHandler[*v1beta2.Replica](s, v1beta2.InstanceTypeReplica),
			objectChanged[*v1beta2.Replica](nil)),
		source.TypedKind(c, &v1beta2.InstanceManager{}, handler.TypedEnqueueRequestsFromMapFunc(
			func(ctx context.Context, im *v1beta2.InstanceManager) []Key { return s.keysOfNode(ctx, im.Spec.NodeID) }),
			changed(managerFacts)),
		source.TypedKind(c, &v1beta2.EngineImage{}, handler.TypedEnqueueRequestsFromMapFunc(
			func(context.Context, *v1beta2.EngineImage) []Key { return s.waitlist.all() })),
		source.TypedKind(c, &v1beta2.BackingImage{}, handler.TypedEnqueueRequestsFromMapFunc(
			func(context.Context, *v1beta2.BackingImage) []Key { return s.waitlist.all() })),
		source.TypedKind(c, &v1beta2.Node{}, handler.TypedEnqueueRequestsFromMapFunc(
			func(ctx context.Context, n *v1beta2.Node) []Key {
				return append(s.keysOfNode(ctx, n.Name), s.waitlist.all()...)
			}), nodeChanged()),
		source.TypedKind(c, &corev1.Node{}, handler.TypedEnqueueRequestsFromMapFunc(
			func(ctx context.Context, n *corev1.Node) []Key {
				return append(s.keysOfNode(ctx, n.Name), s.waitlist.all()...)
			}), changed(outOfService)),
	}
}

// executorSources: only the reporter enqueues the executors, and whoever gives a slot back.
func (s *base) executorSources() []source.TypedSource[Key] {
	return []source.TypedSource[Key]{source.TypedFunc[Key](s.executorQueue.Start)}
}

// objectHandler enqueues the object, those of its volume that wait, and, of an engine, the frontends of its volume: one may lead to it,
// or be about to.
func objectHandler[T client.Object](s *base, kind string) handler.TypedEventHandler[T, Key] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, o T) []Key {
		object, _ := read(o)
		keys := append(s.waitlist.of(object.Volume), Key{Kind: kind, Name: o.GetName()})
		if kind != v1beta2.InstanceTypeEngine {
			return keys
		}
		var frontends v1beta2.EngineFrontendList
		err := s.rt.Client.List(ctx, &frontends, client.InNamespace(s.rt.Namespace),
			client.MatchingFields{frontendsByVolume: object.Volume}, client.UnsafeDisableDeepCopy)
		if err != nil {
			s.log.Error(err, "finding the frontends of an engine", "name", o.GetName())
		}
		for i := range frontends.Items {
			keys = append(keys, Key{Kind: v1beta2.InstanceTypeEngineFrontend, Name: frontends.Items[i].Name})
		}
		return keys
	})
}

// objectChanged ignores the polls of enginepoll: what counts is the spec, the deletion, and what this package keeps of the status.
func objectChanged[T client.Object](more func(before, after T) bool) predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{UpdateFunc: func(e event.TypedUpdateEvent[T]) bool {
		before, after := e.ObjectOld, e.ObjectNew
		if before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
			(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) {
			return true
		}
		_, old := read(before)
		_, now := read(after)
		return !old.Equal(now) || more != nil && more(before, after)
	}}
}

// engineConcerns lets an engine's size pass, which its frontend follows, and its replicas' modes where a second engine waits for them.
func (s *base) engineConcerns(before, after *v1beta2.Engine) bool {
	return before.Status.CurrentSize != after.Status.CurrentSize ||
		!maps.Equal(before.Status.ReplicaModeMap, after.Status.ReplicaModeMap) && len(s.waitlist.of(after.Spec.VolumeName)) > 0
}

// inventoryChanged enqueues the objects whose names a list changed. When an inventory becomes known or unknown, all of its node are
// concerned.
func (s *base) inventoryChanged(change inventory.Change) {
	if change.Whole {
		s.reportQueue.Add(s.keysOfNode(context.Background(), change.Node)...)
		s.reportQueue.Add(s.listed(change.InstanceManager)...)
		return
	}
	snapshot, known := s.store.Latest(change.InstanceManager)
	for _, name := range change.Names {
		kind := ""
		if known {
			kind = snapshot.Instances[name].Type
		}
		s.reportQueue.Add(keysNamed(kind, name)...)
		s.reportQueue.Add(s.waitlist.of(volumeOf(name))...)
	}
}

// listed are all names of the newest list: what runs there may belong to an object of another node.
func (s *base) listed(instanceManager string) []Key {
	snapshot, known := s.store.Latest(instanceManager)
	if !known {
		return nil
	}
	var out []Key
	for name, i := range snapshot.Instances {
		out = append(out, keysNamed(i.Type, name)...)
	}
	return out
}

// keysNamed are the objects that a name may belong to: of a name that is not listed any more no one reports the kind.
func keysNamed(kind, name string) []Key {
	var out []Key
	for _, k := range kinds {
		if kind == "" || kind == k {
			out = append(out, Key{Kind: k, Name: name})
		}
	}
	return out
}

// keysOfNode are the objects whose spec names a node.
func (s *base) keysOfNode(ctx context.Context, nodeName string) []Key {
	if nodeName == "" {
		return nil
	}
	options := []client.ListOption{client.InNamespace(s.rt.Namespace), client.MatchingFields{objectsByNode: nodeName},
		client.UnsafeDisableDeepCopy}
	var replicas v1beta2.ReplicaList
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	var out []Key
	for _, list := range []client.ObjectList{&replicas, &engines, &frontends} {
		if err := s.rt.Client.List(ctx, list, options...); err != nil {
			s.log.Error(err, "finding the objects of a node", "node", nodeName)
		}
	}
	for i := range replicas.Items {
		out = append(out, Key{v1beta2.InstanceTypeReplica, replicas.Items[i].Name})
	}
	for i := range engines.Items {
		out = append(out, Key{v1beta2.InstanceTypeEngine, engines.Items[i].Name})
	}
	for i := range frontends.Items {
		out = append(out, Key{v1beta2.InstanceTypeEngineFrontend, frontends.Items[i].Name})
	}
	return out
}

// changed lets updates pass only where the facts differ.
func changed[T client.Object, F comparable](facts func(T) F) predicate.TypedFuncs[T] {
	return predicate.TypedFuncs[T]{UpdateFunc: func(e event.TypedUpdateEvent[T]) bool {
		return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || facts(e.ObjectOld) != facts(e.ObjectNew)
	}}
}

type manager struct{ node, dataEngine, image, state, ip, pod string }

func managerFacts(im *v1beta2.InstanceManager) manager {
	return manager{im.Spec.NodeID, im.Spec.DataEngine, im.Spec.Image, im.Status.CurrentState, im.Status.IP,
		conditions.Reason(im.Status.Conditions, v1beta2.InstanceManagerPodReady)}
}

// nodeChanged lets what disks hold and report go by.
func nodeChanged() predicate.TypedPredicate[*v1beta2.Node] {
	return predicate.TypedFuncs[*v1beta2.Node]{UpdateFunc: func(e event.TypedUpdateEvent[*v1beta2.Node]) bool {
		before, after := e.ObjectOld, e.ObjectNew
		return before.UID != after.UID || node.IsDown(before) != node.IsDown(after) ||
			before.Spec.UpgradeRequested != after.Spec.UpgradeRequested || before.Status.LoadingDisk() != after.Status.LoadingDisk() ||
			!maps.Equal(disks(before), disks(after))
	}}
}

func disks(n *v1beta2.Node) map[string]string {
	out := make(map[string]string, len(n.Status.DiskStatus))
	for _, d := range n.Status.DiskStatus {
		out[d.DiskUUID] = d.DiskName
		if !conditions.IsTrue(d.Conditions, v1beta2.DiskReady) {
			out[d.DiskUUID] = ""
		}
	}
	return out
}
