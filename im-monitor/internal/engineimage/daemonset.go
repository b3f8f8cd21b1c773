package engineimage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"drover.dev/drover/shared/api/v1beta2"
)

// AnnotationSettings on a DaemonSet is a hash of the settings with which im-monitor created or changed it. A DaemonSet without it is
// Longhorn's, and stays as it is.
const AnnotationSettings = "im-monitor.longhorn.io/settings"

// annotationTolerations is Longhorn's: it compares the tolerations in it with its setting.
const annotationTolerations = "longhorn.io/last-applied-tolerations"

// idlePause is how long a DaemonSet with old settings waits until it is examined again whether a process of its image runs.
const idlePause = 30 * time.Second

// The places of the binary: in the image, and in the directory of the host.
const (
	binaryInImage = "/usr/local/bin/longhorn"
	onHost        = "/data"
	binaryOnHost  = onHost + "/longhorn"
	versionOf     = "version --client-only"
)

// install copies the binary to the host unless it is there, under another name first, so that nobody starts half a file and processes that
// run keep their open file. It removes the binary at its end.
const install = `trap 'rm -f ` + binaryOnHost + `*' EXIT
trap 'exit 0' TERM INT
if ! cmp -s ` + binaryInImage + ` ` + binaryOnHost + `; then
  cp -p ` + binaryInImage + ` ` + binaryOnHost + `.part && mv -f ` + binaryOnHost + `.part ` + binaryOnHost + ` || exit 1
fi
while true; do sleep 3600 & wait $!; done
`

// DaemonSetName returns the name of the DaemonSet of an EngineImage.
func DaemonSetName(image string) string { return "engine-image-" + image }

// DaemonSetFor returns the DaemonSet of the image.
func DaemonSetFor(w World) *appsv1.DaemonSet {
	all := intstr.FromString("100%")
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: DaemonSetName(w.Name), Namespace: w.Image.Namespace, Labels: labels(w.Name),
			Annotations:     map[string]string{AnnotationSettings: settingsHash(w), annotationTolerations: tolerations(w)},
			OwnerReferences: []metav1.OwnerReference{owner(w)},
		},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selector(w.Name)},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &all}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector(w.Name)}, Spec: podSpec(w)},
		},
	}
}

func owner(w World) metav1.OwnerReference {
	isController := true
	return metav1.OwnerReference{APIVersion: v1beta2.GroupVersion.String(), Kind: "EngineImage", Name: w.Image.Name, UID: w.Image.UID,
		Controller: &isController}
}

func podSpec(w World) corev1.PodSpec {
	privileged, noToken := true, false
	spec := corev1.PodSpec{
		ServiceAccountName:           w.Options.ServiceAccount,
		AutomountServiceAccountToken: &noToken,
		Containers: []corev1.Container{{
			Name: DaemonSetName(w.Name), Image: w.Image.Spec.Image,
			Command:         []string{"/bin/bash", "-c", install},
			VolumeMounts:    []corev1.VolumeMount{{Name: "data", MountPath: onHost + "/"}},
			SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
			ReadinessProbe: &corev1.Probe{ProbeHandler: shell("ls " + binaryOnHost + " && " + binaryOnHost + " " + versionOf),
				InitialDelaySeconds: 3, TimeoutSeconds: 4, PeriodSeconds: 5, FailureThreshold: 3},
			LivenessProbe: &corev1.Probe{ProbeHandler: shell(binaryOnHost + " " + versionOf), InitialDelaySeconds: 3},
		}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{
			Path: path.Join(w.Options.ControlPath, "engine-binaries", v1beta2.EngineBinaryDirectory(w.Image.Spec.Image))}}}},
	}
	setProbe(w, spec.Containers[0].LivenessProbe)
	setPlace(w, &spec)
	return spec
}

func shell(command string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", command}}}
}

// setProbe gives a liveness probe the numbers of the settings.
func setProbe(w World, probe *corev1.Probe) {
	numbers := w.Settings.EngineProbe
	probe.PeriodSeconds, probe.TimeoutSeconds = int32(numbers.Period), int32(numbers.Timeout)
	probe.FailureThreshold = int32(numbers.Failures)
}

// setPlace applies the settings for the nodes of pods, and for the pull of their image.
func setPlace(w World, spec *corev1.PodSpec) {
	spec.Tolerations = slices.Clone(w.Settings.Tolerations)
	spec.NodeSelector = maps.Clone(w.Settings.NodeSelector)
	spec.PriorityClassName = w.Settings.PriorityClass
	spec.ImagePullSecrets = nil
	if secret := pullSecret(w); secret != "" {
		spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: secret}}
	}
	for i := range spec.Containers {
		spec.Containers[i].ImagePullPolicy = w.Settings.Pods.PullPolicy
	}
}

// pullSecret returns the name of the Secret with which the image is pulled; "": those of the ServiceAccount are enough.
func pullSecret(w World) string { return cmp.Or(w.Options.PullSecret, w.Settings.RegistrySecret) }

// tolerations returns the tolerations of the setting as Longhorn writes them.
func tolerations(w World) string {
	return string(encode(append([]corev1.Toleration{}, w.Settings.Tolerations...)))
}

// settingsHash covers the settings that setPlace applies.
func settingsHash(w World) string {
	sum := sha256.Sum256(encode(struct {
		Tolerations           []corev1.Toleration
		NodeSelector          map[string]string
		PriorityClass, Secret string
		PullPolicy            corev1.PullPolicy
	}{w.Settings.Tolerations, w.Settings.NodeSelector, w.Settings.PriorityClass, pullSecret(w), w.Settings.Pods.PullPolicy}))
	return hex.EncodeToString(sum[:8])
}

func encode(plain any) []byte {
	raw, err := json.Marshal(plain)
	if err != nil {
		panic("settings of plain strings cannot be rendered: " + err.Error())
	}
	return raw
}

// Outdated reports whether im-monitor created the DaemonSet, with other settings than those in force.
func (w World) Outdated() bool {
	if w.DaemonSet == nil {
		return false
	}
	made := w.DaemonSet.Annotations[AnnotationSettings]
	return made != "" && made != settingsHash(w)
}

// daemonSetAction returns the change of the DaemonSet. A change ends its pods, and with them the binary on each node for a while: the
// probes are changed at once, because a person asks for it, everything else while no process of the image runs.
func (w World) daemonSetAction() Action {
	switch {
	case w.DaemonSet == nil:
		return Create
	case w.DaemonSet.DeletionTimestamp != nil:
		return Leave
	case w.probesDiffer() || w.Outdated() && !w.References.Runs:
		return Change
	}
	return Leave
}

// probesDiffer reports whether the liveness probe has other numbers than the settings.
func (w World) probesDiffer() bool {
	for _, c := range w.DaemonSet.Spec.Template.Spec.Containers {
		if c.LivenessProbe == nil {
			continue
		}
		wanted := *c.LivenessProbe
		setProbe(w, &wanted)
		if !sameNumbers(wanted, *c.LivenessProbe) {
			return true
		}
	}
	return false
}

func sameNumbers(a, b corev1.Probe) bool {
	return a.PeriodSeconds == b.PeriodSeconds && a.TimeoutSeconds == b.TimeoutSeconds && a.FailureThreshold == b.FailureThreshold
}

// Changed returns the DaemonSet with the probes of the settings, and, if nothing runs, with the other settings.
func Changed(w World) *appsv1.DaemonSet {
	out := w.DaemonSet.DeepCopy()
	for i := range out.Spec.Template.Spec.Containers {
		if probe := out.Spec.Template.Spec.Containers[i].LivenessProbe; probe != nil {
			setProbe(w, probe)
		}
	}
	if w.Outdated() && !w.References.Runs {
		setPlace(w, &out.Spec.Template.Spec)
		out.Annotations[AnnotationSettings], out.Annotations[annotationTolerations] = settingsHash(w), tolerations(w)
	}
	return out
}
