package controller

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// Setup registers the two reconcilers, of orphans and of their settings, with the runtime's manager. It registers the metrics with
// the registry.
func Setup(ctx context.Context, rt *runkit.Runtime, limits orphan.Limits, registry prometheus.Registerer) error {
	if err := limits.Validate(); err != nil {
		return err
	}
	if err := rt.AddIndexes(ctx, indexes(limits.FloodWindow)...); err != nil {
		return err
	}
	m := newMetrics(registry)
	r := &reconciler{
		observer: observer{
			cached: rt.Client, live: rt.Uncached, namespace: rt.Namespace, clock: rt.Clock,
			settings: setting.Remember(), approvals: newApprovals(rt.Clock), deletions: deletions{}, limits: limits,
		},
		client: rt.Client, recorder: rt.Recorder, metrics: m, clock: rt.Clock,
	}
	w := watches{Mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}, concurrent: limits.InFlightPerNode}
	// One worker: deletions in flight are counted, and two workers could both take the last free one. The memory of deletions is not locked.
	b := ctrl.NewControllerManagedBy(rt.Manager).For(&v1beta2.Orphan{}).
		WithOptions(queue.Options(1))
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of orphans: %w", err)
	}
	s := &settingReconciler{
		cached: rt.Client, client: rt.Client, namespace: rt.Namespace, recorder: rt.Recorder, metrics: m, clock: rt.Clock,
	}
	if err := s.setUp(rt.Manager); err != nil {
		return fmt.Errorf("setting up the controller of settings: %w", err)
	}
	return nil
}
