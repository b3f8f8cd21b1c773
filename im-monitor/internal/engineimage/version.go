package engineimage

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/text"
)

// ComponentVersion labels the pods that read the versions of a binary.
const ComponentVersion = "engine-image-version"

// readVersion writes the version report of the binary to the file that the kubelet reads at the end of a container.
const readVersion = "exec " + binaryInImage + " " + versionOf + " > " + corev1.TerminationMessagePathDefault

// managedBy is the value of the label managed-by of these pods.
const managedBy = "im-monitor"

// The command lines that a Longhorn of now can use, as its versions have them.
const (
	oldestCLI = 8
	newestCLI = 12
)

// versionSeconds is how long such a pod may take once its node has it.
const versionSeconds = 60

// versionsKnown reports whether the versions of the binary were read, by im-monitor or by Longhorn.
func (w World) versionsKnown() bool { return w.Image.Status.CLIAPIVersion != 0 }

// VersionPodFor returns the pod that reads the versions of the binary, on a node that has the image. It needs no right and no privilege:
// its answer is its termination message.
func VersionPodFor(w World) *corev1.Pod {
	no, yes, limit := false, true, int64(versionSeconds)
	labels := selector(w.Name)
	labels[v1beta2.LabelComponent], labels[v1beta2.LabelManagedBy] = ComponentVersion, managedBy
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: VersionPodName(w.Name), Namespace: w.Image.Namespace, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{owner(w)}},
		Spec: corev1.PodSpec{
			NodeName: w.nodeWithImage(), RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: &limit,
			AutomountServiceAccountToken: &no, EnableServiceLinks: &no,
			Containers: []corev1.Container{{
				Name: "version", Image: w.Image.Spec.Image,
				Command:                []string{"/bin/sh", "-c", readVersion},
				TerminationMessagePath: corev1.TerminationMessagePathDefault,
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
					Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
					SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			}},
		},
	}
	setPlace(w, &pod.Spec)
	pod.Spec.NodeSelector = nil // the pod before it was selected for that node
	return pod
}

// VersionPodName returns the name of the pod that reads the versions of an EngineImage.
func VersionPodName(image string) string { return DaemonSetName(image) + "-version" }

// nodeWithImage returns the first ready node with a ready pod of the DaemonSet; "" if there is none.
func (w World) nodeWithImage() string {
	has := w.nodesWithBinary()
	for _, n := range w.Nodes {
		if n.Ready && has[n.Name] {
			return n.Name
		}
	}
	return ""
}

// versionPodAction returns the change of the pod that reads the versions, and whether it has ended without an answer.
func (w World) versionPodAction() (action Action, failed bool) {
	p := w.VersionPod
	switch {
	case p == nil && !w.versionsKnown() && w.nodeWithImage() != "" && !w.Now.Before(w.RetryAt):
		return Create, false
	case p == nil:
		return Leave, false
	case w.versionsKnown():
		return Delete, false
	case hasEnded(p):
		// An answer is written first: then the versions are known.
		_, problem := answer(p)
		if problem == "" {
			return Leave, false
		}
		return Delete, true
	case !slices.ContainsFunc(w.Nodes, func(n Node) bool { return n.Name == p.Spec.NodeName && n.Ready }):
		return Delete, true
	}
	return Leave, false
}

func hasEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// answer returns the versions that a pod has read, or why it has none.
func answer(p *corev1.Pod) (out v1beta2.EngineVersions, problem string) {
	var message string
	for _, c := range p.Status.ContainerStatuses {
		if ended := c.State.Terminated; ended != nil {
			message = ended.Message
			if ended.ExitCode != 0 {
				return out, fmt.Sprintf("exit status %d %s", ended.ExitCode, text.Truncate(message, 200))
			}
		}
	}
	if p.Status.Phase == corev1.PodFailed {
		return out, p.Status.Reason + " " + p.Status.Message
	}
	var report struct {
		ClientVersion v1beta2.EngineVersions `json:"clientVersion"`
	}
	if err := json.Unmarshal([]byte(message), &report); err != nil {
		return out, fmt.Sprintf("its answer %q is not JSON", text.Truncate(message, 200))
	}
	if report.ClientVersion.CLIAPIVersion <= 0 {
		return out, fmt.Sprintf("its answer %q has no cliAPIVersion", text.Truncate(message, 200))
	}
	return report.ClientVersion, ""
}

// isIncompatible reports whether a Longhorn of now could not use the binary.
func isIncompatible(v v1beta2.EngineVersions) bool {
	return v.CLIAPIVersion != 0 && (v.CLIAPIVersion < oldestCLI || v.CLIAPIMinVersion > newestCLI)
}
