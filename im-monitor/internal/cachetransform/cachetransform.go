// Package cachetransform reports what of each object im-monitor keeps in memory. A cluster of 1,000 nodes has 100,000 instances and
// as many Replica objects; what no one here reads is dropped before it is stored, and words that occur in every object
// are stored once.
package cachetransform

import (
	"slices"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/shared/api/v1beta2"
)

// Cache reports how the objects that im-monitor watches are stored. Of pods only those of instance managers are watched, of DaemonSets
// those of engine images.
func Cache() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}: {
			Label:     labels.SelectorFromSet(labels.Set{v1beta2.LabelComponent: v1beta2.ComponentInstanceManager}),
			Transform: pod,
		},
		&appsv1.DaemonSet{}: {
			Label:     labels.SelectorFromSet(labels.Set{v1beta2.LabelComponent: v1beta2.ComponentEngineImage}),
			Transform: daemonSet,
		},
		&corev1.Node{}:             {Transform: kubernetesNode},
		&v1beta2.Engine{}:          {Transform: engine},
		&v1beta2.EngineFrontend{}:  {Transform: engineFrontend},
		&v1beta2.Replica{}:         {Transform: replica},
		&v1beta2.Snapshot{}:        {Transform: snapshot},
		&v1beta2.Backup{}:          {Transform: backup},
		&v1beta2.InstanceManager{}: {Transform: instanceManager},
		&v1beta2.Node{}:            {Transform: node},
	}
}

// same returns an equal string that is stored once for all objects.
func same(s string) string { return unique.Make(s).Value() }

func shared(fields ...*string) {
	for _, f := range fields {
		*f = same(*f)
	}
}

func metadata(m *metav1.ObjectMeta) {
	m.ManagedFields = nil
	m.Annotations = nil
	m.GenerateName = ""
	shared(&m.Namespace)
	if len(m.Labels) > 0 {
		kept := make(map[string]string, len(m.Labels))
		for k, v := range m.Labels {
			kept[same(k)] = same(v)
		}
		m.Labels = kept
	}
	for i := range m.Finalizers {
		shared(&m.Finalizers[i])
	}
	for i := range m.OwnerReferences {
		shared(&m.OwnerReferences[i].APIVersion, &m.OwnerReferences[i].Kind)
	}
}

func pod(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	annotations := p.Annotations
	metadata(&p.ObjectMeta)
	p.Annotations = annotations
	p.Spec = records(p.Spec)
	return p, nil
}

// daemonSet drops what is reported of the pods, which are watched themselves.
func daemonSet(obj any) (any, error) {
	d, ok := obj.(*appsv1.DaemonSet)
	if !ok {
		return obj, nil
	}
	d.ManagedFields, d.Status = nil, appsv1.DaemonSetStatus{}
	return d, nil
}

// only returns the quantities of some resources; nil if the list lacks all of them.
func only(list corev1.ResourceList, names ...corev1.ResourceName) corev1.ResourceList {
	var out corev1.ResourceList
	for _, name := range names {
		if quantity, found := list[name]; found {
			if out == nil {
				out = corev1.ResourceList{}
			}
			out[name] = quantity
		}
	}
	return out
}

// records keeps of a pod's spec its node, its image, its pull secrets, its huge pages, and the volumes that a v2 server keeps its records
// in.
func records(spec corev1.PodSpec) corev1.PodSpec {
	out := corev1.PodSpec{NodeName: spec.NodeName, ImagePullSecrets: spec.ImagePullSecrets}
	for _, c := range spec.Containers {
		out.Containers = append(out.Containers, corev1.Container{Image: same(c.Image),
			Resources: corev1.ResourceRequirements{Limits: only(c.Resources.Limits, instancemanager.HugePages)}})
		kept := &out.Containers[len(out.Containers)-1]
		for _, m := range c.VolumeMounts {
			if !instancemanager.HoldsRecords(m) {
				continue
			}
			kept.VolumeMounts = append(kept.VolumeMounts, m)
			for _, v := range spec.Volumes {
				if v.Name == m.Name {
					out.Volumes = append(out.Volumes, v)
				}
			}
		}
	}
	return out
}

// kubernetesNode drops what a kubelet reports every few seconds, images above all.
func kubernetesNode(obj any) (any, error) {
	n, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil
	}
	metadata(&n.ObjectMeta)
	n.Spec = corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable, Taints: n.Spec.Taints}
	kept := corev1.NodeStatus{}
	kept.Allocatable = only(n.Status.Allocatable, corev1.ResourceCPU, instancemanager.HugePages)
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			kept.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message,
				LastTransitionTime: c.LastTransitionTime}}
		}
	}
	n.Status = kept
	return n, nil
}

func node(obj any) (any, error) {
	n, ok := obj.(*v1beta2.Node)
	if !ok {
		return obj, nil
	}
	metadata(&n.ObjectMeta)
	for name, disk := range n.Status.DiskStatus {
		disk.HealthData, disk.ScheduledBackingImage = nil, nil
		if disk.DiskType != "block" {
			disk.ScheduledReplica = nil
		}
		n.Status.DiskStatus[name] = disk
	}
	return n, nil
}

// instanceMeta keeps of the metadata of an Engine, EngineFrontend or Replica what is read from the cache: there are as many as instances.
// Selections by label go to the API server.
func instanceMeta(kind *metav1.TypeMeta, m *metav1.ObjectMeta, volume *string) {
	m.Labels, m.Finalizers = nil, nil
	metadata(m)
	shared(&kind.Kind, &kind.APIVersion)
	for i := range m.OwnerReferences {
		if m.OwnerReferences[i].Name == *volume {
			m.OwnerReferences[i].Name = *volume // one text for both
		}
	}
	m.OwnerReferences = slices.Clip(m.OwnerReferences)
}

func engine(obj any) (any, error) {
	e, ok := obj.(*v1beta2.Engine)
	if !ok {
		return obj, nil
	}
	instanceMeta(&e.TypeMeta, &e.ObjectMeta, &e.Spec.VolumeName)
	s := &e.Status
	s.BackupStatus = nil
	shared(&e.Spec.DataEngine, &e.Spec.DesireState, &e.Spec.NodeID, &e.Spec.Image, &e.Spec.Frontend,
		&s.CurrentState, &s.CurrentImage, &s.InstanceManagerName, &s.OwnerID, &s.IP, &s.StorageIP)
	return e, nil
}

func engineFrontend(obj any) (any, error) {
	e, ok := obj.(*v1beta2.EngineFrontend)
	if !ok {
		return obj, nil
	}
	instanceMeta(&e.TypeMeta, &e.ObjectMeta, &e.Spec.VolumeName)
	s := &e.Status
	shared(&e.Spec.DataEngine, &e.Spec.DesireState, &e.Spec.NodeID, &e.Spec.Image, &e.Spec.Frontend,
		&s.CurrentState, &s.CurrentImage, &s.InstanceManagerName, &s.OwnerID, &s.IP, &s.StorageIP)
	return e, nil
}

func replica(obj any) (any, error) {
	r, ok := obj.(*v1beta2.Replica)
	if !ok {
		return obj, nil
	}
	instanceMeta(&r.TypeMeta, &r.ObjectMeta, &r.Spec.VolumeName)
	s := &r.Status
	shared(&r.Spec.DataEngine, &r.Spec.DesireState, &r.Spec.NodeID, &r.Spec.Image, &r.Spec.DiskID, &r.Spec.DiskPath,
		&r.Spec.HardNodeAffinity, &r.Spec.BackingImage,
		&s.CurrentState, &s.CurrentImage, &s.InstanceManagerName, &s.OwnerID, &s.IP, &s.StorageIP)
	return r, nil
}

// snapshot keeps what reports whether something is to be done for it: there are tens of thousands.
func snapshot(obj any) (any, error) {
	o, ok := obj.(*v1beta2.Snapshot)
	if !ok {
		return obj, nil
	}
	metadata(&o.ObjectMeta)
	o.Labels, o.Finalizers = nil, nil
	if o.Status.CreationTime != "" { // the labels of one that is not taken yet go to the engine
		o.Spec.Labels = nil
	}
	for i := range o.OwnerReferences {
		shared(&o.OwnerReferences[i].Name)
		o.OwnerReferences[i].UID = types.UID(same(string(o.OwnerReferences[i].UID)))
	}
	shared(&o.Spec.Volume)
	kept := slices.DeleteFunc(o.Status.Conditions, func(c v1beta2.Condition) bool { return c.Type == v1beta2.SnapshotReady })
	for i := range kept {
		if kept[i].Type == v1beta2.SnapshotRemovalApproved {
			kept[i].Message = ""
		}
		shared(&kept[i].Type, &kept[i].Reason, &kept[i].Message)
	}
	created := o.Status.CreationTime
	o.Status = v1beta2.SnapshotStatus{RequestedTime: o.Status.RequestedTime, CreationTime: created, Conditions: slices.Clip(kept)}
	return o, nil
}

// backup drops the details of backups that ended.
func backup(obj any) (any, error) {
	o, ok := obj.(*v1beta2.Backup)
	if !ok {
		return obj, nil
	}
	metadata(&o.ObjectMeta)
	o.Finalizers, o.Spec.Labels, o.Status.Labels, o.Status.Messages = nil, nil, nil, nil
	for i := range o.Status.Conditions {
		o.Status.Conditions[i].Message = ""
	}
	return o, nil
}

func instanceManager(obj any) (any, error) {
	im, ok := obj.(*v1beta2.InstanceManager)
	if !ok {
		return obj, nil
	}
	metadata(&im.ObjectMeta)
	s := &im.Status
	s.BackingImages, s.InstanceShards, s.InstanceShardGroups = nil, nil, nil
	for _, processes := range []map[string]v1beta2.InstanceProcess{s.InstanceEngines, s.InstanceEngineFrontends, s.InstanceReplicas} {
		for name, p := range processes {
			p.Spec.Name = name
			p.Status.Conditions, p.Status.Paths = nil, nil
			shared(&p.Spec.DataEngine, &p.Status.State, &p.Status.Type)
			processes[name] = p
		}
	}
	return im, nil
}
