package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// silences remember since when a node cannot be heard.
type silences struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// set notes a silence's beginning or end.
func (s *silences) set(node string, silent bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !silent {
		delete(s.since, node)
	} else if s.since[node].IsZero() {
		s.since[node] = now
	}
}

func (s *silences) of(node string) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, ok := s.since[node]
	return since, ok
}

// nodeChanged is called by the machine when a node appears, goes or comes back.
func (k *Kubelet) nodeChanged(node string, state machine.NodeState) {
	if k.options.DefaultDisks && k.options.Devices != nil {
		k.options.Devices.EnsureDevice(node, defaultDevice)
	}
	k.silent.set(node, state != machine.Up, k.options.Clock.Now())
	k.nodeQueue.Add(node)
	if state != machine.Up {
		return
	}
	for _, p := range k.options.Machine.Pods() {
		if p.Node == node {
			k.podQueue.Add(p.Name)
		}
	}
	k.engines.Range(func(pod, put any) bool {
		if put.(placed).node == node {
			k.podQueue.Add(pod.(string))
		}
		return true
	})
	if k.pods != nil {
		k.requeuePods(node)
	}
}

// RemoveNode ends everything on a node and deletes its Node object.
func (k *Kubelet) RemoveNode(ctx context.Context, name string) error {
	if err := k.options.Machine.RemoveNode(name); err != nil {
		return err
	}
	err := k.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting node %s: %w", name, err)
	}
	return nil
}

// reconcileNode makes a node's object exist and its Ready condition report whether it is reachable.
func (k *Kubelet) reconcileNode(ctx context.Context, name string) error {
	state, ok := k.options.Machine.NodeState(name)
	if !ok {
		return nil
	}
	if state == machine.Up {
		return k.ensureNode(ctx, name)
	}
	since, silent := k.silent.of(name)
	if !silent {
		return nil
	}
	if left := k.options.NodeGrace - k.options.Clock.Since(since); left > 0 {
		k.nodeQueue.AddAfter(name, left)
		return nil
	}
	return k.writeReady(ctx, name, corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status.")
}

// ensureNode creates a node's object, or makes it Ready again.
func (k *Kubelet) ensureNode(ctx context.Context, name string) error {
	_, err := k.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64", "drover.dev/simulated": "true"}}},
		metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating node %s: %w", name, err)
	}
	return k.writeReady(ctx, name, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
}

// capacity is what each simulated node has.
var capacity = corev1.ResourceList{
	corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"),
	corev1.ResourcePods: resource.MustParse("250"),
	"hugepages-2Mi":     resource.MustParse("4Gi"),
}

// writeReady writes a node's Ready condition and what goes with it. Nothing is written when it reports it already.
func (k *Kubelet) writeReady(ctx context.Context, name string, status corev1.ConditionStatus, reason, message string) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading node %s: %w", name, err)
	}
	now := metav1.NewTime(k.options.Clock.Now())
	condition := corev1.NodeCondition{Type: corev1.NodeReady, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now,
		LastTransitionTime: now}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == status {
			return nil
		}
	}
	return k.patchNode(ctx, name, condition)
}

// patchNode writes the Ready condition.
func (k *Kubelet) patchNode(ctx context.Context, name string, ready corev1.NodeCondition) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"conditions": []corev1.NodeCondition{ready}, "capacity": capacity, "allocatable": capacity,
		"addresses": []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}},
		"nodeInfo": map[string]any{"kubeletVersion": "v1.36.0-simulated", "operatingSystem": "linux", "architecture": "amd64",
			"osImage": "Simulated Linux", "kernelVersion": "6.8.0", "containerRuntimeVersion": "containerd://2.0.0",
			"machineID": name, "systemUUID": name, "bootID": name, "kubeProxyVersion": ""},
	}})
	if err != nil {
		return fmt.Errorf("encoding the status of node %s: %w", name, err)
	}
	_, err = k.client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of node %s: %w", name, err)
	}
	return nil
}
