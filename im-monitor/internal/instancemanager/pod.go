package instancemanager

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// AnnotationSettings on an instance-manager pod is a hash of the settings that it was made with.
const AnnotationSettings = "im-monitor.longhorn.io/settings"

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
			Annotations: map[string]string{AnnotationSettings: settingsHash(w)},
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
	if secret := pullSecret(w); secret != "" {
		pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: secret}}
	}
	return pod
}

func engineOf(im *v1beta2.InstanceManager) string {
	if im.Spec.DataEngine == "" {
		return v1beta2.DataEngineV1
	}
	return im.Spec.DataEngine
}

func container(w World) corev1.Container {
	privileged := true
	c := corev1.Container{
		Name: containerName, Image: w.InstanceManager.Spec.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Args: args(w), Env: environment(w), VolumeMounts: mounts(w),
		SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
		LivenessProbe:   liveness(w),
		Resources:       corev1.ResourceRequirements{Requests: corev1.ResourceList{}},
	}
	if cpu := cpuRequest(w); cpu > 0 {
		c.Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(cpu, resource.DecimalSI)
	}
	if w.v2() {
		// A pod that requests huge pages has to request CPU or memory too.
		c.Resources.Requests[corev1.ResourceMemory] = resource.MustParse("128Mi")
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
			Exec: &corev1.ExecAction{Command: []string{"instance-manager-v2-prestop"}}}}
		if w.Options.HugePages {
			pages := *resource.NewQuantity(w.Options.HugePageLimitMiB<<20, resource.BinarySI)
			c.Resources.Requests["hugepages-2Mi"] = pages
			c.Resources.Limits = corev1.ResourceList{"hugepages-2Mi": pages}
		}
	}
	return c
}

func args(w World) []string {
	if !w.v2() {
		return []string{"instance-manager", "--debug", "daemon", "--listen", ":8500"}
	}
	mask := cpuMask(w)
	out := []string{"start-spdk-tgt", "--spdk-log", "/log/spdk_tgt.log", "--spdk-cpumask", mask,
		"--spdk-core-number", strconv.Itoa(cores(mask)), "--spdk-memory-size", strconv.FormatInt(w.Options.HugePageLimitMiB, 10),
		"--longhorn-control-path", w.socketDirectory()}
	if !w.Options.HugePages {
		out = append(out, "--spdk-no-hugepage")
	}
	return append(out, "--enable-spdk", "--debug", "daemon", "--spdk-enabled", "--listen", "0.0.0.0:8500")
}

func cpuMask(w World) string {
	if mask := w.InstanceManager.Spec.DataEngineSpec.V2.CPUMask; mask != "" {
		return mask
	}
	return w.Options.SPDKCPUMask
}

// cores counts the CPUs of a mask such as 0x3; one where it cannot be read.
func cores(mask string) int {
	count := 0
	for _, digit := range strings.TrimPrefix(strings.ToLower(mask), "0x") {
		value, err := strconv.ParseUint(string(digit), 16, 8)
		if err != nil {
			return 1
		}
		count += bits.OnesCount64(value)
	}
	return max(count, 1)
}

func environment(w World) []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "TLS_DIR", Value: tlsDirectory},
		{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1",
			FieldPath: "status.podIP"}}},
		{Name: "DATA_ENGINE", Value: engineOf(w.InstanceManager)},
	}
}

// cpuRequest in thousandths of a CPU.
func cpuRequest(w World) int64 {
	if w.Node != nil && w.Node.Spec.InstanceManagerCPURequest > 0 {
		return int64(w.Node.Spec.InstanceManagerCPURequest)
	}
	if w.Kubernetes == nil {
		return 0
	}
	return w.Kubernetes.AllocatableMilliCPU * w.Options.AllocatableCPUPercent / 100
}

// settingsHash covers what people set, not what differs from node to node by itself.
func settingsHash(w World) string {
	type inForce struct {
		Tolerations   []corev1.Toleration
		PriorityClass string
		NodeSelector  map[string]string
		CPURequest    int
	}
	s := inForce{Tolerations: w.Settings.Tolerations, PriorityClass: w.Settings.PriorityClass, NodeSelector: w.Settings.NodeSelector}
	if w.Node != nil {
		s.CPURequest = w.Node.Spec.InstanceManagerCPURequest
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

// outdated: the pod reports which settings it was made with, and they are not those in force. A pod that does not report was
// not made by im-monitor, and keeps what it has, unless it would lose its frontends.
func outdated(w World) bool {
	if w.Pod == nil || w.Node == nil {
		return false
	}
	if !w.keepsRecords() {
		return true
	}
	made := w.Pod.Annotations[AnnotationSettings]
	return made != "" && (made != settingsHash(w) || cannotPull(w))
}
