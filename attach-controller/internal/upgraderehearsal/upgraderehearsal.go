// Package upgraderehearsal tries what attach-controller writes and deletes in an upgrade of the v2 data engine.
package upgraderehearsal

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/upgrade/rehearsal"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers/status,verbs=patch,namespace=longhorn-system

// Setup registers the controller that tries.
func Setup(rt *runkit.Runtime) error {
	return rehearsal.Setup(rt, "attach-controller", source{rt.Client, rt.Uncached, rt.Namespace})
}

type source struct {
	cached, live client.Reader
	namespace    string
}

// Requests implements rehearsal.Source: a target moves by a second engine, the frontend follows it, the first engine is deleted; a
// replica leaves its engine, stops, and is taken back. Each field keeps its value.
func (s source) Requests(ctx context.Context, scope rehearsal.Scope) ([]rehearsal.Request, error) {
	parts, err := scope.Parts(ctx, s.live, s.namespace)
	if err != nil {
		return nil, err
	}
	var out []rehearsal.Request
	for name := range parts.Volumes {
		v, err := lookup.Shared(ctx, s.cached, s.namespace, name, &v1beta2.Volume{})
		if err != nil {
			return nil, err
		}
		if v != nil {
			out = append(out, rehearsal.PatchStatus(v, map[string]any{"currentNodeID": v.Status.CurrentNodeID}))
		}
	}
	for _, e := range parts.Engines {
		out = append(out, rehearsal.Create(another(e)), rehearsal.Patch(e, map[string]any{"desireState": e.Spec.DesireState}),
			rehearsal.Delete(e))
	}
	for _, r := range parts.Replicas {
		out = append(out, rehearsal.Patch(r, map[string]any{"desireState": r.Spec.DesireState}),
			rehearsal.PatchStatus(r, map[string]any{"currentState": r.Status.CurrentState}))
	}
	frontends, err := s.frontends(ctx, parts.Volumes)
	return append(out, frontends...), err
}

func (s source) frontends(ctx context.Context, volumes map[string]bool) (out []rehearsal.Request, err error) {
	var list v1beta2.EngineFrontendList
	if err := lookup.ListShared(ctx, s.cached, s.namespace, &list); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if f := &list.Items[i]; volumes[f.Spec.VolumeName] && f.DeletionTimestamp == nil {
			out = append(out, rehearsal.Patch(f, map[string]any{"engineName": f.Spec.EngineName}))
		}
	}
	return out, nil
}

// another returns an engine like this one under a name that no engine has.
func another(e *v1beta2.Engine) *v1beta2.Engine {
	return &v1beta2.Engine{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name + "-rehearsal", Labels: e.Labels, Finalizers: e.Finalizers,
			OwnerReferences: e.OwnerReferences},
		Spec: *e.Spec.DeepCopy(),
	}
}
