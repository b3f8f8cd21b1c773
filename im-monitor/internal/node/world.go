// Package node decides what a Longhorn Node reports: whether it should exist, whether it is ready, schedulable, and when it
// may be removed. It knows the Kubernetes node and what the node's InstanceManagers report of themselves, nothing of
// instances, disks or volumes.
//
//	Ready  True                        Kubernetes node ready, an instance manager answers
//	       False KubernetesNodeGone      } these two mean down: others may take over
//	       False KubernetesNodeNotReady  } a kubelet that reports itself not ready has v1beta2.KubeletPause first
//	       False ManagerPodMissing, ManagerPodDown, InstanceManagerUnreachable: wait, nothing is proven
//
// Down is the only word with consequences elsewhere (owners move, orphans end, engines count as fenced), and only
// Kubernetes reports it: an instance manager that does not answer may still write to disks.
package node

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// LabelDisableV2 on a Kubernetes node, with value "true", keeps the v2 data engine off it.
const LabelDisableV2 = "node.longhorn.io/disable-v2-data-engine"

// Kubernetes is what is known of a Kubernetes node. A nil *Kubernetes means that it is proven not to exist.
type Kubernetes struct {
	// Ready reports whether the kubelet's Ready condition is True; False and Unknown are both not ready. At sets it for the first seconds of
	// a kubelet's restart.
	Ready bool
	// NotReadyMessage is the explanation of Kubernetes if the node is not ready.
	NotReadyMessage string
	// NotReadySince is set if the kubelet itself reports its node as not ready, by the kubelet's clock. Zero: the node is ready, the kubelet
	// is silent, the node is declared out of service, or the time is unknown.
	NotReadySince metav1.Time
	// Cordoned is spec.unschedulable.
	Cordoned bool
	Labels   map[string]string
	Taints   []corev1.Taint
	// AllocatableMilliCPU is status.allocatable.cpu in thousandths of a CPU; 0 is unknown.
	AllocatableMilliCPU int64
	// HugePagesMiB is status.allocatable of 2 MiB huge pages, in MiB.
	HugePagesMiB int64
}

// FromKubernetes takes from a Kubernetes node what is read here.
func FromKubernetes(n *corev1.Node) *Kubernetes {
	if n == nil {
		return nil
	}
	out := &Kubernetes{Cordoned: n.Spec.Unschedulable, Labels: n.Labels, Taints: n.Spec.Taints,
		AllocatableMilliCPU: n.Status.Allocatable.Cpu().MilliValue(), HugePagesMiB: hugePages(n),
		NotReadyMessage: "no Ready condition was reported yet"}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.Ready = c.Status == corev1.ConditionTrue
			out.NotReadyMessage = c.Reason + ": " + c.Message
			if c.Status == corev1.ConditionFalse && !isOutOfService(n) {
				out.NotReadySince = c.LastTransitionTime
			}
		}
	}
	return out
}

// hugePages returns the huge pages that pods of the node can have, in MiB.
func hugePages(n *corev1.Node) int64 {
	pages := n.Status.Allocatable["hugepages-2Mi"]
	return pages.Value() >> 20
}

// isOutOfService reports whether a person declared that the machine is off.
func isOutOfService(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// At returns the node as it counts at a time, and how long that holds; 0: until Kubernetes reports something else. A kubelet that restarts
// reports its node as not ready for some seconds while everything on it runs: the node counts as ready for v1beta2.KubeletPause. A time
// that is further ahead than that comes from a clock that is wrong, and is not waited for.
func (k *Kubernetes) At(now time.Time) (counts *Kubernetes, holds time.Duration) {
	if k == nil || k.Ready || k.NotReadySince.IsZero() || k.NotReadySince.Time.After(now.Add(v1beta2.KubeletPause)) {
		return k, 0
	}
	if holds = k.NotReadySince.Add(v1beta2.KubeletPause).Sub(now); holds <= 0 {
		return k, 0
	}
	ready := *k
	ready.Ready = true
	return &ready, holds
}

// Down reports whether the node does not run what it ran: Kubernetes reports that it is gone or not ready.
func (k *Kubernetes) Down() bool { return k == nil || !k.Ready }

// Runs reports whether instance managers of that data engine belong on the node: the engine is enabled, the node is
// chosen by the node selector, and (v2) not labelled otherwise.
func (k *Kubernetes) Runs(dataEngine string, s setting.Values) bool {
	if k == nil || !k.selected(s) {
		return false
	}
	if dataEngine == v1beta2.DataEngineV2 {
		return s.V2 && k.Labels[LabelDisableV2] != "true"
	}
	return s.V1
}

func (k *Kubernetes) selected(s setting.Values) bool {
	for key, value := range s.NodeSelector {
		if got, ok := k.Labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// welcomes reports whether a Kubernetes node without a Longhorn Node gets one: it takes pods (not cordoned, every taint
// that repels pods is tolerated) and the node selector chooses it.
func (k *Kubernetes) welcomes(s setting.Values) bool {
	if k.Cordoned || !k.Ready || !k.selected(s) {
		return false
	}
	for i := range k.Taints {
		if repels(k.Taints[i]) && !tolerated(k.Taints[i], s.Tolerations) {
			return false
		}
	}
	return true
}

// conditionTaints are set by Kubernetes for a node's conditions (not-ready, memory-pressure, …). Readiness and cordon are
// read from the node itself, the others pass; a DaemonSet tolerates all of them, too.
const conditionTaints = "node.kubernetes.io/"

func repels(taint corev1.Taint) bool {
	return taint.Effect != corev1.TaintEffectPreferNoSchedule && !strings.HasPrefix(taint.Key, conditionTaints)
}

func tolerated(taint corev1.Taint, tolerations []corev1.Toleration) bool {
	for _, t := range tolerations {
		if (t.Key == taint.Key || t.Key == "" && t.Operator == corev1.TolerationOpExists) && (t.Effect == "" || t.Effect == taint.Effect) &&
			(t.Operator == corev1.TolerationOpExists || t.Value == taint.Value) {
			return true
		}
	}
	return false
}

// Manager is what one InstanceManager of the node reports of itself.
type Manager struct {
	Name  string
	State string
	// HasPod reports whether there is a pod, in whatever state.
	HasPod bool
	// Answers is False once it has not answered for too long; Unknown until that is known.
	Answers v1beta2.ConditionStatus
}

// FromInstanceManager takes from an InstanceManager what is read here.
func FromInstanceManager(im *v1beta2.InstanceManager) Manager {
	out := Manager{Name: im.Name, State: im.Status.CurrentState, Answers: v1beta2.ConditionUnknown}
	if c := conditions.Get(im.Status.Conditions, v1beta2.InstanceManagerReachable); c != nil {
		out.Answers = c.Status
	}
	pod := conditions.Get(im.Status.Conditions, v1beta2.InstanceManagerPodReady)
	out.HasPod = pod != nil && !v1beta2.LacksPod(pod.Reason) && pod.Reason != v1beta2.ReasonPodBlocked
	return out
}
