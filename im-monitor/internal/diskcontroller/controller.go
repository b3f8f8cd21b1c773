// Package diskcontroller keeps Node.status.diskStatus of v2 disks as package disk decides, from the disk service of the
// node's v2 instance manager. It asks when a disk was added or changed, when the inventory became known, and together
// with the safety list: that is the named look of disks.
package diskcontroller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/disk"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;instancemanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system

const (
	workers = 4
	// byNode indexes v2 InstanceManagers by spec.nodeID for this controller.
	byNode = "drover.disk.instanceManagers"
	// retryPause is the wait after a question that nobody answered; the end of the silence wakes sooner.
	retryPause = time.Minute
)

// Ask asks the server at an address about one disk.
type Ask func(ctx context.Context, address string, query imclient.DiskQuery) (imclient.Disk, error)

type shell struct {
	rt     *runkit.Runtime
	ask    Ask
	period time.Duration
	random func() float64
}

// Setup registers the controller of v2 disks, which looks at least once in every period, jittered by a fifth.
func Setup(ctx context.Context, rt *runkit.Runtime, ask Ask, period time.Duration) error {
	s := &shell{rt: rt, ask: ask, period: period, random: rand.Float64}
	err := rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.InstanceManager{}, byNode, func(o client.Object) []string {
		if im := o.(*v1beta2.InstanceManager); im.Spec.DataEngine == v1beta2.DataEngineV2 {
			return []string{im.Spec.NodeID}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing v2 instance managers by node: %w", err)
	}
	err = ctrl.NewControllerManagedBy(rt.Manager).Named("disk").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		For(&v1beta2.Node{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(s.nodeOf), builder.WithPredicates(serviceChanged())).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the disk controller: %w", err)
	}
	return nil
}

func (s *shell) nodeOf(_ context.Context, obj client.Object) []reconcile.Request {
	im := obj.(*v1beta2.InstanceManager)
	if im.Spec.DataEngine != v1beta2.DataEngineV2 || im.Spec.NodeID == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: s.rt.Namespace, Name: im.Spec.NodeID}}}
}

// serviceChanged lets instances go by.
func serviceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.InstanceManager), e.ObjectNew.(*v1beta2.InstanceManager)
		return before.Status.CurrentState != after.Status.CurrentState || before.Status.IP != after.Status.IP ||
			answers(before) != answers(after)
	}}
}

func answers(im *v1beta2.InstanceManager) bool {
	return im.Status.CurrentState == v1beta2.InstanceManagerStateRunning && im.Status.IP != "" &&
		conditions.IsTrue(im.Status.Conditions, v1beta2.InstanceManagerReachable)
}

// Reconcile looks at the v2 disks of one node.
func (s *shell) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var n v1beta2.Node
	if err := s.rt.Client.Get(ctx, request.NamespacedName, &n); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w, after, err := s.observe(ctx, &n)
	if err != nil {
		return ctrl.Result{}, err
	}
	changes := disk.Decide(w)
	if len(changes) > 0 {
		if err := status.MergeStatus(ctx, s.rt.Client, &n, map[string]any{"diskStatus": fields(changes)}); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		s.rt.Log.Info("disks seen", "node", n.Name, "changed", len(changes))
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// observe asks for every v2 disk of the node and says when to ask again.
func (s *shell) observe(ctx context.Context, n *v1beta2.Node) (disk.World, time.Duration, error) {
	w := disk.World{Now: s.rt.Clock.Now(), Specs: n.Spec.Disks, Status: n.Status.DiskStatus, Answers: map[string]disk.Answer{}}
	server, err := s.server(ctx, n.Name)
	if err != nil || server == nil {
		return w, 0, err
	}
	w.InstanceManager = server.Name
	var after time.Duration
	for name, spec := range n.Spec.Disks {
		if spec.DiskType != disk.TypeBlock {
			continue
		}
		if after == 0 {
			after = time.Duration(float64(s.period) * (0.8 + 0.4*s.random()))
		}
		answer, err := s.ask(ctx, server.Status.IP, imclient.DiskQuery{Name: name, Path: spec.Path, Driver: spec.DiskDriver})
		switch {
		case err == nil:
			w.Answers[name] = disk.Answer{Found: true, UUID: answer.UUID, Driver: answer.Driver, TotalBytes: answer.TotalBytes, FreeBytes: answer.FreeBytes}
		case errors.Is(err, imclient.ErrDiskNotFound):
			w.Answers[name] = disk.Answer{}
		default:
			// Not answered is a value of its own; the disk's condition tells it.
			s.rt.Log.V(1).Info("a disk was not answered for", "node", n.Name, "name", name, "reason", err.Error())
			after = min(after, retryPause)
		}
	}
	return w, after, nil
}

// server is the node's v2 instance manager that answers, or nil.
func (s *shell) server(ctx context.Context, nodeName string) (*v1beta2.InstanceManager, error) {
	var list v1beta2.InstanceManagerList
	err := s.rt.Client.List(ctx, &list, client.InNamespace(s.rt.Namespace), client.MatchingFields{byNode: nodeName}, client.UnsafeDisableDeepCopy)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("listing v2 instance managers of node %s: %w", nodeName, err)
	}
	for i := range list.Items {
		if answers(&list.Items[i]) {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// fields names what is written of each disk and nothing else; null removes a disk.
func fields(changes map[string]*v1beta2.DiskStatus) map[string]any {
	out := map[string]any{}
	for name, d := range changes {
		if d == nil {
			out[name] = nil
			continue
		}
		out[name] = map[string]any{
			"diskName": d.DiskName, "diskPath": d.DiskPath, "diskType": d.DiskType, "diskDriver": d.DiskDriver, "diskUUID": d.DiskUUID,
			"instanceManagerName": d.InstanceManagerName, "storageMaximum": d.StorageMaximum, "storageAvailable": d.StorageAvailable,
			"conditions": status.ConditionsField(d.Conditions),
		}
	}
	return out
}
