package upgradecontroller

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/upgrade-controller/internal/plan"
)

const (
	// componentCheck labels the pods that check whether a node can run an image.
	componentCheck = "upgrade-image-check"
	// annotationManager names the DataEngineUpgradeManager that a pod checks the image for.
	annotationManager = "upgrade-controller.longhorn.io/manager"
)

// checkName is the same for each try of the same image on the same node.
func checkName(m *v1beta2.DataEngineUpgradeManager, node string) string {
	sum := sha256.Sum256([]byte(string(m.UID) + "/" + node + "/" + m.Status.InstanceManagerImage))
	return "upgrade-image-check-" + hex.EncodeToString(sum[:8])
}

// checkPod runs the image on the node: its shell tests that the image has the scripts and options of its profile, with which im-monitor
// starts the next pod, and ends at once. It is bound to the node without the scheduler, so that a cordon does not count as a
// missing image. It has no token, no root and nothing of its host: deploy/policy.yaml refuses any other pod of this binary.
func checkPod(m *v1beta2.DataEngineUpgradeManager, node, pullSecret string, profiles map[string]managerimage.Profile) *corev1.Pod {
	image := managerimage.Describe(m.Status.InstanceManagerImage, profiles)
	yes, no, user := true, false, int64(65532)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: m.Namespace, Name: checkName(m, node),
			Labels:      map[string]string{v1beta2.LabelComponent: componentCheck, v1beta2.LabelManagedBy: Owner},
			Annotations: map[string]string{annotationManager: m.Name},
		},
		Spec: corev1.PodSpec{
			NodeName: node, RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: &no,
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: "check", Image: m.Status.InstanceManagerImage, ImagePullPolicy: corev1.PullIfNotPresent,
				Command: managerimage.CheckCommand(), Args: image.Profile.CheckArguments(),
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				SecurityContext: &corev1.SecurityContext{
					RunAsNonRoot: &yes, RunAsUser: &user, AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
					Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
					SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
			}},
		},
	}
	if pullSecret != "" {
		pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: pullSecret}}
	}
	return pod
}

// counts reports whether the pod checks the image of this upgrade now. A pod that is being deleted is from a check before a repair; a pod
// with another name is from an earlier upgrade, which had another image or the same name.
func counts(pod *corev1.Pod, m *v1beta2.DataEngineUpgradeManager) bool {
	return pod.DeletionTimestamp == nil && pod.Name == checkName(m, pod.Spec.NodeName)
}

// reported returns the pod's finding about its image: it fits if the container ended well.
func reported(pod *corev1.Pod) plan.Image {
	for _, c := range pod.Status.ContainerStatuses {
		switch {
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			return plan.Image{Known: true, Missing: lack(c.State.Terminated)}
		case c.State.Terminated != nil:
			return plan.Image{Known: true}
		case c.State.Waiting != nil && missing[c.State.Waiting.Reason]:
			return plan.Image{Known: true, Missing: fmt.Sprintf("%s %s", c.State.Waiting.Reason, c.State.Waiting.Message)}
		}
	}
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		return plan.Image{Known: true}
	case corev1.PodFailed:
		return plan.Image{Known: true, Missing: fmt.Sprintf("its pod failed: %s %s", pod.Status.Reason, pod.Status.Message)}
	}
	return plan.Image{}
}

// lack returns the sentence of a check that ended badly.
func lack(end *corev1.ContainerStateTerminated) string {
	text := strings.TrimSpace(end.Message)
	if text == "" {
		text = fmt.Sprintf("its check ended with exit code %d (%s)", end.ExitCode, end.Reason)
	}
	return text + "; if the image is your own, declare its profile with the flag --v2-image-profiles of im-monitor and upgrade-controller"
}

// missing are kubelet's reasons for a container whose image cannot be pulled.
var missing = map[string]bool{
	"ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"ImageInspectError": true, "RegistryUnavailable": true, "CreateContainerError": true, "RunContainerError": true,
}
