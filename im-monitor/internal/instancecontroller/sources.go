package instancecontroller

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
)

// reportSources are the events that may change a verdict. Each enqueues only the objects that it concerns.
func (s *base) reportSources(c cache.Cache) []source.TypedSource[Key] {
	return []source.TypedSource[Key]{
		source.TypedFunc[Key](s.reportQueue.Start),
		enqueue.On(c, &v1beta2.Engine{}, s.ofEngine, objectChanged(s.engineConcerns)),
		enqueue.On(c, &v1beta2.EngineFrontend{}, itself[*v1beta2.EngineFrontend](s, v1beta2.InstanceTypeEngineFrontend),
			objectChanged[*v1beta2.EngineFrontend](nil)),
		enqueue.On(c, &v1beta2.Replica{}, itself[*v1beta2.Replica](s, v1beta2.InstanceTypeReplica), objectChanged[*v1beta2.Replica](nil)),
		enqueue.On(c, &v1beta2.InstanceManager{}, func(ctx context.Context, im *v1beta2.InstanceManager) []Key {
			return append(s.keysOfNode(ctx, im.Spec.NodeID), s.waitlist.all()...)
		}, kube.OnChange(managerFacts)),
		enqueue.On(c, &v1beta2.InstanceManager{}, s.ofSilent, kube.OnDifference(fewerEngines)),
		// What a deleted instance manager ran ends with its pod.
		enqueue.On(c, &corev1.Pod{}, func(context.Context, *corev1.Pod) []Key { return s.waitlist.all() },
			kube.NotCreated(), kube.OnChange(instancemanager.PodEnded)),
		enqueue.On(c, &v1beta2.EngineImage{}, func(context.Context, *v1beta2.EngineImage) []Key { return s.waitlist.all() },
			kube.OnDeepChange(imageFacts)),
		enqueue.On(c, &v1beta2.BackingImage{}, func(context.Context, *v1beta2.BackingImage) []Key { return s.waitlist.all() }),
		enqueue.On(c, &v1beta2.Node{}, ofNode[*v1beta2.Node](s), kube.OnDeepChange(nodeFacts)),
		enqueue.On(c, &corev1.Node{}, ofNode[*corev1.Node](s), kube.OnChange(outOfService)),
	}
}

// ofNode are the objects of a node, and all that wait.
func ofNode[T client.Object](s *base) func(context.Context, T) []Key {
	return func(ctx context.Context, n T) []Key {
		return append(s.keysOfNode(ctx, n.GetName()), s.waitlist.all()...)
	}
}

// ofSilent are all that wait, where no list reports what became of the engines of an instance manager: their status does then.
func (s *base) ofSilent(_ context.Context, im *v1beta2.InstanceManager) []Key {
	if _, answers := s.store.Latest(im.Name); answers {
		return nil
	}
	return s.waitlist.all()
}

// executorSources: only the reporter enqueues the executors, and whoever gives a slot back.
func (s *base) executorSources() []source.TypedSource[Key] {
	return []source.TypedSource[Key]{source.TypedFunc[Key](s.executorQueue.Start)}
}

// itself is the object, and those of its volume that wait.
func itself[T client.Object](s *base, kind string) func(context.Context, T) []Key {
	return func(_ context.Context, o T) []Key {
		object, _ := read(o)
		return append(s.waitlist.of(object.Volume), Key{Kind: kind, Name: o.GetName()})
	}
}

// ofEngine are what an engine concerns, and the frontends of its volume: one may lead to it, or be about to.
func (s *base) ofEngine(ctx context.Context, e *v1beta2.Engine) []Key {
	keys := itself[*v1beta2.Engine](s, v1beta2.InstanceTypeEngine)(ctx, e)
	return append(keys, s.keys(ctx, v1beta2.InstanceTypeEngineFrontend, &v1beta2.EngineFrontendList{},
		client.MatchingFields{kube.FieldVolume: e.Spec.VolumeName})...)
}

// keys are those of the objects of one kind that the option selects.
func (s *base) keys(ctx context.Context, kind string, list client.ObjectList, which client.ListOption) (out []Key) {
	for _, name := range s.mapper.Names(ctx, list, which) {
		out = append(out, Key{kind, name})
	}
	return out
}

// objectChanged ignores the polls of enginepoll: what counts is the spec, the deletion, and what this package keeps of the status.
func objectChanged[T client.Object](more func(before, after T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(T), e.ObjectNew.(T)
		if kube.Changed(client.Object.GetGeneration, client.Object(before), client.Object(after)) {
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
		s.reportQueue.Add(s.waitlist.all()...) // what somebody waits for may have ended with the list before
		return
	}
	snapshot, known := s.store.Latest(change.InstanceManager)
	for _, name := range change.Names {
		kind := ""
		if known {
			kind = snapshot.Instances.At(name).Type
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
	for name, i := range snapshot.Instances.All() {
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
	here := client.MatchingFields{kube.FieldNode: nodeName}
	return slices.Concat(
		s.keys(ctx, v1beta2.InstanceTypeReplica, &v1beta2.ReplicaList{}, here),
		s.keys(ctx, v1beta2.InstanceTypeEngine, &v1beta2.EngineList{}, here),
		s.keys(ctx, v1beta2.InstanceTypeEngineFrontend, &v1beta2.EngineFrontendList{}, here))
}

type manager struct{ node, dataEngine, image, state, ip, pod string }

func managerFacts(im *v1beta2.InstanceManager) manager {
	return manager{im.Spec.NodeID, im.Spec.DataEngine, im.Spec.Image, im.Status.CurrentState, im.Status.IP,
		conditions.Reason(im.Status.Conditions, v1beta2.InstanceManagerPodReady)}
}

// fewerEngines reports whether an engine is not in the status any more.
func fewerEngines(before, after *v1beta2.InstanceManager) bool {
	for name := range before.Status.InstanceEngines {
		if _, there := after.Status.InstanceEngines[name]; !there {
			return true
		}
	}
	return false
}

// facts are what matters of a Node: not what disks hold and report.
type facts struct {
	Down, UpgradeRequested bool
	LoadingDisk            string
	Disks                  map[string]string
}

func nodeFacts(n *v1beta2.Node) facts {
	return facts{v1beta2.IsNodeDown(n), n.Spec.UpgradeRequested, n.Status.LoadingDisk(), disks(n)}
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

// imageFacts are what a start needs of an EngineImage.
func imageFacts(i *v1beta2.EngineImage) any {
	return struct {
		CLI, CLIMin int
		Nodes       map[string]bool
	}{i.Status.CLIAPIVersion, i.Status.CLIAPIMinVersion, i.Status.NodeDeploymentMap}
}
