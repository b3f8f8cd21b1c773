package instancemanagercontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

const (
	// askTimeout bounds a list begun for one decision; askPause is the wait after it failed.
	askTimeout = 10 * time.Second
	askPause   = 15 * time.Second
)

// Reconcile reconciles one InstanceManager.
func (s *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var im v1beta2.InstanceManager
	if err := s.rt.Client.Get(ctx, request.NamespacedName, &im); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, s.followPod(ctx, request.Name)
		}
		return ctrl.Result{}, fmt.Errorf("reading instance manager %s: %w", request.Name, err)
	}
	if !ours(&im) {
		return ctrl.Result{}, nil
	}
	if s.written.Stale(&im) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	w, err := s.observe(ctx, &im)
	if err != nil {
		return ctrl.Result{}, err
	}
	if w.Pod != nil && s.written.Stale(w.Pod) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	s.setLogs(ctx, &w)
	return s.carryOut(ctx, w)
}

// carryOut decides and applies.
func (s *reconciler) carryOut(ctx context.Context, w instancemanager.World) (ctrl.Result, error) {
	var left time.Duration
	v, err := s.decide(ctx, &w)
	if err == nil {
		left, err = s.apply(ctx, w, v)
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	case err != nil:
		return ctrl.Result{}, err
	case left > 0 && (v.After == 0 || left < v.After):
		return ctrl.Result{RequeueAfter: left}, nil
	}
	return ctrl.Result{RequeueAfter: v.After}, nil
}

// decide decides, where that is needed on a list that was begun for this decision.
func (s *reconciler) decide(ctx context.Context, w *instancemanager.World) (instancemanager.Verdict, error) {
	v := instancemanager.Decide(*w)
	if !v.Ask {
		return v, nil
	}
	v, err := s.decideWithFreshList(ctx, w)
	if errors.Is(err, inventory.ErrUnreachable) {
		// Nothing newer is known, so nothing that runs may be ended; the rest of the verdict stands.
		v, err = instancemanager.Decide(*w), nil
		v.After = askPause
	}
	return v, err
}

// decideWithFreshList decides again on a list that was begun for this decision.
func (s *reconciler) decideWithFreshList(ctx context.Context, w *instancemanager.World) (instancemanager.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	snapshot, err := s.store.Fresh(ctx, w.InstanceManager.Name)
	if err != nil {
		return instancemanager.Verdict{}, err
	}
	w.Inventory = s.inventoryOf(*w, snapshot, true)
	w.Inventory.Asked = w.Inventory.Known
	if err := s.readMapped(ctx, w); err != nil {
		return instancemanager.Verdict{}, err
	}
	switch v := instancemanager.Decide(*w); {
	case v.Pod != instancemanager.DeletePod:
		return v, nil
	case w.UpgradeDecides():
		return v, s.sameUpgrade(ctx, w)
	}
	if w.Unsettled, err = s.unsettled(ctx, w.InstanceManager); err != nil {
		return instancemanager.Verdict{}, err
	}
	return instancemanager.Decide(*w), nil
}

// followPod lets the inventory follow a pod without an InstanceManager: until the pod ends, it may run instances. Then the inventory
// forgets the name.
func (s *reconciler) followPod(ctx context.Context, name string) error {
	s.memory.forget(name)
	pod, err := s.pod(ctx, name)
	if err != nil {
		return err
	}
	if pod == nil || pod.Status.PodIP == "" || instancemanager.PodEnded(pod) {
		s.store.Remove(name)
		return nil
	}
	s.store.Set(target(instancemanager.World{Options: s.options, Pod: pod, InstanceManager: instancemanager.Of(pod)}))
	return nil
}

// roster makes the InstanceManagers that a node must have.
type roster struct{ *reconciler }

// Reconcile reconciles one node by its name.
func (r *roster) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	values, err := r.settings.Current(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	kubernetes, own, err := r.nodeFacts(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	upgrade, err := r.upgradeOf(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	var list v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, r.rt.Client, r.rt.Namespace, &list, client.MatchingFields{kube.FieldNode: request.Name}); err != nil {
		return ctrl.Result{}, err
	}
	existing := map[string]bool{}
	for i := range list.Items {
		existing[list.Items[i].Name] = true
	}
	for _, im := range instancemanager.Roster(request.Name, kubernetes, own, values, upgrade, existing) {
		im.Namespace = r.rt.Namespace
		switch err := r.rt.Client.Create(ctx, im); {
		case apierrors.IsAlreadyExists(err):
			continue // the cache is behind
		case err != nil:
			return ctrl.Result{}, fmt.Errorf("creating instance manager %s: %w", im.Name, err)
		}
		r.rt.Log.Info("instance manager created", "name", im.Name, "node", request.Name, "image", im.Spec.Image)
	}
	return ctrl.Result{}, nil
}
