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
)

// instanceCount is an annotation that exists in the cache only: how many instances an instance manager has. Their
// maps are the largest thing in the namespace, and nothing else of them is needed.
const instanceCount = "orphan-controller.longhorn.io/instances"

// replicaMark is another one: a fingerprint of its replicas. A change of it enqueues the orphans that depend on another copy
// again.
const replicaMark = "orphan-controller.longhorn.io/replicas"

// Cached returns what is kept of each kind. Nothing that is read from the cache is ever written back as a whole.
func Cached() map[client.Object]cache.ByObject {
	by := func(transform func(any) any) cache.ByObject {
		return cache.ByObject{Transform: func(obj any) (any, error) { return transform(obj), nil }}
	}
	return map[client.Object]cache.ByObject{
		&v1beta2.Orphan{}:          by(thinOrphan),
		&v1beta2.Node{}:            by(thinNode),
		&v1beta2.InstanceManager{}: by(thinInstanceManager),
		&v1beta2.Engine{}:          by(thinEngine),
		&v1beta2.Replica{}:         by(thinReplica),
		&v1beta2.Volume{}:          by(thinVolume),
		&corev1.PersistentVolume{}: by(thinPersistentVolume),
	}
}

// thinMeta keeps what identifies an object and its version.
func thinMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}

func thinOrphan(obj any) any {
	o, ok := obj.(*v1beta2.Orphan)
	if !ok {
		return obj
	}
	thin := &v1beta2.Orphan{ObjectMeta: thinMeta(o.ObjectMeta), Spec: o.Spec}
	thin.Finalizers = o.Finalizers
	thin.Status.Conditions = o.Status.Conditions
	return thin
}

func thinNode(obj any) any {
	n, ok := obj.(*v1beta2.Node)
	if !ok {
		return obj
	}
	thin := &v1beta2.Node{ObjectMeta: thinMeta(n.ObjectMeta)}
	thin.Spec.EvictionRequested = n.Spec.EvictionRequested
	thin.Status.AbandonedInstances = n.Status.AbandonedInstances
	if ready := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); ready != nil {
		thin.Status.Conditions = []v1beta2.Condition{{Type: ready.Type, Status: ready.Status, Reason: ready.Reason}}
	}
	return thin
}

func thinInstanceManager(obj any) any {
	im, ok := obj.(*v1beta2.InstanceManager)
	if !ok {
		return obj
	}
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

func thinEngine(obj any) any {
	e, ok := obj.(*v1beta2.Engine)
	if !ok {
		return obj
	}
	thin := &v1beta2.Engine{ObjectMeta: thinMeta(e.ObjectMeta)}
	thin.Spec.DesireState, thin.Spec.NodeID = e.Spec.DesireState, e.Spec.NodeID
	thin.Spec.VolumeName, thin.Status.CurrentState, thin.Status.ReplicaModeMap = e.Spec.VolumeName, e.Status.CurrentState,
		e.Status.ReplicaModeMap
	thin.Status.InstanceManagerName = e.Status.InstanceManagerName
	return thin
}

func thinReplica(obj any) any {
	r, ok := obj.(*v1beta2.Replica)
	if !ok {
		return obj
	}
	thin := &v1beta2.Replica{ObjectMeta: thinMeta(r.ObjectMeta)}
	thin.Spec.VolumeName, thin.Spec.NodeID, thin.Spec.DesireState = r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DesireState
	thin.Spec.FailedAt, thin.Spec.HealthyAt = r.Spec.FailedAt, r.Spec.HealthyAt
	thin.Status.InstanceManagerName, thin.Status.CurrentState = r.Status.InstanceManagerName, r.Status.CurrentState
	return thin
}

func thinVolume(obj any) any {
	v, ok := obj.(*v1beta2.Volume)
	if !ok {
		return obj
	}
	thin := &v1beta2.Volume{ObjectMeta: thinMeta(v.ObjectMeta)}
	thin.Status.State = v.Status.State
	return thin
}

func thinPersistentVolume(obj any) any {
	pv, ok := obj.(*corev1.PersistentVolume)
	if !ok {
		return obj
	}
	thin := &corev1.PersistentVolume{ObjectMeta: thinMeta(pv.ObjectMeta)}
	if csi := pv.Spec.CSI; csi != nil {
		thin.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: csi.Driver, VolumeHandle: csi.VolumeHandle}
	}
	return thin
}
