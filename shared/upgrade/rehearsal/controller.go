package rehearsal

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
)

// Source lists what a binary will have to write and delete in an upgrade.
type Source interface {
	Requests(ctx context.Context, scope Scope) ([]Request, error)
}

// reconciler answers the request of one upgrade.
type reconciler struct {
	rt     *runkit.Runtime
	binary string
	source Source
}

// Setup registers the controller that answers for a binary. The binary needs the rights to list and watch
// DataEngineUpgradeManagers and to patch their status, beside those of its own requests. Under Observe it registers nothing: that binary
// writes nothing.
func Setup(rt *runkit.Runtime, binary string, source Source) error {
	if rt.Observe {
		return nil
	}
	r := &reconciler{rt: rt, binary: binary, source: source}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("upgrade-rehearsal").
		For(&v1beta2.DataEngineUpgradeManager{}, builder.WithPredicates(kube.OnRequest(r.unanswered))).
		WithOptions(queue.Options(1)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller that tries the requests of upgrades: %w", err)
	}
	return nil
}

// unanswered returns the time of the request that this binary has not answered, "" if there is none.
func (r *reconciler) unanswered(m *v1beta2.DataEngineUpgradeManager) string {
	asked := m.Status.RehearsalRequestedAt
	if asked == m.Status.Rehearsals[r.binary].RequestedAt || m.DeletionTimestamp != nil ||
		m.Status.State != v1beta2.UpgradeStateInitializing {
		return ""
	}
	return asked
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	m, err := lookup.Shared(ctx, r.rt.Client, r.rt.Namespace, request.Name, &v1beta2.DataEngineUpgradeManager{})
	if m == nil || err != nil {
		return ctrl.Result{}, err
	}
	asked := r.unanswered(m)
	if asked == "" {
		return ctrl.Result{}, nil
	}
	requests, err := r.source.Requests(ctx, scopeOf(m))
	if err != nil {
		return ctrl.Result{}, err
	}
	refused, err := run(ctx, r.rt.DryRun, requests)
	if err != nil {
		return ctrl.Result{}, err
	}
	answer := map[string]any{"requestedAt": asked, "user": r.rt.User, "tried": len(requests), "refused": refused}
	if err := status.MergeStatus(ctx, r.rt.Client, m, map[string]any{"rehearsals": map[string]any{r.binary: answer}}); err != nil {
		return ctrl.Result{}, err
	}
	log.FromContext(ctx).Info("Tried the requests of an upgrade", "DataEngineUpgradeManager", m.Name, "tried", len(requests),
		"refused", len(refused))
	return ctrl.Result{}, nil
}
