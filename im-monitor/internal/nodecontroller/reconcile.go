package nodecontroller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// Reconcile reconciles one node by its name.
func (s *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w, holds, err := s.observe(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if w.Node != nil && s.written.Stale(w.Node) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	err = s.apply(ctx, w, node.Decide(w))
	if apierrors.IsConflict(err) {
		// The object changed meanwhile; its event is on the way, and the back-off is there should it be lost.
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	return ctrl.Result{RequeueAfter: holds}, err
}

// observe reads the world of a node, and returns how long it holds although nothing changes; 0: for ever.
func (s *reconciler) observe(ctx context.Context, name string) (w node.World, holds time.Duration, err error) {
	w = node.World{Now: s.rt.Clock.Now(), Name: name}
	if w.Settings, err = s.settings.Current(ctx); err != nil {
		return w, 0, err
	}
	kubernetes, err := lookup.Get(ctx, s.rt.Client, "", name, &corev1.Node{})
	if err != nil {
		return w, 0, err
	}
	w.Kubernetes, holds = node.FromKubernetes(kubernetes).At(w.Now)
	if w.Node, err = lookup.Get(ctx, s.rt.Client, s.rt.Namespace, name, &v1beta2.Node{}); err != nil {
		return w, 0, err
	}
	var managers v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &managers, client.MatchingFields{kube.FieldNode: name}); err != nil {
		return w, 0, err
	}
	for i := range managers.Items {
		w.Managers = append(w.Managers, node.FromInstanceManager(&managers.Items[i]))
	}
	slices.SortFunc(w.Managers, func(a, b node.Manager) int { return strings.Compare(a.Name, b.Name) })
	return w, holds, nil
}

// apply writes in the order finalizer, status, end; events after the writes.
func (s *reconciler) apply(ctx context.Context, w node.World, v node.Verdict) error {
	switch {
	case v.Create != nil:
		v.Create.Namespace = s.rt.Namespace
		switch err := s.rt.Client.Create(ctx, v.Create); {
		case apierrors.IsAlreadyExists(err):
			return nil // the cache is behind
		case err != nil:
			return fmt.Errorf("creating node %s: %w", w.Name, err)
		}
		s.rt.Log.Info("node created", "node", w.Name)
		return nil
	case v.DropFinalizer:
		if err := client.IgnoreNotFound(status.DropFinalizer(ctx, s.rt.Client, w.Node, v1beta2.Finalizer)); err != nil {
			return err
		}
		s.written.Record(w.Node)
		s.rt.Log.Info("node released", "node", w.Name)
		return nil
	case v.AddFinalizer:
		// The finalizer's event brings the status.
		return s.addFinalizer(ctx, w.Node)
	case v.Status == nil:
		return nil
	}
	fields := map[string]any{
		"conditions": status.ConditionsField(v.Status.Conditions), "region": v.Status.Region, "zone": v.Status.Zone,
		"disksReady": v.Status.DisksReady, "storage": v.Status.Storage,
		"autoEvicting": v.Status.AutoEvicting,
	}
	if err := status.Apply(ctx, s.rt.Client, w.Node, fieldOwner, fields, status.AtVersion()); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.written.Record(w.Node)
	events.Emit(s.rt.Recorder, w.Node, v.Events...)
	for _, e := range v.Events {
		s.rt.Log.Info("node evaluated", "node", w.Name, "reason", e.Reason)
	}
	return nil
}

func (s *reconciler) addFinalizer(ctx context.Context, n *v1beta2.Node) error {
	changed := n.DeepCopy()
	changed.Finalizers = append(changed.Finalizers, v1beta2.Finalizer)
	err := s.rt.Client.Patch(ctx, changed, client.MergeFromWithOptions(n, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("adding the finalizer to node %s: %w", n.Name, err)
	}
	s.written.Record(n)
	return nil
}
