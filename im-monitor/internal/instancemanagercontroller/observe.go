package instancemanagercontroller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// observe reads everything about one InstanceManager from the caches and the inventory.
func (s *reconciler) observe(ctx context.Context, im *v1beta2.InstanceManager) (instancemanager.World, error) {
	w := instancemanager.World{Now: s.rt.Clock.Now(), Options: s.options, InstanceManager: im, RetryAt: s.memory.retryAt(im.Name)}
	var err error
	if w.Settings, err = s.settings.Current(ctx); err != nil {
		return w, err
	}
	if w.Kubernetes, w.Node, err = s.nodeFacts(ctx, im.Spec.NodeID); err != nil {
		return w, err
	}
	w.Kubernetes, w.NodeHolds = w.Kubernetes.At(w.Now)
	if w.Pod, err = s.pod(ctx, im.Name); err != nil {
		return w, err
	}
	if w.Siblings, err = s.siblingsOf(ctx, im); err != nil {
		return w, err
	}
	if w.Upgrade, err = s.upgradeOf(ctx, im.Spec.NodeID); err != nil {
		return w, err
	}
	snapshot, known := s.store.Latest(im.Name)
	w.Inventory = s.inventoryOf(w, snapshot, known)
	return w, s.readMapped(ctx, &w)
}

func (s *reconciler) nodeFacts(ctx context.Context, name string) (*node.Kubernetes, *v1beta2.Node, error) {
	var kubernetes *node.Kubernetes
	var k corev1.Node
	switch err := s.rt.Client.Get(ctx, client.ObjectKey{Name: name}, &k); {
	case err == nil:
		kubernetes = node.FromKubernetes(&k)
	case !apierrors.IsNotFound(err):
		return nil, nil, fmt.Errorf("reading Kubernetes node %s: %w", name, err)
	}
	var n v1beta2.Node
	switch err := s.rt.Client.Get(ctx, client.ObjectKey{Namespace: s.rt.Namespace, Name: name}, &n); {
	case err == nil:
		return kubernetes, &n, nil
	case apierrors.IsNotFound(err):
		return kubernetes, nil, nil
	default:
		return nil, nil, fmt.Errorf("reading node %s: %w", name, err)
	}
}

func (s *reconciler) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	var pod corev1.Pod
	switch err := s.rt.Client.Get(ctx, client.ObjectKey{Namespace: s.rt.Namespace, Name: name}, &pod); {
	case err == nil:
		return &pod, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	default:
		return nil, fmt.Errorf("reading pod %s: %w", name, err)
	}
}

func (s *reconciler) siblingsOf(ctx context.Context, im *v1beta2.InstanceManager) ([]instancemanager.Sibling, error) {
	var list v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &list, client.MatchingFields{kube.FieldNode: im.Spec.NodeID}); err != nil {
		return nil, err
	}
	var out []instancemanager.Sibling
	objects := map[string]bool{}
	for i := range list.Items {
		other := &list.Items[i]
		objects[other.Name] = true
		if other.Name == im.Name || other.Spec.DataEngine != im.Spec.DataEngine || !ours(other) {
			continue
		}
		pod, err := s.pod(ctx, other.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, instancemanager.Sibling{Name: other.Name, Image: other.Spec.Image, HasPod: pod != nil,
			Running: other.Status.CurrentState == v1beta2.InstanceManagerStateRunning,
			Runs:    instancemanager.Running(other.Status), New: other.Status.CurrentState == "" ||
				other.Status.CurrentState == v1beta2.InstanceManagerStateStopped})
	}
	left, err := s.podsWithout(ctx, im, objects)
	return append(out, left...), err
}

// podsWithout are the v2 pods of a node that InstanceManagers left which were deleted: their owner's deletion ends them later, or never.
func (s *reconciler) podsWithout(ctx context.Context, im *v1beta2.InstanceManager, objects map[string]bool) (out []instancemanager.Sibling,
	err error) {
	if im.Spec.DataEngine != v1beta2.DataEngineV2 {
		return nil, nil
	}
	var pods corev1.PodList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &pods, client.MatchingFields{podsByNode: im.Spec.NodeID}); err != nil {
		return nil, err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Name != im.Name && !objects[p.Name] && p.Labels[v1beta2.LabelDataEngine] == v1beta2.DataEngineV2 && !instancemanager.PodEnded(p) {
			out = append(out, instancemanager.Sibling{Name: p.Name, HasPod: true, PodOnly: true})
		}
	}
	return out, nil
}

// ours leaves the two types of long ago alone, which held engines or replicas only.
func ours(im *v1beta2.InstanceManager) bool {
	return im.Spec.Type == "" || im.Spec.Type == v1beta2.InstanceManagerTypeAIO
}

// inventoryOf is what a list reports about the pod that is there now; a list of another pod reports nothing about it.
func (s *reconciler) inventoryOf(w instancemanager.World, snapshot *inventory.Snapshot, known bool) instancemanager.Inventory {
	name := w.InstanceManager.Name
	if known && w.Pod != nil && snapshot.PodUID == w.Pod.UID {
		s.memory.heard(name, true, w.Now)
		return instancemanager.Inventory{
			Known: true, Settled: snapshot.Settled, Processes: processes(snapshot.Instances), Gone: s.gone(w.InstanceManager, snapshot),
			Version: instancemanager.Version{
				API: int(snapshot.Version.APIVersion), APIMin: int(snapshot.Version.APIMinVersion),
				Proxy: int(snapshot.Version.ProxyAPIVersion), ProxyMin: int(snapshot.Version.ProxyAPIMinVersion),
			},
		}
	}
	// Nothing is to be heard of a pod that is not ready: silence begins when it is, however long its start took.
	out := instancemanager.Inventory{UnknownSince: s.memory.heard(name, !instancemanager.PodReady(w.Pod), w.Now)}
	if err := s.store.Err(name); err != nil {
		out.Problem = err.Error()
	}
	return out
}

// gone are the replicas of a v2 instance manager's status that are proven not to be there. What is not proven is asked for.
func (s *reconciler) gone(im *v1beta2.InstanceManager, snapshot *inventory.Snapshot) map[string]bool {
	if snapshot.DataEngine != v1beta2.DataEngineV2 {
		return nil
	}
	var out map[string]bool
	for name := range im.Status.InstanceReplicas {
		if snapshot.Instances.Has(name) {
			continue
		}
		if s.store.Absent(inventory.Subject{InstanceManager: im.Name, Name: name, Type: v1beta2.InstanceTypeReplica}) {
			if out == nil {
				out = map[string]bool{}
			}
			out[name] = true
		}
	}
	return out
}

// processes sorts instances into the maps of the status. What is none of the three kinds has no place there.
func processes(instances inventory.Instances) instancemanager.Processes {
	out := instancemanager.Processes{
		Engines:         map[string]v1beta2.InstanceProcess{},
		EngineFrontends: map[string]v1beta2.InstanceProcess{},
		Replicas:        map[string]v1beta2.InstanceProcess{},
	}
	for name, instance := range instances.All() {
		switch instance.Type {
		case v1beta2.InstanceTypeEngine:
			out.Engines[name] = process(instance)
		case v1beta2.InstanceTypeEngineFrontend:
			out.EngineFrontends[name] = process(instance)
		case v1beta2.InstanceTypeReplica:
			out.Replicas[name] = process(instance)
		}
	}
	return out
}

func process(i inventory.Instance) v1beta2.InstanceProcess {
	return v1beta2.InstanceProcess{
		Spec: v1beta2.InstanceProcessSpec{Name: i.Name, DataEngine: i.DataEngine},
		Status: v1beta2.InstanceProcessStatus{
			State: i.State, Type: i.Type, UUID: i.UUID, ErrorMsg: i.ErrorMsg, Endpoint: i.Endpoint,
			PortStart: i.PortStart, PortEnd: i.PortEnd, TargetPortStart: i.TargetPortStart, TargetPortEnd: i.TargetPortEnd,
		},
	}
}

// target is where the inventory must connect to.
func target(w instancemanager.World) inventory.Target {
	t := inventory.Target{
		InstanceManager: w.InstanceManager.Name, Node: w.InstanceManager.Spec.NodeID, DataEngine: w.InstanceManager.Spec.DataEngine,
		Address: w.Pod.Status.PodIP, PodUID: w.Pod.UID, TLS: w.PortsWithTLS(),
	}
	if t.DataEngine == "" {
		t.DataEngine = v1beta2.DataEngineV1
	}
	for _, c := range w.Pod.Status.ContainerStatuses {
		if c.State.Running != nil {
			t.ContainerID, t.ContainerStarted = c.ContainerID, c.State.Running.StartedAt.Time
		}
	}
	return t
}
