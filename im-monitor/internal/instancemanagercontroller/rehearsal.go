package instancemanagercontroller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/upgrade/rehearsal"
)

// rehearsalSource lists what im-monitor writes and deletes in an upgrade: the old instance manager of a node goes with its pod and its
// budget, the new one gets a pod, and everything that runs there is reported.
type rehearsalSource struct{ *reconciler }

// Requests implements rehearsal.Source.
func (s rehearsalSource) Requests(ctx context.Context, scope rehearsal.Scope) ([]rehearsal.Request, error) {
	var managers v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &managers); err != nil {
		return nil, err
	}
	exists := map[string]bool{}
	for i := range managers.Items {
		exists[managers.Items[i].Name] = true
	}
	var out []rehearsal.Request
	for i := range managers.Items {
		im := &managers.Items[i]
		if im.Spec.DataEngine != v1beta2.DataEngineV2 || im.Spec.Image == scope.Image || !ours(im) || !scope.Has(im.Spec.NodeID) {
			continue
		}
		successor, err := s.successor(ctx, im, scope.Image, exists)
		if err != nil {
			return nil, err
		}
		out = append(append(out, replaced(im)...), successor...)
	}
	reports, err := s.reports(ctx, scope)
	return append(out, reports...), err
}

// replaced returns what becomes of the instance manager that is replaced.
func replaced(im *v1beta2.InstanceManager) []rehearsal.Request {
	meta := metav1.ObjectMeta{Namespace: im.Namespace, Name: im.Name}
	return []rehearsal.Request{
		rehearsal.Delete(im), rehearsal.Delete(&corev1.Pod{ObjectMeta: meta}), rehearsal.Delete(&policyv1.PodDisruptionBudget{ObjectMeta: meta}),
		rehearsal.PatchStatus(im, map[string]any{"currentState": im.Status.CurrentState}),
	}
}

// successor returns the creation of the pod of the new image on the node of an instance manager, and of the InstanceManager if there
// is none.
func (s rehearsalSource) successor(ctx context.Context, old *v1beta2.InstanceManager, image string,
	exists map[string]bool) ([]rehearsal.Request, error) {
	next := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{
		Namespace: old.Namespace, Name: v1beta2.InstanceManagerName(old.Spec.NodeID, image, v1beta2.DataEngineV2),
		Labels: instancemanager.Labels(old.Spec.NodeID, image, v1beta2.DataEngineV2), UID: old.UID,
	}, Spec: old.Spec}
	next.Spec.Image = image
	w := instancemanager.World{Now: s.rt.Clock.Now(), Options: s.options, InstanceManager: next}
	var err error
	if w.Settings, err = s.settings.Current(ctx); err != nil {
		return nil, err
	}
	if w.Kubernetes, w.Node, err = s.nodeFacts(ctx, old.Spec.NodeID); err != nil {
		return nil, err
	}
	out := []rehearsal.Request{rehearsal.Create(instancemanager.PodFor(w))}
	if !exists[next.Name] {
		created := next.DeepCopy()
		created.UID = ""
		out = append(out, rehearsal.Create(created))
	}
	return out, nil
}

// reports returns a write of the status of everything that runs for the volumes of the upgrade. Each field keeps its value.
func (s rehearsalSource) reports(ctx context.Context, scope rehearsal.Scope) ([]rehearsal.Request, error) {
	parts, err := scope.Parts(ctx, s.rt.Uncached, s.rt.Namespace)
	if err != nil {
		return nil, err
	}
	var out []rehearsal.Request
	state := func(obj client.Object, current string) {
		out = append(out, rehearsal.PatchStatus(obj, map[string]any{"currentState": current}))
	}
	for _, e := range parts.Engines {
		state(e, e.Status.CurrentState)
	}
	for _, r := range parts.Replicas {
		state(r, r.Status.CurrentState)
	}
	var frontends v1beta2.EngineFrontendList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &frontends); err != nil {
		return nil, err
	}
	for i := range frontends.Items {
		if f := &frontends.Items[i]; parts.Volumes[f.Spec.VolumeName] {
			state(f, f.Status.CurrentState)
		}
	}
	return out, nil
}
