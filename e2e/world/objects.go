package world

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// Get reads an object of the namespace from the API server.
func (w *World) Get(ctx context.Context, name string, into client.Object) error {
	if err := w.Admin.Get(ctx, types.NamespacedName{Namespace: w.Namespace, Name: name}, into); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// List reads all objects of a kind in the namespace that the options select.
func (w *World) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if err := w.Admin.List(ctx, into, append(options, client.InNamespace(w.Namespace))...); err != nil {
		return fmt.Errorf("listing: %w", err)
	}
	return nil
}

// Patch writes a JSON merge patch.
func (w *World) Patch(ctx context.Context, object client.Object, patch map[string]any) error {
	return w.patch(ctx, object, patch)
}

func (w *World) patch(ctx context.Context, object client.Object, patch map[string]any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding a patch of %s: %w", object.GetName(), err)
	}
	if err := w.Admin.Patch(ctx, object, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("patching %s: %w", object.GetName(), err)
	}
	return nil
}

// SetStatus writes keys under status, as im-monitor's executor would.
func (w *World) SetStatus(ctx context.Context, object client.Object, status map[string]any) error {
	return w.setStatus(ctx, object, status)
}

func (w *World) setStatus(ctx context.Context, object client.Object, status map[string]any) error {
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("encoding the status of %s: %w", object.GetName(), err)
	}
	if err := w.Admin.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("patching the status of %s: %w", object.GetName(), err)
	}
	return nil
}

// Set writes a Setting, and creates it if it does not exist.
func (w *World) Set(ctx context.Context, name, value string) error {
	setting := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.Namespace}}
	err := w.patch(ctx, setting, map[string]any{"value": value})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		setting.Value = value
		if err := w.Admin.Create(ctx, setting); err != nil {
			return fmt.Errorf("creating setting %s: %w", name, err)
		}
	}
	return nil
}

// Orphans are all Orphan objects, by name.
func (w *World) Orphans(ctx context.Context) ([]v1beta2.Orphan, error) {
	list := &v1beta2.OrphanList{}
	if err := w.List(ctx, list); err != nil {
		return nil, err
	}
	return list.Items, nil
}

// OrphanOf finds the Orphan of a runtime instance by the instance's name and instance manager; nil when there is none.
func (w *World) OrphanOf(ctx context.Context, instance, manager string) (*v1beta2.Orphan, error) {
	orphans, err := w.Orphans(ctx)
	if err != nil {
		return nil, err
	}
	for i := range orphans {
		parameters := orphans[i].Spec.Parameters
		if parameters[v1beta2.OrphanParameterInstanceName] == instance && parameters[v1beta2.OrphanParameterInstanceManager] == manager {
			return &orphans[i], nil
		}
	}
	return nil, nil
}
