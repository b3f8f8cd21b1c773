package instancemanager

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// metadataDirectory is where a v2 server keeps its records of engine frontends. Behind it is a directory of the host, so that they outlive
// the pod.
const metadataDirectory = "/metadata/"

// mount is one directory of the pod: where it is in the container, and what is behind it.
type mount struct {
	name, path string
	both       bool // mounts that the instance manager makes are seen by the host
	source     corev1.VolumeSource
}

func directories(w World) []mount {
	optional := !w.Options.RequireTLS
	list := []mount{
		{name: "host", path: "/host", both: true, source: hostPath("/", corev1.HostPathUnset)},
		{name: "engine-binaries", path: "/engine-binaries/", both: true,
			source: hostPath(w.controlPath("engine-binaries/"), corev1.HostPathDirectoryOrCreate)},
		{name: "metadata", path: metadataDirectory, both: true,
			source: hostPath("/var/lib/longhorn/metadata/", corev1.HostPathDirectoryOrCreate)},
		{name: "unix-domain-socket", path: w.socketDirectory() + "/",
			source: hostPath(w.controlPath("unix-domain-socket/"), corev1.HostPathDirectoryOrCreate)},
		{name: "grpc-tls", path: tlsDirectory, source: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: w.Options.TLSSecret, Optional: &optional}}},
		{name: "log", path: "/log", source: hostPath("/var/lib/longhorn/logs/", corev1.HostPathDirectoryOrCreate)},
	}
	if w.v2() && w.Options.HugePages {
		limit := *resource.NewQuantity(w.Options.HugePageLimitMiB<<20, resource.BinarySI)
		list = append(list, mount{name: "hugepages", path: "/hugepages", source: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumHugePages, SizeLimit: &limit}}})
	}
	return list
}

// controlPath is a directory of Longhorn's control path on the host.
func (w World) controlPath(directory string) string {
	return strings.TrimSuffix(w.Options.ControlPath, "/") + "/" + directory
}

// socketDirectory is where Unix domain sockets are inside the pod: under the path that they have on the host.
func (w World) socketDirectory() string { return "/host" + w.controlPath("unix-domain-socket") }

func hostPath(path string, kind corev1.HostPathType) corev1.VolumeSource {
	return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}
}

func volumes(w World) []corev1.Volume {
	var out []corev1.Volume
	for _, m := range directories(w) {
		out = append(out, corev1.Volume{Name: m.name, VolumeSource: m.source})
	}
	return out
}

func mounts(w World) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, m := range directories(w) {
		one := corev1.VolumeMount{Name: m.name, MountPath: m.path}
		if m.both {
			bidirectional := corev1.MountPropagationBidirectional
			one.MountPropagation = &bidirectional
		}
		out = append(out, one)
	}
	return out
}

// liveness asks for every port that the instance manager serves: one that hangs is as dead as all of them.
func liveness(w World) *corev1.Probe {
	ports := []int{8500, 8501, 8502, 8503}
	if w.v2() {
		ports = append(ports, 8504)
	}
	checks := make([]string, 0, len(ports))
	for _, port := range ports {
		checks = append(checks, "nc -z localhost "+strconv.Itoa(port))
	}
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", strings.Join(checks, " && ")}}},
		InitialDelaySeconds: 3, TimeoutSeconds: 10, PeriodSeconds: 11, FailureThreshold: 6,
	}
}
