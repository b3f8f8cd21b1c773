package v1beta2

import (
	"slices"
	"strings"
	"time"
)

// IsNodeDown reports whether a node is positively out of service: it does not exist (nil), or its Ready condition is False
// because Kubernetes reports it. Every other reason proves nothing. A node that is being deleted is not down for that.
func IsNodeDown(node *Node) bool {
	if node == nil {
		return true
	}
	for _, c := range node.Status.Conditions {
		if c.Type == NodeReady {
			return c.Status == ConditionFalse &&
				(c.Reason == ReasonKubernetesNodeGone || c.Reason == ReasonKubernetesNodeNotReady)
		}
	}
	return false
}

// KubeletPause is how long a node does not count as down although its kubelet reports it as not ready: the kubelet still runs its pods, and
// is often back soon. A node whose kubelet is silent counts as down as soon as Kubernetes reports that.
const KubeletPause = 15 * time.Second

// IsNodeCordoned reports whether Kubernetes places no new pods on a node, where the setting honours that. One that does not exist (nil)
// is not cordoned.
func IsNodeCordoned(node *Node) bool {
	return node != nil && slices.ContainsFunc(node.Status.Conditions, func(c Condition) bool {
		return c.Type == NodeSchedulable && c.Status == ConditionFalse && c.Reason == ReasonKubernetesNodeCordoned
	})
}

// IsReplicaHealthy reports whether a replica has all data of its volume by its object: it was healthy once, did not fail since, and is
// not being deleted. One that does not exist (nil) is not, and neither is a second process over the directory of another Replica. It is no
// proof that the data exists, and does not ask whether the node is up.
func IsReplicaHealthy(r *Replica) bool {
	return r != nil && r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && r.Spec.HealthyAt != "" && !IsSecondProcess(r)
}

// IsReplicaReadable reports whether the volume's data can be read from a replica by its object: it is healthy, or it did not fail, is not
// being deleted, and no replica of the volume has a HealthyAt now, as in a volume that was never attached. HealthyAt is cleared when a
// replica is used again, so that none has one, too, where every replica that had the data is being rebuilt.
func IsReplicaReadable(r *Replica, all []Replica) bool {
	if r == nil || r.DeletionTimestamp != nil || r.Spec.FailedAt != "" || IsSecondProcess(r) {
		return false
	}
	return IsReplicaHealthy(r) || !slices.ContainsFunc(all, func(o Replica) bool { return o.Spec.HealthyAt != "" })
}

// SharedSnapshot is the snapshot whose data a volume needs, as volume/snapshot: a linked clone for as long as it lives, any other one while
// it is copied. Empty: it needs none. Such a snapshot is not deleted: the webhook of snapshot-controller refuses that.
func SharedSnapshot(v *Volume) string {
	if v.Spec.CloneMode != CloneModeLinked {
		if c := v.Status.CloneStatus; c.State == CloneInitiated && c.Snapshot != "" && v.DeletionTimestamp == nil {
			return c.SourceVolume + "/" + c.Snapshot
		}
		return ""
	}
	source, ok := strings.CutPrefix(v.Spec.DataSource, "snap://")
	if !ok {
		return ""
	}
	return source
}

// LacksPod reports whether a reason of an InstanceManager's PodReady proves that it has no pod.
func LacksPod(reason string) bool {
	return reason == ReasonPodMissing || reason == ReasonPodRefused || reason == ReasonKubernetesNodeCordoned
}
