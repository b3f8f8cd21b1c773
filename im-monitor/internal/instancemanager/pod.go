package instancemanager

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// AnnotationSettings on an instance-manager pod is a hash of the settings that it was made with.
const AnnotationSettings = "im-monitor.longhorn.io/settings"

// annotationTolerations is Longhorn's: it compares the tolerations in it with its setting.
const annotationTolerations = "longhorn.io/last-applied-tolerations"

// annotationSafeToEvict is the cluster autoscaler's: without it a pod with directories of its host keeps the node.
const annotationSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"

const (
	containerName = "instance-manager"
	tlsDirectory  = "/tls-files/"
)

// newInstanceManager is the InstanceManager of a node, image and data engine, owned by the Longhorn Node.
func newInstanceManager(n *v1beta2.Node, image, dataEngine string) *v1beta2.InstanceManager {
	return &v1beta2.InstanceManager{
		ObjectMeta: metav1.ObjectMeta{
			Name:   v1beta2.InstanceManagerName(n.Name, image, dataEngine),
			Labels: Labels(n.Name, image, dataEngine),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1beta2.GroupVersion.String(), Kind: "Node", Name: n.Name, UID: n.UID,
			}},
		},
		Spec: v1beta2.InstanceManagerSpec{NodeID: n.Name, Image: image, DataEngine: dataEngine, Type: v1beta2.InstanceManagerTypeAIO},
	}
}

// Labels are those of an InstanceManager and of its pod.
func Labels(nodeName, image, dataEngine string) map[string]string {
	return map[string]string{
		v1beta2.LabelComponent:            v1beta2.ComponentInstanceManager,
		v1beta2.LabelManagedBy:            v1beta2.ManagedByLonghornManager,
		v1beta2.LabelNodeOfComponent:      v1beta2.LabelValue(nodeName),
		v1beta2.LabelDataEngine:           dataEngine,
		v1beta2.LabelInstanceManagerType:  v1beta2.InstanceManagerTypeAIO,
		v1beta2.LabelInstanceManagerImage: v1beta2.InstanceManagerImageLabel(image),
	}
}

// PodFor is the pod of an InstanceManager as the contract's section "The instance-manager pod" has it. It is made by
// this function and deleted, never changed.
func PodFor(w World) *corev1.Pod {
	im := w.InstanceManager
	isController, noToken := true, false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: im.Name, Namespace: im.Namespace,
			Labels:      Labels(im.Spec.NodeID, im.Spec.Image, engineOf(im)),
			Annotations: map[string]string{AnnotationSettings: settingsHash(w), annotationTolerations: tolerations(w)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1beta2.GroupVersion.String(), Kind: "InstanceManager", Name: im.Name, UID: im.UID, Controller: &isController,
			}},
		},
		Spec: corev1.PodSpec{
			NodeName:           im.Spec.NodeID,
			NodeSelector:       maps.Clone(w.Settings.NodeSelector),
			RestartPolicy:      corev1.RestartPolicyNever,
			ServiceAccountName: w.Options.ServiceAccount,
			// An instance manager asks the API server for nothing: its pod has no token that could be stolen from the host.
			AutomountServiceAccountToken: &noToken,
			PriorityClassName:            w.Settings.PriorityClass,
			Tolerations:                  append([]corev1.Toleration(nil), w.Settings.Tolerations...),
			Containers:                   []corev1.Container{container(w)},
			Volumes:                      volumes(w),
		},
	}
	if w.Settings.ClusterAutoscaler {
		pod.Annotations[annotationSafeToEvict] = "true"
	}
	if secret := pullSecret(w); secret != "" {
		pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: secret}}
	}
	return pod
}

// Of returns the InstanceManager that a pod was made for, as far as its connection depends on that.
func Of(pod *corev1.Pod) *v1beta2.InstanceManager {
	im := &v1beta2.InstanceManager{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		Spec:       v1beta2.InstanceManagerSpec{NodeID: pod.Spec.NodeName, DataEngine: pod.Labels[v1beta2.LabelDataEngine]},
	}
	if len(pod.Spec.Containers) > 0 {
		im.Spec.Image = pod.Spec.Containers[0].Image
	}
	return im
}

// tolerations returns the tolerations of the setting as Longhorn writes them.
func tolerations(w World) string {
	raw, err := json.Marshal(append([]corev1.Toleration{}, w.Settings.Tolerations...))
	if err != nil {
		panic("tolerations of plain strings cannot be rendered: " + err.Error())
	}
	return string(raw)
}

func engineOf(im *v1beta2.InstanceManager) string {
	if im.Spec.DataEngine == "" {
		return v1beta2.DataEngineV1
	}
	return im.Spec.DataEngine
}

// settingsHash covers what people set, not what differs from node to node by itself. The arguments of a v2 pod are those of its image.
func settingsHash(w World) string {
	type inForce struct {
		Tolerations   []corev1.Toleration
		PriorityClass string
		NodeSelector  map[string]string
		CPURequest    int
		CPUPercent    float64
		ProbeTimeout  int
		LogDirectory  string
		Arguments     []string
		SafeToEvict   bool `json:",omitempty"`
	}
	s := inForce{Tolerations: w.Settings.Tolerations, PriorityClass: w.Settings.PriorityClass, NodeSelector: w.Settings.NodeSelector,
		CPUPercent: w.cpuPercent(), ProbeTimeout: w.Settings.Pods.ProbeTimeout, SafeToEvict: w.Settings.ClusterAutoscaler}
	if w.Node != nil {
		s.CPURequest = w.Node.Spec.InstanceManagerCPURequest
	}
	if w.v2() {
		s.LogDirectory = w.Settings.Pods.LogDirectory
		s.Arguments, _ = arguments(w)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic("settings of plain strings and numbers cannot be rendered: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// pullSecret is the name of the secret with which the image is pulled; empty: those of the service account are enough.
func pullSecret(w World) string { return cmp.Or(w.Options.PullSecret, w.Settings.RegistrySecret) }

// cannotPull: the pod never ran, and lacks the secret that was named since it was made.
func cannotPull(w World) bool {
	secret := corev1.LocalObjectReference{Name: pullSecret(w)}
	return secret.Name != "" && neverRan(w) && !slices.Contains(w.Pod.Spec.ImagePullSecrets, secret)
}

// outdated reports whether the pod was made with other settings than those in force. A pod that does not report its settings was not made
// by im-monitor, and keeps what it has, unless it would lose its frontends.
func outdated(w World) bool {
	if w.Pod == nil || w.Node == nil {
		return false
	}
	if !w.keepsRecords() && w.image().Profile != managerimage.Refused {
		return true
	}
	made := w.Pod.Annotations[AnnotationSettings]
	return made != "" && (made != settingsHash(w) || cannotPull(w))
}

// lacksPages reports how many MiB of huge pages the node offers if a new pod wants more than that and than the present pod has.
func lacksPages(w World) (offered int64, lacks bool) {
	if !w.v2() || w.Pod == nil || w.Kubernetes == nil || !w.Settings.Pods.SPDK.HugePages {
		return 0, false
	}
	wanted, has := int64(w.Settings.Pods.SPDK.MemoryMiB), int64(0)
	for _, c := range w.Pod.Spec.Containers {
		limit := c.Resources.Limits[HugePages]
		has += limit.Value() >> 20
	}
	return w.Kubernetes.HugePagesMiB, wanted > has && wanted > w.Kubernetes.HugePagesMiB
}
