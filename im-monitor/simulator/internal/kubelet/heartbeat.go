package kubelet

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// nodeLeases is where kubelets keep their leases.
const nodeLeases = "kube-node-lease"

// beat renews the leases and statuses of all nodes that are up, each at its own period, until ctx ends.
func (k *Kubelet) beat(ctx context.Context) {
	var group errgroup.Group
	group.Go(func() error { k.every(ctx, "lease", k.options.Heartbeat, k.renew); return nil })
	group.Go(func() error { k.every(ctx, "status", k.options.StatusPeriod, k.post); return nil })
	if err := group.Wait(); err != nil {
		k.options.Log.Error("heartbeats ended", "error", err)
	}
}

// every does something for each node that is up, once per period; never when the period is 0.
func (k *Kubelet) every(ctx context.Context, what string, period time.Duration, do func(context.Context, string) error) {
	if period <= 0 {
		return
	}
	for {
		group, turn := errgroup.WithContext(ctx)
		group.SetLimit(max(k.options.Workers, 1))
		for _, node := range k.options.Machine.Nodes() {
			if node.State != machine.Up {
				continue
			}
			group.Go(func() error {
				if err := do(turn, node.Name); err != nil && ctx.Err() == nil {
					k.options.Log.Warn("heartbeat failed", "what", what, "node", node.Name, "error", err)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-k.options.Clock.After(period):
		}
	}
}

// renew renews a node's lease, or makes it.
func (k *Kubelet) renew(ctx context.Context, node string) error {
	leases := k.client.CoordinationV1().Leases(nodeLeases)
	now := metav1.NewMicroTime(k.options.Clock.Now())
	patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, now.UTC().Format(metav1.RFC3339Micro))
	_, err := leases.Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node, Namespace: nodeLeases}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &node, LeaseDurationSeconds: ptr.To(int32(40)), RenewTime: &now}}
	_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: nodeLeases}}
		if _, err := k.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil &&
			!apierrors.IsAlreadyExists(err) {
			return err
		}
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	}
	return err
}

// post writes a node's status unchanged but for the time of its heartbeat.
func (k *Kubelet) post(ctx context.Context, name string) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			c.LastHeartbeatTime = metav1.NewTime(k.options.Clock.Now())
			return k.patchNode(ctx, name, c)
		}
	}
	return nil
}

// requeuePods has a node that is reachable again reconcile all its pods.
func (k *Kubelet) requeuePods(node string) {
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		k.options.Log.Error("listing pods", "node", node, "error", err)
		return
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == node {
			k.podQueue.Add(pod.Name)
		}
	}
}
