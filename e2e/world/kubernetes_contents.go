package world

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	contentFinalizer = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
	contentReleased  = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
)

// SnapshotContent replaces the common snapshot controller: it creates a VolumeSnapshotContent of the volume, bound to a
// VolumeSnapshot whose UID is the content's name, with the finalizer and deletion policy Delete.
func (w *World) SnapshotContent(ctx context.Context, name, class, volume string) error {
	content := snapshotKind("VolumeSnapshotContent", "", name)
	content.SetFinalizers([]string{contentFinalizer})
	content.Object["spec"] = map[string]any{
		"driver": driver, "deletionPolicy": "Delete", "volumeSnapshotClassName": class,
		"source":            map[string]any{"volumeHandle": volume},
		"volumeSnapshotRef": map[string]any{"namespace": podNamespace, "name": name, "uid": name},
	}
	if err := w.Admin.Create(ctx, content); err != nil {
		return fmt.Errorf("creating VolumeSnapshotContent %s: %w", name, err)
	}
	return nil
}

// WaitSnapshotContent waits until the content is ready.
func (w *World) WaitSnapshotContent(ctx context.Context, name string, within time.Duration) error {
	content := snapshotKind("VolumeSnapshotContent", "", name)
	return w.Wait(ctx, "VolumeSnapshotContent "+name+" to be ready", within, func(ctx context.Context) (string, error) {
		if err := w.Admin.Get(ctx, client.ObjectKeyFromObject(content), content); err != nil {
			return "", err
		}
		ready, _, _ := unstructured.NestedBool(content.Object, "status", "readyToUse")
		return unless(ready, "it is %v", content.Object["status"]), nil
	})
}

// ReleaseSnapshotContent replaces the common snapshot controller once the VolumeSnapshot was deleted.
func (w *World) ReleaseSnapshotContent(ctx context.Context, name string) error {
	content := snapshotKind("VolumeSnapshotContent", "", name)
	err := w.patch(ctx, content, map[string]any{"metadata": map[string]any{"annotations": map[string]any{contentReleased: "yes"}}})
	if err != nil {
		return err
	}
	return w.DeleteSnapshotContent(ctx, name)
}

// WaitSnapshotContentGone waits for its end.
func (w *World) WaitSnapshotContentGone(ctx context.Context, name string, within time.Duration) error {
	content := snapshotKind("VolumeSnapshotContent", "", name)
	return w.Wait(ctx, "the end of VolumeSnapshotContent "+name, within, func(ctx context.Context) (string, error) {
		err := w.Admin.Get(ctx, client.ObjectKeyFromObject(content), content)
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return fmt.Sprintf("it is %v, %v", content.GetAnnotations(), content.Object["status"]), err
	})
}
