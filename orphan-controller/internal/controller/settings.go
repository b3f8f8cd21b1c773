package controller

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
)

// settingReconciler reports which settings of orphans are invalid, and migrates the old switch to the new setting.
type settingReconciler struct {
	cached    client.Reader
	client    client.Client
	namespace string
	recorder  kevents.EventRecorder
	metrics   *metrics
	clock     clock.PassiveClock
}

func (s *settingReconciler) setUp(manager ctrl.Manager) error {
	ours := predicate.NewPredicateFuncs(func(obj client.Object) bool {
		switch obj.GetName() {
		case setting.AutoDeletion, setting.GracePeriod, setting.OldAutoDeletion:
			return true
		}
		return false
	})
	return ctrl.NewControllerManagedBy(manager).Named("orphan-setting").WithOptions(queue.Options(1)).
		For(&v1beta2.Setting{}, builder.WithPredicates(ours, predicate.ResourceVersionChangedPredicate{})).Complete(s)
}

// Reconcile implements reconcile.Reconciler.
func (s *settingReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	found, err := lookup.Get(ctx, s.cached, s.namespace, request.Name, &v1beta2.Setting{})
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := s.check(ctx, request.Name, found); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, s.migrate(ctx)
}

// check reports whether a setting's value is valid: in a metric, and in the setting's status. The migration reports the status of the
// old switch.
func (s *settingReconciler) check(ctx context.Context, name string, found *v1beta2.Setting) error {
	var bad error
	if found != nil {
		bad = setting.Catalogue.Check(name, found.Value)
	}
	if found != nil && name != setting.OldAutoDeletion {
		if err := s.report(ctx, found, bad, func(why error) events.Event { return settingInvalidEvent(name, why) }); err != nil {
			return err
		}
	}
	invalid := s.metrics.settingInvalid.WithLabelValues(name)
	if invalid.Set(0); bad != nil {
		invalid.Set(1)
	}
	return nil
}

// report writes to a setting's status whether its value is in force. One event gives the reason why it is not.
func (s *settingReconciler) report(ctx context.Context, found *v1beta2.Setting, bad error, event func(why error) events.Event) error {
	changed, err := settingcontroller.Report(ctx, s.client, found, Owner, bad, s.clock.Now())
	if err != nil || !changed || bad == nil {
		return client.IgnoreNotFound(err)
	}
	events.Emit(s.recorder, found, event(bad))
	log.FromContext(ctx).Info("the value of a setting is invalid", "name", found.Name, "reason", bad.Error())
	return nil
}

// migrate merges the old switch into the new setting and then deletes it, each bound to the version that was read.
// A crash between the two leaves a new setting that is complete, and an old one that still must be deleted.
func (s *settingReconciler) migrate(ctx context.Context) error {
	old, err := lookup.Get(ctx, s.cached, s.namespace, setting.OldAutoDeletion, &v1beta2.Setting{})
	if old == nil || err != nil {
		return err
	}
	present, err := lookup.Get(ctx, s.cached, s.namespace, setting.AutoDeletion, &v1beta2.Setting{})
	if err != nil {
		return err
	}
	var value *string
	if present != nil {
		value = &present.Value
	}
	merged, changed, err := setting.Merge(old.Value, value)
	if err != nil {
		return s.report(ctx, old, err, migrationWaitsEvent)
	}
	if changed {
		if err := s.write(ctx, present, merged); err != nil {
			return err
		}
	}
	if err := status.Delete(ctx, s.client, old); err != nil {
		return err
	}
	events.Emit(s.recorder, old, migratedEvent(setting.OldAutoDeletion+"="+old.Value, merged))
	log.FromContext(ctx).Info("setting migrated", "name", setting.OldAutoDeletion, "reason", merged)
	return nil
}

// write stores the new setting's value; nil: it does not exist yet. An apply creates it, because the Role can bound the name of an apply.
// Another value that was stored meanwhile is a conflict.
func (s *settingReconciler) write(ctx context.Context, present *v1beta2.Setting, value string) error {
	if present == nil {
		created := &unstructured.Unstructured{Object: map[string]any{"value": value}}
		created.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("Setting"))
		created.SetNamespace(s.namespace)
		created.SetName(setting.AutoDeletion)
		if err := s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(created), client.FieldOwner(Owner)); err != nil {
			return fmt.Errorf("creating setting %s: %w", setting.AutoDeletion, err)
		}
		return nil
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": string(present.UID), "resourceVersion": present.ResourceVersion},
		"value":    value,
	})
	if err != nil {
		return fmt.Errorf("rendering setting %s: %w", setting.AutoDeletion, err)
	}
	patch := client.RawPatch(types.MergePatchType, body)
	if err := s.client.Patch(ctx, present.DeepCopy(), patch, client.FieldOwner(Owner)); err != nil {
		return fmt.Errorf("patching setting %s: %w", setting.AutoDeletion, err)
	}
	return nil
}
