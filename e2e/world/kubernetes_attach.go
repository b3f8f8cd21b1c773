package world

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AskAttachment creates the storage.k8s.io VolumeAttachment of that name, as the attach-detach controller would.
func (w *World) AskAttachment(ctx context.Context, name, volume, node string) error {
	object := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
	}}
	if err := w.Admin.Create(ctx, object); err != nil {
		return fmt.Errorf("creating the VolumeAttachment of %s: %w", volume, err)
	}
	return nil
}

// EndAttachment deletes the storage.k8s.io VolumeAttachment, and does not wait.
func (w *World) EndAttachment(ctx context.Context, name string) error {
	err := w.Admin.Delete(ctx, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting the VolumeAttachment %s: %w", name, err)
	}
	return nil
}

// AttachmentsOf are the storage.k8s.io VolumeAttachments of the volume.
func (w *World) AttachmentsOf(ctx context.Context, volume string) ([]storagev1.VolumeAttachment, error) {
	var list storagev1.VolumeAttachmentList
	if err := w.Admin.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing the VolumeAttachments of Kubernetes: %w", err)
	}
	var out []storagev1.VolumeAttachment
	for _, a := range list.Items {
		if source := a.Spec.Source.PersistentVolumeName; source != nil && *source == volume {
			out = append(out, a)
		}
	}
	return out, nil
}

// WaitKubernetes waits until check returns "" for the VolumeAttachment by which Kubernetes requests the volume on the node,
// and returns it.
func (w *World) WaitKubernetes(ctx context.Context, volume, node, what string, within time.Duration,
	check func(*storagev1.VolumeAttachment) string) (*storagev1.VolumeAttachment, error) {
	var found *storagev1.VolumeAttachment
	err := w.Wait(ctx, fmt.Sprintf("the VolumeAttachment of %s on %s to be %s", volume, node, what), within,
		func(ctx context.Context) (string, error) {
			list, err := w.AttachmentsOf(ctx, volume)
			for i := range list {
				if found = &list[i]; found.Spec.NodeName == node {
					return check(found), err
				}
			}
			return fmt.Sprintf("there are %d others", len(list)), err
		})
	return found, err
}

// WaitKubernetesAttached waits until the VolumeAttachment reports that the volume is attached to the node.
func (w *World) WaitKubernetesAttached(ctx context.Context, volume, node string, within time.Duration) (*storagev1.VolumeAttachment,
	error) {
	return w.WaitKubernetes(ctx, volume, node, "attached", within, func(a *storagev1.VolumeAttachment) string {
		return unless(a.Status.Attached, "attached is false, %s", volumeErrorText(a.Status.AttachError))
	})
}

// WaitKubernetesError waits until the VolumeAttachment reports an error that contains the word.
func (w *World) WaitKubernetesError(ctx context.Context, volume, node, word string, within time.Duration) error {
	_, err := w.WaitKubernetes(ctx, volume, node, "refused with "+word, within, func(a *storagev1.VolumeAttachment) string {
		return unless(a.Status.AttachError != nil && strings.Contains(a.Status.AttachError.Message, word), "%s",
			volumeErrorText(a.Status.AttachError))
	})
	return err
}

func volumeErrorText(e *storagev1.VolumeError) string {
	if e == nil {
		return "there is no error"
	}
	return "the error is: " + e.Message
}

// WaitKubernetesDetached waits until no VolumeAttachment of the volume on the node is left, and, where the attach-detach
// controller runs, until the Node no longer lists the volume.
func (w *World) WaitKubernetesDetached(ctx context.Context, volume, node string, within time.Duration) error {
	return w.Wait(ctx, "the detachment of "+volume+" from "+node, within, func(ctx context.Context) (string, error) {
		list, err := w.AttachmentsOf(ctx, volume)
		if err != nil {
			return "", err
		}
		for _, a := range list {
			if a.Spec.NodeName == node {
				return fmt.Sprintf("%s still exists, deleted %v, finalizers %v, %s", a.Name, a.DeletionTimestamp, a.Finalizers,
					volumeErrorText(a.Status.DetachError)), nil
			}
		}
		reported, err := w.reported(ctx, volume, node)
		return unless(!reported, "the Node still lists it"), err
	})
}

// WaitReported waits until the Kubernetes Node lists the volume as attached.
func (w *World) WaitReported(ctx context.Context, volume, node string, within time.Duration) error {
	return w.Wait(ctx, volume+" in volumesAttached of "+node, within, func(ctx context.Context) (string, error) {
		reported, err := w.reported(ctx, volume, node)
		return unless(reported, "it is not listed"), err
	})
}

func (w *World) reported(ctx context.Context, volume, node string) (bool, error) {
	object := kubernetesNode(node)
	if err := w.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return false, fmt.Errorf("reading node %s: %w", node, err)
	}
	for _, attached := range object.Status.VolumesAttached {
		if attached.Name == uniqueName(volume) {
			return true, nil
		}
	}
	return false, nil
}

func uniqueName(volume string) corev1.UniqueVolumeName {
	return corev1.UniqueVolumeName("kubernetes.io/csi/" + driver + "^" + volume)
}

// MountOn writes the status of a kubelet that has mounted the volumes; with none, of one that has unmounted all.
func (w *World) MountOn(ctx context.Context, node string, volumes ...string) error {
	inUse := []corev1.UniqueVolumeName{}
	for _, volume := range volumes {
		inUse = append(inUse, uniqueName(volume))
	}
	return w.setStatus(ctx, kubernetesNode(node), map[string]any{"volumesInUse": inUse})
}

// OutOfService is a person's declaration that the node is dead; false removes it.
func (w *World) OutOfService(ctx context.Context, node string, dead bool) error {
	taints := []corev1.Taint{}
	if dead {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute})
	}
	return w.patch(ctx, kubernetesNode(node), map[string]any{"spec": map[string]any{"taints": taints}})
}

// sweepKubernetes removes the objects that a scenario created for Kubernetes: pods and claims, PersistentVolumes and their
// VolumeAttachments.
func (w *World) sweepKubernetes(ctx context.Context) error {
	for _, node := range w.options.Nodes {
		if err := w.MountOn(ctx, node); err != nil {
			return err
		}
		if err := w.OutOfService(ctx, node, false); err != nil {
			return err
		}
	}
	now := int64(0)
	if err := w.Admin.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(podNamespace), client.GracePeriodSeconds(now)); err != nil {
		return fmt.Errorf("deleting all pods: %w", err)
	}
	if err := w.Admin.DeleteAllOf(ctx, &corev1.PersistentVolumeClaim{}, client.InNamespace(podNamespace)); err != nil {
		return fmt.Errorf("deleting all claims: %w", err)
	}
	if err := w.freeVolumes(ctx); err != nil {
		return err
	}
	if err := w.Admin.DeleteAllOf(ctx, &corev1.PersistentVolume{}); err != nil {
		return fmt.Errorf("deleting all PersistentVolumes: %w", err)
	}
	return nil
}

// freeVolumes removes every VolumeAttachment, with any finalizers.
func (w *World) freeVolumes(ctx context.Context) error {
	var list storagev1.VolumeAttachmentList
	if err := w.Admin.List(ctx, &list); err != nil {
		return fmt.Errorf("listing the VolumeAttachments of Kubernetes: %w", err)
	}
	for i := range list.Items {
		if err := w.EndAttachment(ctx, list.Items[i].Name); err != nil {
			return err
		}
		body := []byte(`{"metadata":{"finalizers":null}}`)
		if err := w.Admin.Patch(ctx, &list.Items[i], client.RawPatch(types.MergePatchType, body)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("removing the finalizers of VolumeAttachment %s: %w", list.Items[i].Name, err)
		}
	}
	return nil
}
