package gateway

import (
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// kinds returns the kinds that the gateway caches, each with the list that its changes concern. The resource of a volume shows many kinds.
func kinds() []kind {
	ofVolume := func(o client.Object) []string { return []string{kube.VolumeName(o)} }
	named := func(o client.Object) []string { return []string{o.GetName()} }
	return []kind{
		{&v1beta2.Volume{}, topicVolumes, named},
		{&v1beta2.Engine{}, topicVolumes, ofVolume},
		{&v1beta2.EngineFrontend{}, topicVolumes, ofVolume},
		{&v1beta2.Replica{}, topicVolumes, ofVolume},
		{&v1beta2.VolumeAttachment{}, topicVolumes, named},
		{&v1beta2.Backup{}, topicVolumes, func(o client.Object) []string { return []string{present.VolumeOfBackup(o.(*v1beta2.Backup))} }},
		{&corev1.PersistentVolume{}, topicVolumes, func(o client.Object) []string {
			return []string{kube.VolumeHandleOf(o.(*corev1.PersistentVolume))}
		}},
		{&corev1.Pod{}, topicVolumes, nil}, // see follower.volumesOf
		{&v1beta2.Snapshot{}, topicSnapshots, nil},
		{&v1beta2.Node{}, topicNodes, nil},
		{&v1beta2.InstanceManager{}, topicNodes, nil},
		{&v1beta2.Setting{}, topicSettings, nil},
		{&v1beta2.BackupTarget{}, topicBackupTargets, nil},
		{&v1beta2.BackupVolume{}, topicBackupVolumes, nil},
		{&v1beta2.Orphan{}, topicOrphans, nil},
		{&v1beta2.RecurringJob{}, topicRecurringJobs, nil},
		{&v1beta2.EngineImage{}, topicEngineImages, nil},
	}
}

// kind is a kind of objects in the cache.
type kind struct {
	object client.Object
	topic  topic
	// volumes names the volumes whose resources show the object.
	volumes func(client.Object) []string
}

// Cached returns the transformation of each kind in the cache. No object of the cache is ever written back as a whole.
func Cached() map[client.Object]cache.ByObject {
	out := map[client.Object]cache.ByObject{}
	for _, k := range kinds() {
		switch k.object.(type) {
		case *corev1.Pod:
			out[k.object] = cache.ByObject{Namespaces: map[string]cache.Config{cache.AllNamespaces: {}}, Transform: kube.Keep(thinPod)}
		case *corev1.PersistentVolume:
			out[k.object] = cache.ByObject{Transform: kube.Keep(thinPersistentVolume)}
		default:
			out[k.object] = cache.ByObject{Transform: thin}
		}
	}
	return out
}

// fieldURL is the field of the gateway's own index.
const fieldURL = "gateway.url"

// indexes find the objects of a volume's resource, and a backup by its address.
func indexes() []kube.Index {
	return append(kube.ByClaim(),
		kube.ByVolume(&v1beta2.Engine{}), kube.ByVolume(&v1beta2.EngineFrontend{}), kube.ByVolume(&v1beta2.Replica{}),
		kube.ByVolume(&v1beta2.Snapshot{}), kube.ByHandle(),
		kube.IndexBy(&v1beta2.Backup{}, kube.FieldVolume, present.VolumeOfBackup),
		kube.IndexBy(&v1beta2.Backup{}, fieldURL, func(b *v1beta2.Backup) string { return b.Status.URL }),
		kube.ByNode(&v1beta2.InstanceManager{}), byAddress(),
	)
}

// thin drops the fields that no client sees, and shares texts that many objects have: there are several of these objects for each volume.
func thin(obj any) (any, error) {
	if o, ok := obj.(client.Object); ok {
		o.SetManagedFields(nil)
		o.SetAnnotations(nil)
		o.SetOwnerReferences(nil)
		o.SetFinalizers(nil)
	}
	switch o := obj.(type) {
	case *v1beta2.Volume:
		share(&o.Namespace, &o.Spec.AccessMode, &o.Spec.BackupTargetName, &o.Spec.CloneMode, &o.Spec.DataEngine, &o.Spec.DataLocality,
			&o.Spec.Frontend, &o.Spec.Image, &o.Spec.NodeID, &o.Status.CurrentImage, &o.Status.CurrentNodeID, &o.Status.OwnerID,
			&o.Status.State, &o.Status.Robustness)
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			share(&c.Type, &c.LastTransitionTime, &c.Reason, &c.Message)
		}
	case *v1beta2.Engine:
		o.Labels, o.Spec.ReplicaAddressMap, o.Status.CurrentReplicaAddressMap, o.Status.Conditions = nil, nil, nil, nil
		share(&o.Namespace, &o.Spec.NodeID, &o.Spec.Image, &o.Spec.DataEngine, &o.Spec.DesireState, &o.Spec.Frontend,
			&o.Status.CurrentImage, &o.Status.CurrentState, &o.Status.InstanceManagerName, &o.Status.IP, &o.Status.StorageIP,
			&o.Status.OwnerID)
	case *v1beta2.Replica:
		o.Labels, o.Status.Conditions = nil, nil
		share(&o.Namespace, &o.Spec.NodeID, &o.Spec.DiskID, &o.Spec.DiskPath, &o.Spec.Image, &o.Spec.VolumeName, &o.Spec.EngineName,
			&o.Spec.DataEngine, &o.Spec.DesireState, &o.Spec.HealthyAt, &o.Spec.LastHealthyAt, &o.Status.CurrentImage,
			&o.Status.CurrentState, &o.Status.InstanceManagerName, &o.Status.IP, &o.Status.StorageIP, &o.Status.OwnerID)
	case *v1beta2.EngineFrontend:
		o.Labels = nil
	case *v1beta2.VolumeAttachment:
		o.Labels = nil
	}
	return obj, nil
}

// share replaces texts by the copies that other objects have already.
func share(texts ...*string) {
	for _, text := range texts {
		*text = unique.Make(*text).Value()
	}
}

// thinPod keeps the claims, the phase and the owner of a pod with claims, the addresses of pods that need no token, and little more than
// the name of any other pod.
func thinPod(pod *corev1.Pod) *corev1.Pod {
	small := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		ResourceVersion: pod.ResourceVersion}}
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.PersistentVolumeClaim.ClaimName}
			small.Spec.Volumes = append(small.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
		case v.Ephemeral != nil:
			small.Spec.Volumes = append(small.Spec.Volumes,
				corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
		}
	}
	if app := pod.Labels["app"]; slices.Contains(trustedApps, app) {
		small.Labels, small.Spec.HostNetwork = map[string]string{"app": app}, pod.Spec.HostNetwork
		small.Status.Phase, small.Status.PodIPs = pod.Status.Phase, pod.Status.PodIPs
	}
	if len(small.Spec.Volumes) == 0 {
		return small
	}
	small.Status.Phase = pod.Status.Phase
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		small.OwnerReferences = []metav1.OwnerReference{{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name,
			Controller: owner.Controller}}
	}
	return small
}

// thinPersistentVolume keeps the volume, the claim and the phase of a PersistentVolume of Longhorn's driver, and the name of any other.
func thinPersistentVolume(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	small := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: pv.Name, UID: pv.UID, ResourceVersion: pv.ResourceVersion}}
	handle := kube.VolumeHandleOf(pv)
	if handle == "" {
		return small
	}
	small.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: v1beta2.CSIDriver, VolumeHandle: handle}
	if pv.Spec.ClaimRef != nil {
		small.Spec.ClaimRef = &corev1.ObjectReference{Namespace: pv.Spec.ClaimRef.Namespace, Name: pv.Spec.ClaimRef.Name}
	}
	small.Status.Phase = pv.Status.Phase
	return small
}
