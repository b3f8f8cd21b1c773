package world

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/lookup"
)

const (
	// driver is the CSI driver of every PersistentVolume.
	driver = "driver.longhorn.io"
	// podNamespace is the namespace of pods and their claims: another one than Longhorn's.
	podNamespace = metav1.NamespaceDefault
	storageClass = "longhorn"
)

// managerFlags let kube-controller-manager attach volumes for pods and count for disruption budgets, but not evaluate nodes, which have no
// kubelet here.
var managerFlags = []string{"--controllers=serviceaccount-controller,persistentvolume-binder-controller," +
	"persistentvolume-protection-controller,persistentvolumeclaim-protection-controller,persistentvolume-attach-detach-controller," +
	"disruption-controller", "--attach-detach-reconcile-sync-period=2s"}

// PersistentVolume creates the objects that Kubernetes has for a volume when Longhorn's CSI driver is installed: the driver, its
// registration on every node, the StorageClass, and the PersistentVolume of the same name.
func (w *World) PersistentVolume(ctx context.Context, volume string) error {
	required := true
	wanted := []client.Object{
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{AttachRequired: &required}},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: storageClass}, Provisioner: driver},
		persistentVolume(volume),
	}
	for _, object := range wanted {
		if err := w.Admin.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("creating %s: %w", object.GetName(), err)
		}
	}
	return w.RegisterDriver(ctx)
}

// RegisterDriver writes the CSINode of each node, as kubelets do once the CSI driver has registered with them.
func (w *World) RegisterDriver(ctx context.Context) error {
	for _, node := range w.options.Nodes {
		registered := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: node}}}}
		if err := w.Admin.Create(ctx, registered); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("creating the CSINode of %s: %w", node, err)
		}
		managed := map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}}
		if err := w.patch(ctx, kubernetesNode(node), managed); err != nil {
			return err
		}
	}
	return nil
}

func persistentVolume(volume string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: volume}, Spec: corev1.PersistentVolumeSpec{
		AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		StorageClassName:              storageClass,
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
			Driver: driver, VolumeHandle: volume, FSType: "ext4",
		}},
	}}
}

// Claim creates the claim of the volume's PersistentVolume, and waits until it is bound.
func (w *World) Claim(ctx context.Context, volume string) error {
	class := storageClass
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: podMeta(volume), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, VolumeName: volume,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	if err := w.Admin.Create(ctx, claim); err != nil {
		return fmt.Errorf("creating the claim of %s: %w", volume, err)
	}
	return w.Wait(ctx, "a bound claim of "+volume, time.Minute, func(ctx context.Context) (string, error) {
		err := w.Admin.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return unless(claim.Status.Phase == corev1.ClaimBound, "it is %q", claim.Status.Phase), err
	})
}

// Pod creates a pod on the node that uses the claim of the volume. No kubelet runs it.
func (w *World) Pod(ctx context.Context, name, volume, node string) error {
	return w.makePod(ctx, podOf(name, volume, node))
}

// ControlledPod creates a pod as a controller of that kind of the group apps does, with the status that a kubelet reports for a running
// pod.
func (w *World) ControlledPod(ctx context.Context, name, kind, volume, node string) error {
	yes, grace := true, int64(1)
	pod := podOf(name, volume, node)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "owner", UID: "owner", Controller: &yes}}
	pod.Spec.TerminationGracePeriodSeconds = &grace
	if err := w.makePod(ctx, pod); err != nil {
		return err
	}
	running := corev1.ContainerStatus{Name: "main",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}
	return w.setStatus(ctx, pod, map[string]any{"phase": corev1.PodRunning, "startTime": metav1.Now(),
		"containerStatuses": []corev1.ContainerStatus{running}})
}

// EndPod deletes a pod, as its controller or Kubernetes does: the pod ends once its kubelet has ended it.
func (w *World) EndPod(ctx context.Context, name string) error {
	if err := w.Admin.Delete(ctx, &corev1.Pod{ObjectMeta: podMeta(name)}); err != nil {
		return fmt.Errorf("deleting pod %s: %w", name, err)
	}
	return nil
}

// PodNow returns a pod; nil where it is gone.
func (w *World) PodNow(ctx context.Context, name string) (*corev1.Pod, error) {
	return lookup.Get(ctx, w.Admin, podNamespace, name, &corev1.Pod{})
}

// WaitPodGone waits until a pod is gone.
func (w *World) WaitPodGone(ctx context.Context, name string, within time.Duration) error {
	return w.Wait(ctx, "the end of pod "+name, within, func(ctx context.Context) (string, error) {
		pod, err := w.PodNow(ctx, name)
		return unless(pod == nil, "it is there"), err
	})
}

// PodReported reports whether a pod has an event of that reason.
func (w *World) PodReported(ctx context.Context, name, reason string) (bool, error) {
	var list eventsv1.EventList
	if err := w.Admin.List(ctx, &list, client.InNamespace(podNamespace)); err != nil {
		return false, fmt.Errorf("listing the events about pods: %w", err)
	}
	return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Regarding.Name == name && e.Reason == reason }), nil
}

func podOf(name, volume, node string) *corev1.Pod {
	token := false
	return &corev1.Pod{ObjectMeta: podMeta(name), Spec: corev1.PodSpec{
		NodeName: node, AutomountServiceAccountToken: &token,
		Containers: []corev1.Container{{Name: "main", Image: "none",
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: volume},
		}}},
	}}
}

func (w *World) makePod(ctx context.Context, pod *corev1.Pod) error {
	return w.Wait(ctx, "pod "+pod.Name, time.Minute, func(ctx context.Context) (string, error) {
		// The namespace's ServiceAccount may not exist yet.
		return "", client.IgnoreAlreadyExists(w.Admin.Create(ctx, pod))
	})
}

// KillPod deletes a pod without a grace period: no kubelet runs it.
func (w *World) KillPod(ctx context.Context, name string) error {
	now := int64(0)
	if err := w.Admin.Delete(ctx, &corev1.Pod{ObjectMeta: podMeta(name)},
		&client.DeleteOptions{GracePeriodSeconds: &now}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting pod %s: %w", name, err)
	}
	return nil
}

func podMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: podNamespace, Name: name}
}

func kubernetesNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
