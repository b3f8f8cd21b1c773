package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/shared/api/v1beta2"
)

// engineBinary is the binary of the image engine:1, as a v1 replica process has it.
const engineBinary = "/host/var/lib/longhorn/engine-binaries/engine-1/longhorn"

// deploy creates the DaemonSet of an engine image.
func (w *world) deploy(image string) *appsv1.DaemonSet {
	w.t.Helper()
	labels := map[string]string{v1beta2.LabelComponent: v1beta2.ComponentEngineImage, v1beta2.LabelEngineImage: "ei-1"}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "engine-image-ei-1", Namespace: w.namespace, Labels: labels},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "engine", Image: image, SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
					Command:      []string{"/bin/bash", "-c", "cp -p /usr/local/bin/longhorn /data/longhorn; sleep infinity"},
					VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data/"}}}},
				Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{
					Path: "/var/lib/longhorn/engine-binaries/" + v1beta2.EngineBinaryDirectory(image)}}}}}}}}
	require.NoError(w.t, w.admin.Create(w.t.Context(), set))
	return set
}

// podsOf waits until as many pods of a DaemonSet are ready, or not, and returns them.
func (w *world) podsOf(set *appsv1.DaemonSet, number int, ready bool) []corev1.Pod {
	w.t.Helper()
	var pods corev1.PodList
	require.Eventually(w.t, func() bool {
		err := w.admin.List(w.t.Context(), &pods, client.InNamespace(w.namespace), client.MatchingLabels(set.Spec.Selector.MatchLabels))
		for _, p := range pods.Items {
			if len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].Ready != ready {
				return false
			}
		}
		return err == nil && len(pods.Items) == number
	}, soon, tick)
	return pods.Items
}

// A kubelet that has nothing to copy, and a pod that ended, leave no binary: what starts then fails, and what runs goes on.
func TestAV1ProcessStartsOnlyWhereAPodHasPutItsBinary(t *testing.T) {
	w := newWorld(t, nil)
	pod := w.pod(dataplane.V1)
	instances := imrpc.NewInstanceServiceClient(w.dial(pod, "8503"))
	start := func(name string) *imrpc.InstanceResponse {
		t.Helper()
		made, err := instances.InstanceCreate(t.Context(), &imrpc.InstanceCreateRequest{Spec: &imrpc.InstanceSpec{Name: name, Type: "replica",
			PortCount: 10, PortArgs: []string{"--listen,:"}, ProcessInstanceSpec: &imrpc.ProcessInstanceSpec{Binary: engineBinary,
				Args: []string{"--volume-name", "vol", "replica", "/host/var/lib/longhorn/replicas/" + name, "--size", "1048576"}}}})
		require.NoError(t, err)
		return made
	}
	const lacks = "fork/exec " + engineBinary + ": no such file or directory"
	require.Equal(t, lacks, start("early").Status.ErrorMsg)
	set := w.deploy("engine:1")
	w.podsOf(set, 1, true)
	require.Empty(t, start("in-time").Status.ErrorMsg)

	require.NoError(t, w.admin.Delete(t.Context(), set))
	w.podsOf(set, 0, true)
	require.Equal(t, lacks, start("late").Status.ErrorMsg)
	runs, err := instances.InstanceGet(t.Context(), &imrpc.InstanceGetRequest{Name: "in-time", Type: "replica"})
	require.NoError(t, err)
	require.Equal(t, dataplane.Running, runs.Status.State)
}

// As the DaemonSet controller does, a pod is replaced by one of the present template, on each node that the template chooses.
func TestADaemonSetHasAPodOfItsTemplateOnEachNodeThatItChooses(t *testing.T) {
	w := newWorld(t, nil)
	set := w.deploy("engine:1")
	first := w.podsOf(set, 1, true)[0]
	require.Equal(t, w.node, first.Spec.NodeName)
	change := func(patch string) {
		t.Helper()
		require.NoError(t, w.admin.Patch(t.Context(), set, client.RawPatch("application/merge-patch+json", []byte(patch))))
	}
	change(`{"spec":{"template":{"spec":{"priorityClassName":"system-node-critical"}}}}`)
	require.Eventually(t, func() bool { return w.podsOf(set, 1, true)[0].UID != first.UID }, soon, tick)
	change(`{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}`)
	w.podsOf(set, 0, true)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node}}
	require.NoError(t, w.admin.Patch(t.Context(), node, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"labels":{"disk":"ssd"}}}`))))
	w.podsOf(set, 1, true)
	require.NoError(t, w.admin.Patch(t.Context(), node, client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"taints":[{"key":"storage","effect":"NoSchedule"}]}}`))))
	w.podsOf(set, 0, true)
}

func TestAnEngineImageThatCannotBePulledIsNeverReady(t *testing.T) {
	w := newWorld(t, nil)
	pods := w.podsOf(w.deploy("engine:missing"), 1, false)
	require.Equal(t, "ErrImagePull", pods[0].Status.ContainerStatuses[0].State.Waiting.Reason)
}
