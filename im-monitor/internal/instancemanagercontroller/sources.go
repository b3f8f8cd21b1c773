package instancemanagercontroller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

func (s *reconciler) managersOfNode(ctx context.Context, obj client.Object) []string {
	return s.managers(ctx, obj.GetName())
}

func (s *reconciler) managersOfUpgrade(ctx context.Context, obj client.Object) []string {
	return s.managers(ctx, ofUpgrade(ctx, obj)...)
}

func (s *reconciler) siblings(ctx context.Context, obj client.Object) []string {
	return s.managers(ctx, v1beta2.NodeNameOf(obj))
}

func (s *reconciler) siblingsOfPod(ctx context.Context, obj client.Object) []string {
	return s.managers(ctx, nodeOfPod(obj.(*corev1.Pod)))
}

func nodeOfPod(pod *corev1.Pod) string { return pod.Spec.NodeName }

// managers are the InstanceManagers of nodes.
func (s *reconciler) managers(ctx context.Context, nodes ...string) (out []string) {
	for _, name := range nodes {
		out = append(out, s.mapper.Names(ctx, &v1beta2.InstanceManagerList{}, client.MatchingFields{kube.FieldNode: name})...)
	}
	return out
}

func (s *reconciler) allManagers(ctx context.Context, _ client.Object) []string {
	return s.mapper.Names(ctx, &v1beta2.InstanceManagerList{})
}

func (s *reconciler) allNodes(ctx context.Context, _ client.Object) []string {
	return s.mapper.Names(ctx, &v1beta2.NodeList{})
}

func nodeOfUpgrade(u *v1beta2.NodeDataEngineUpgrade) string { return u.Spec.NodeID }

func ofUpgrade(_ context.Context, obj client.Object) []string {
	return []string{nodeOfUpgrade(obj.(*v1beta2.NodeDataEngineUpgrade))}
}

// facts are what matters of a Node; no status does.
type facts struct {
	cpuRequest       int
	upgradeRequested bool
}

func nodeFacts(n *v1beta2.Node) facts {
	return facts{n.Spec.InstanceManagerCPURequest, n.Spec.UpgradeRequested}
}

func podStatus(pod *corev1.Pod) corev1.PodStatus { return pod.Status }

func isRunning(im *v1beta2.InstanceManager) bool {
	return im.Status.CurrentState == v1beta2.InstanceManagerStateRunning
}

// upgradeFacts are what counts here of an upgrade.
func upgradeFacts(u *v1beta2.NodeDataEngineUpgrade) [3]string {
	out := [3]string{u.Status.State}
	if old := u.Status.OldInstanceManager; old != nil {
		out[1], out[2] = old.Name, old.UID
	}
	return out
}
