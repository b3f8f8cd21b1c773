package disruptioncontroller

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/disruption"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/status"
)

// Reconcile reconciles the budgets of the instance managers of one node.
func (s *keeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w, err := s.cached().observe(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	for _, v := range disruption.Decide(w) {
		switch err := s.apply(ctx, request.Name, v); {
		case status.IsConflict(err): // with Kubernetes, which writes the status of budgets: of that no event is passed
			return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
		case err != nil:
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func (s *keeper) apply(ctx context.Context, node string, v disruption.Verdict) error {
	has, err := s.cached().budget(ctx, v.Manager.Name)
	if err != nil || has != nil && has.DeletionTimestamp != nil {
		return err
	}
	switch {
	case v.Budget == disruption.Wanted && has == nil:
		return s.create(ctx, v)
	case v.Budget == disruption.Wanted:
		return s.correct(ctx, has, v)
	case v.Budget == disruption.GivenUp && has != nil:
		return s.giveUp(ctx, node, has, v)
	}
	return nil
}

func (s *keeper) create(ctx context.Context, v disruption.Verdict) error {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.rt.Namespace, Name: v.Manager.Name}}
	shape(budget, v)
	switch err := s.rt.Client.Create(ctx, budget); {
	case apierrors.IsAlreadyExists(err):
		return nil // the cache is behind; its event is on the way
	case err != nil:
		return fmt.Errorf("creating the disruption budget of instance manager %s: %w", v.Manager.Name, err)
	}
	s.rt.Log.Info("disruption budget created", "instanceManager", v.Manager.Name, "protects", v.Why)
	return nil
}

// shape gives the budget what it must have; its name is the instance manager's. It goes with its owner in any case.
func shape(b *policyv1.PodDisruptionBudget, v disruption.Verdict) {
	one := intstr.FromInt32(1)
	chosen := disruption.Selector(v.Manager)
	b.Labels = chosen
	if b.Annotations == nil {
		b.Annotations = map[string]string{}
	}
	b.Annotations[Protects] = v.Why
	b.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "InstanceManager", Name: v.Manager.Name,
		UID: v.Manager.UID}}
	b.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: chosen}}
}

// correct writes what differs, also of a budget that was made before by somebody else.
func (s *keeper) correct(ctx context.Context, has *policyv1.PodDisruptionBudget, v disruption.Verdict) error {
	wanted := has.DeepCopy()
	shape(wanted, v)
	if equality.Semantic.DeepEqual(has, wanted) {
		return nil
	}
	err := s.rt.Client.Patch(ctx, wanted, client.MergeFromWithOptions(has, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("correcting the disruption budget of instance manager %s: %w", v.Manager.Name, err)
	}
	return nil
}

// giveUp deletes the budget: from then on a drain may take the pod. Everything that this rests on is read from the API server once more.
func (s *keeper) giveUp(ctx context.Context, node string, has *policyv1.PodDisruptionBudget, v disruption.Verdict) error {
	w, err := s.live().observe(ctx, node)
	if err != nil {
		return err
	}
	for _, now := range disruption.Decide(w) {
		if now.Manager.Name != v.Manager.Name || now.Budget != disruption.GivenUp {
			continue
		}
		err := s.rt.Client.Delete(ctx, has, client.Preconditions{UID: &has.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the disruption budget of instance manager %s: %w", v.Manager.Name, err)
		}
		s.rt.Log.Info("disruption budget deleted", "instanceManager", v.Manager.Name, "node", node, "why", now.Why)
	}
	return nil
}
