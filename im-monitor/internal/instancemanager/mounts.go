package instancemanager

import (
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// metadataDirectory is where a v2 server keeps its records of engine frontends. Behind it is a directory of the host, so that they outlive
// the pod.
const metadataDirectory = "/metadata/"

// mount is one directory of the pod: where it is in the container, and what is behind it.
type mount struct {
	name, path string
	follows    bool // mounts of the host that come later are seen in the container; the container's own never reach the host
	source     corev1.VolumeSource
}

func directories(w World) []mount {
	optional := !w.Options.RequireTLS
	list := []mount{
		{name: "host", path: "/host", follows: true, source: hostPath("/", corev1.HostPathUnset)},
		{name: "engine-binaries", path: "/engine-binaries/", follows: true,
			source: hostPath(w.controlPath("engine-binaries/"), corev1.HostPathDirectoryOrCreate)},
		{name: "metadata", path: metadataDirectory, follows: true,
			source: hostPath("/var/lib/longhorn/metadata/", corev1.HostPathDirectoryOrCreate)},
		{name: "unix-domain-socket", path: "/host" + w.controlPath("unix-domain-socket/"),
			source: hostPath(w.controlPath("unix-domain-socket/"), corev1.HostPathDirectoryOrCreate)},
		{name: "longhorn-grpc-tls", path: tlsDirectory, source: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: w.Options.TLSSecret, Optional: &optional}}},
		{name: "log", path: "/log", follows: true, source: hostPath(w.Settings.Pods.LogDirectory, corev1.HostPathDirectoryOrCreate)},
	}
	if w.v2() {
		list = append(list, mount{name: "hugepage", path: "/hugepages", source: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumHugePages}}})
	}
	return list
}

// hostControlPath returns Longhorn's control path on the host.
func (w World) hostControlPath() string { return path.Clean(w.Options.ControlPath) }

// controlPath returns a directory of Longhorn's control path on the host.
func (w World) controlPath(directory string) string { return w.hostControlPath() + "/" + directory }

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
		if m.follows {
			toContainer := corev1.MountPropagationHostToContainer
			one.MountPropagation = &toContainer
		}
		out = append(out, one)
	}
	return out
}

// runsSPDK ends with 0 if spdk_tgt runs and no process of it is stopped or traced.
const runsSPDK = `pids=$(pgrep -f '^spdk_tgt') && for pid in $pids; do case "$(ps -o stat= -p $pid)" in [Tt]*) exit 1;; esac; done`

// liveness asks for every port that the instance manager serves, and of a v2 one for its SPDK process: one that hangs is as dead as all of
// them.
func liveness(w World) *corev1.Probe {
	ports := []int{8500, 8501, 8502, 8503}
	if w.v2() {
		ports = append(ports, 8504)
	}
	checks := make([]string, 0, len(ports)+1)
	for _, port := range ports {
		checks = append(checks, "nc -z localhost "+strconv.Itoa(port))
	}
	if w.v2() {
		checks = append(checks, runsSPDK)
	}
	timeout := int32(w.Settings.Pods.ProbeTimeout)
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
			Command: []string{"/bin/sh", "-c", strings.Join(checks, " && ")}}},
		InitialDelaySeconds: 3, TimeoutSeconds: timeout, PeriodSeconds: timeout + 1, FailureThreshold: 6,
	}
}
