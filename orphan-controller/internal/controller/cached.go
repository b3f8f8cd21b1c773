package controller

import (
	"fmt"
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
)

// instanceCount is an annotation that exists in the cache only: how many instances an instance manager has. Their
// maps are the largest thing in the namespace, and nothing else of them is needed.
const instanceCount = "orphan-controller.longhorn.io/instances"

// replicaMark is another one: a fingerprint of its replicas. A change of it enqueues the orphans that depend on another copy
// again.
const replicaMark = "orphan-controller.longhorn.io/replicas"

// Cached returns what is kept of each kind. Nothing that is read from the cache is ever written back as a whole.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&v1beta2.Orphan{}:          {Transform: kube.Keep(thinOrphan)},
		&v1beta2.Node{}:            {Transform: kube.Keep(thinNode)},
		&v1beta2.InstanceManager{}: {Transform: kube.Keep(thinInstanceManager)},
		&v1beta2.Engine{}:          {Transform: kube.Keep(thinEngine)},
		&v1beta2.Replica{}:         {Transform: kube.Keep(thinReplica)},
		&v1beta2.Volume{}:          {Transform: kube.Keep(thinVolume)},
		&corev1.PersistentVolume{}: {Transform: kube.Keep(thinPersistentVolume)},
	}
}

// thinMeta keeps what identifies an object and its version.
func thinMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}

func thinOrphan(o *v1beta2.Orphan) *v1beta2.Orphan {
	thin := &v1beta2.Orphan{ObjectMeta: thinMeta(o.ObjectMeta), Spec: o.Spec}
	thin.Finalizers = o.Finalizers
	for _, word := range []string{v1beta2.AnnotationDeleteByHand, v1beta2.AnnotationGivenUp, v1beta2.AnnotationGivenUpBy} {
		if value, ok := o.Annotations[word]; ok {
			if thin.Annotations == nil {
				thin.Annotations = map[string]string{}
			}
			thin.Annotations[word] = value
		}
	}
	thin.Status.Conditions = o.Status.Conditions
	return thin
}

func thinNode(n *v1beta2.Node) *v1beta2.Node {
	thin := &v1beta2.Node{ObjectMeta: thinMeta(n.ObjectMeta)}
	thin.Spec.EvictionRequested = n.Spec.EvictionRequested
	thin.Status.AbandonedInstances = n.Status.AbandonedInstances
	if ready := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); ready != nil {
		thin.Status.Conditions = []v1beta2.Condition{{Type: ready.Type, Status: ready.Status, Reason: ready.Reason}}
	}
	return thin
}

func thinInstanceManager(im *v1beta2.InstanceManager) *v1beta2.InstanceManager {
	thin := &v1beta2.InstanceManager{ObjectMeta: thinMeta(im.ObjectMeta)}
	thin.Spec.NodeID = im.Spec.NodeID
	thin.Annotations = map[string]string{instanceCount: strconv.Itoa(countInstances(im)), replicaMark: markOf(im)}
	return thin
}

// markOf changes when a replica comes, goes, gets another UUID or another state.
func markOf(im *v1beta2.InstanceManager) string {
	if kept, ok := im.Annotations[replicaMark]; ok {
		return kept
	}
	sum := uint64(0)
	for name, i := range im.Status.InstanceReplicas {
		one := fnv.New64a()
		fmt.Fprint(one, name, "/", i.Status.UUID, "/", i.Status.State)
		sum += one.Sum64() // in any order
	}
	return strconv.FormatUint(sum, 16)
}

// countInstances counts the instances that are evaluated; frontends are not.
func countInstances(im *v1beta2.InstanceManager) int {
	if kept, ok := im.Annotations[instanceCount]; ok {
		count, err := strconv.Atoi(kept)
		if err == nil {
			return count
		}
	}
	return len(im.Status.InstanceEngines) + len(im.Status.InstanceReplicas)
}

func thinEngine(e *v1beta2.Engine) *v1beta2.Engine {
	thin := &v1beta2.Engine{ObjectMeta: thinMeta(e.ObjectMeta)}
	thin.Spec.DesireState, thin.Spec.NodeID = e.Spec.DesireState, e.Spec.NodeID
	thin.Spec.VolumeName, thin.Status.CurrentState, thin.Status.ReplicaModeMap = e.Spec.VolumeName, e.Status.CurrentState,
		e.Status.ReplicaModeMap
	thin.Status.InstanceManagerName = e.Status.InstanceManagerName
	return thin
}

func thinReplica(r *v1beta2.Replica) *v1beta2.Replica {
	thin := &v1beta2.Replica{ObjectMeta: thinMeta(r.ObjectMeta)}
	thin.Spec.VolumeName, thin.Spec.NodeID, thin.Spec.DesireState = r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DesireState
	thin.Spec.FailedAt, thin.Spec.HealthyAt = r.Spec.FailedAt, r.Spec.HealthyAt
	if v1beta2.IsSecondProcess(r) { // it must not count as a copy
		thin.Spec.DataDirectoryName = r.Spec.DataDirectoryName
	}
	thin.Spec.Active, thin.Spec.DataEngine = r.Spec.Active, r.Spec.DataEngine
	thin.Status.InstanceManagerName, thin.Status.CurrentState = r.Status.InstanceManagerName, r.Status.CurrentState
	return thin
}

func thinVolume(v *v1beta2.Volume) *v1beta2.Volume {
	thin := &v1beta2.Volume{ObjectMeta: thinMeta(v.ObjectMeta)}
	thin.Status.State = v.Status.State
	return thin
}

func thinPersistentVolume(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	thin := &corev1.PersistentVolume{ObjectMeta: thinMeta(pv.ObjectMeta)}
	if csi := pv.Spec.CSI; csi != nil {
		thin.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: csi.Driver, VolumeHandle: csi.VolumeHandle}
	}
	return thin
}
