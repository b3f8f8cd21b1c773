package instancemanager

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"drover.dev/drover/shared/managerimage"
)

// HugePages is the resource of 2 MiB huge pages: a limit of v2 pods, and a capacity of nodes.
const HugePages corev1.ResourceName = "hugepages-2Mi"

// image describes the image of the pod: the arguments follow it, not the default image and not our own release.
func (w World) image() managerimage.Image {
	return managerimage.Describe(w.InstanceManager.Spec.Image, w.Options.Profiles)
}

// PortsWithTLS reports on which ports the instance manager speaks TLS while its pod has the files.
func (w World) PortsWithTLS() managerimage.TLS { return w.image().TLS }

func container(w World) corev1.Container {
	privileged := true
	c := corev1.Container{
		Name: containerName, Image: w.InstanceManager.Spec.Image, ImagePullPolicy: w.Settings.Pods.PullPolicy,
		Env: environment(w), VolumeMounts: mounts(w),
		SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
		LivenessProbe:   liveness(w),
		Resources:       resources(w),
	}
	c.Args, _ = arguments(w)
	if w.v2() {
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{
			Command: []string{"/bin/sh", "-c", "instance-manager-v2-prestop >> /log/prestop-v2.log 2>&1"}}}}
	}
	return c
}

// arguments returns the arguments of the container, and the settings in force that the image has no option for.
func arguments(w World) (list, leftOut []string) {
	if !w.v2() {
		return managerimage.V1Arguments(), nil
	}
	options := w.Settings.Pods.SPDK
	options.ControlPath = w.hostControlPath()
	own := w.InstanceManager.Spec.DataEngineSpec.V2
	if own.CPUMask != "" {
		options.CPUMask = own.CPUMask
	}
	if own.CPUIsolationEnabled != "" {
		options.Isolate = own.CPUIsolationEnabled == "true"
	}
	return w.image().Profile.V2Arguments(options)
}

// resources returns the requests and limits of the container. A pod whose image takes a number of CPUs gets whole CPUs of its own from the
// kubelet, for which requests and limits have to be equal.
func resources(w World) corev1.ResourceRequirements {
	cpu, cores := cpuRequest(w), w.cores()
	if cores > 0 {
		cpu = 1000 * max(int64(cores), (cpu+999)/1000)
	}
	out := corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
	if cpu > 0 {
		out.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(cpu, resource.DecimalSI)
	}
	if !w.v2() {
		return out
	}
	pages := resource.MustParse("0Mi")
	if w.Settings.Pods.SPDK.HugePages {
		pages = *resource.NewQuantity(int64(w.Settings.Pods.SPDK.MemoryMiB)<<20, resource.BinarySI)
	}
	memory := resource.MustParse("128Mi") // a pod that requests huge pages has to request CPU or memory too
	out.Requests[corev1.ResourceMemory], out.Requests[HugePages] = memory, pages
	out.Limits = corev1.ResourceList{HugePages: pages}
	if cores > 0 {
		out.Limits[corev1.ResourceCPU], out.Limits[corev1.ResourceMemory] = out.Requests[corev1.ResourceCPU], memory
	}
	return out
}

// cores returns the number of CPUs that the image takes by itself; 0: it gets a mask.
func (w World) cores() int {
	if profile := w.image().Profile; !w.v2() || profile != managerimage.Wrapper && profile != managerimage.WrapperWithoutSmallPool {
		return 0
	}
	return w.Settings.Pods.SPDK.Cores
}

func environment(w World) []corev1.EnvVar {
	out := []corev1.EnvVar{
		{Name: "TLS_DIR", Value: tlsDirectory},
		{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1",
			FieldPath: "status.podIP"}}},
		{Name: "DATA_ENGINE", Value: engineOf(w.InstanceManager)},
	}
	if directory := w.hostControlPath(); directory != managerimage.ControlPath { // released images do not read it
		out = append(out, corev1.EnvVar{Name: "LONGHORN_CONTROL_PATH", Value: directory})
	}
	return out
}

// cpuRequest returns the request in thousandths of a CPU.
func cpuRequest(w World) int64 {
	if w.Node != nil && w.Node.Spec.InstanceManagerCPURequest > 0 {
		return int64(w.Node.Spec.InstanceManagerCPURequest)
	}
	if w.Kubernetes == nil {
		return 0
	}
	return int64(math.Round(float64(w.Kubernetes.AllocatableMilliCPU) * w.cpuPercent() / 100))
}

// cpuPercent returns the part of a node's CPU that pods of this data engine request.
func (w World) cpuPercent() float64 {
	if w.v2() {
		return w.Settings.Pods.CPUPercentV2
	}
	return w.Settings.Pods.CPUPercent
}
