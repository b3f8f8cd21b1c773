package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit/cluster"
)

// SnapshotterProcess is the common snapshot controller of Kubernetes.
const SnapshotterProcess = "common-snapshot-controller"

// VolumeSnapshots are Kubernetes' objects for snapshots: the definitions are installed, and the real common snapshot controller
// runs. The World must have been started with Kubernetes.
func (w *World) VolumeSnapshots(ctx context.Context) error {
	found, err := w.snapshotDefinitions(ctx)
	if err != nil {
		return err
	}
	kubeconfig, err := w.AdminKubeconfig()
	if err != nil {
		return err
	}
	if err := os.Symlink(found.Program, filepath.Join(w.Dir, SnapshotterProcess)); err != nil {
		return fmt.Errorf("placing the common snapshot controller: %w", err)
	}
	_, err = w.run(&Process{Name: SnapshotterProcess, binary: SnapshotterProcess, args: []string{
		"--kubeconfig", kubeconfig, "--kube-api-qps=100", "--kube-api-burst=200", "--retry-interval-start=100ms", "--retry-interval-max=2s",
	}})
	return err
}

// SnapshotDefinitions installs the definitions of VolumeSnapshots, without the common snapshot controller.
func (w *World) SnapshotDefinitions(ctx context.Context) error {
	_, err := w.snapshotDefinitions(ctx)
	return err
}

func (w *World) snapshotDefinitions(ctx context.Context) (cluster.Snapshotter, error) {
	found, err := cluster.LocateSnapshotter(ctx, lineWriter(w.options.Log))
	if err != nil {
		return found, err
	}
	if err := w.cluster.InstallCRDs(ctx, found.CRDs); err != nil {
		return found, err
	}
	// A definition is established before discovery has it.
	return found, w.Wait(ctx, "the discovery of VolumeSnapshots", time.Minute, func(context.Context) (string, error) {
		for _, kind := range []string{"VolumeSnapshotClass", "VolumeSnapshotContent", "VolumeSnapshot"} {
			if _, err := w.Admin.RESTMapper().RESTMapping(snapshotKind(kind, "", "").GroupVersionKind().GroupKind(), "v1"); err != nil {
				return "", fmt.Errorf("finding the resource of %s: %w", kind, err)
			}
		}
		return "", nil
	})
}

// snapshotKind is an empty object of one of the kinds.
func snapshotKind(kind, namespace, name string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: kind})
	out.SetNamespace(namespace)
	out.SetName(name)
	return out
}

// SnapshotClass creates a VolumeSnapshotClass of Longhorn's driver whose parameter type is kind and whose policy is Delete or
// Retain.
func (w *World) SnapshotClass(ctx context.Context, name, kind, policy string) error {
	class := snapshotKind("VolumeSnapshotClass", "", name)
	class.Object["driver"], class.Object["deletionPolicy"] = driver, policy
	class.Object["parameters"] = map[string]any{"type": kind}
	if err := w.Admin.Create(ctx, class); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating VolumeSnapshotClass %s: %w", name, err)
	}
	return nil
}

// VolumeSnapshot requests a snapshot of the claim of the volume, as a person does.
func (w *World) VolumeSnapshot(ctx context.Context, name, class, volume string) error {
	return w.createVolumeSnapshot(ctx, name, map[string]any{
		"volumeSnapshotClassName": class, "source": map[string]any{"persistentVolumeClaimName": volume},
	})
}

func (w *World) createVolumeSnapshot(ctx context.Context, name string, spec map[string]any) error {
	object := snapshotKind("VolumeSnapshot", podNamespace, name)
	object.Object["spec"] = spec
	if err := w.Admin.Create(ctx, object); err != nil {
		return fmt.Errorf("creating VolumeSnapshot %s: %w", name, err)
	}
	return nil
}

// FoundSnapshot creates a pre-provisioned VolumeSnapshot and its content for an existing snapshot.
func (w *World) FoundSnapshot(ctx context.Context, name, handle, policy string) error {
	content := snapshotKind("VolumeSnapshotContent", "", name)
	content.Object["spec"] = map[string]any{
		"driver": driver, "deletionPolicy": policy, "source": map[string]any{"snapshotHandle": handle},
		"volumeSnapshotRef": map[string]any{"namespace": podNamespace, "name": name},
	}
	if err := w.Admin.Create(ctx, content); err != nil {
		return fmt.Errorf("creating VolumeSnapshotContent %s: %w", name, err)
	}
	return w.createVolumeSnapshot(ctx, name, map[string]any{"source": map[string]any{"volumeSnapshotContentName": name}})
}

// VolumeSnapshotStatus is the reported status of a VolumeSnapshot, and the handle and name of its content.
type VolumeSnapshotStatus struct {
	Ready                               bool
	RestoreSize, Error, Content, Handle string
	CreationTime                        string
	UID                                 string
}

// VolumeSnapshotNow reads the status of a VolumeSnapshot.
func (w *World) VolumeSnapshotNow(ctx context.Context, name string) (VolumeSnapshotStatus, error) {
	object := snapshotKind("VolumeSnapshot", podNamespace, name)
	if err := w.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return VolumeSnapshotStatus{}, fmt.Errorf("reading VolumeSnapshot %s: %w", name, err)
	}
	text := func(from *unstructured.Unstructured, path ...string) string {
		out, _, _ := unstructured.NestedString(from.Object, path...)
		return out
	}
	out := VolumeSnapshotStatus{
		RestoreSize: text(object, "status", "restoreSize"), Error: text(object, "status", "error", "message"),
		Content: text(object, "status", "boundVolumeSnapshotContentName"), CreationTime: text(object, "status", "creationTime"),
		UID: string(object.GetUID()),
	}
	out.Ready, _, _ = unstructured.NestedBool(object.Object, "status", "readyToUse")
	if out.Content == "" {
		return out, nil
	}
	content := snapshotKind("VolumeSnapshotContent", "", out.Content)
	if err := w.Admin.Get(ctx, client.ObjectKeyFromObject(content), content); err != nil {
		return out, fmt.Errorf("reading VolumeSnapshotContent %s: %w", out.Content, err)
	}
	out.Handle = text(content, "status", "snapshotHandle")
	return out, nil
}

// WaitVolumeSnapshot waits until check accepts the status of the VolumeSnapshot, and returns the status.
func (w *World) WaitVolumeSnapshot(ctx context.Context, name, what string, within time.Duration,
	check func(VolumeSnapshotStatus) bool) (VolumeSnapshotStatus, error) {
	var now VolumeSnapshotStatus
	err := w.Wait(ctx, "VolumeSnapshot "+name+" "+what, within, func(ctx context.Context) (string, error) {
		var err error
		now, err = w.VolumeSnapshotNow(ctx, name)
		return unless(err == nil && check(now), "it is %+v", now), err
	})
	return now, err
}

// DeleteVolumeSnapshot deletes it, as a person does.
func (w *World) DeleteVolumeSnapshot(ctx context.Context, name string) error {
	if err := w.Admin.Delete(ctx, snapshotKind("VolumeSnapshot", podNamespace, name)); err != nil {
		return fmt.Errorf("deleting VolumeSnapshot %s: %w", name, err)
	}
	return nil
}

// DeleteSnapshotContent deletes a VolumeSnapshotContent, as a person does.
func (w *World) DeleteSnapshotContent(ctx context.Context, name string) error {
	if err := w.Admin.Delete(ctx, snapshotKind("VolumeSnapshotContent", "", name)); err != nil {
		return fmt.Errorf("deleting VolumeSnapshotContent %s: %w", name, err)
	}
	return nil
}

// WaitVolumeSnapshotGone waits for the end of a VolumeSnapshot and of a content.
func (w *World) WaitVolumeSnapshotGone(ctx context.Context, name, content string, within time.Duration) error {
	for _, object := range []*unstructured.Unstructured{snapshotKind("VolumeSnapshot", podNamespace, name),
		snapshotKind("VolumeSnapshotContent", "", content)} {
		if object.GetName() == "" {
			continue
		}
		err := w.Wait(ctx, "the end of "+object.GetKind()+" "+object.GetName(), within, func(ctx context.Context) (string, error) {
			err := w.Admin.Get(ctx, client.ObjectKeyFromObject(object), object)
			if apierrors.IsNotFound(err) {
				return "", nil
			}
			return fmt.Sprintf("it is %v, %v", object.GetAnnotations(), object.Object["status"]), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SweepVolumeSnapshots removes every VolumeSnapshot and content, with any finalizers.
func (w *World) SweepVolumeSnapshots(ctx context.Context) error {
	for _, kind := range []string{"VolumeSnapshot", "VolumeSnapshotContent"} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: kind + "List"})
		if err := w.Admin.List(ctx, list); err != nil {
			if meta.IsNoMatchError(err) {
				return nil // the definitions are not installed
			}
			return fmt.Errorf("listing %ss: %w", kind, err)
		}
		for i := range list.Items {
			if err := w.Disown(ctx, &list.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
