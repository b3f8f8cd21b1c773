// Package diskcontroller keeps Node.status.diskStatus of v2 disks as package disk decides, and loads those disks into the v2 instance
// manager of their node. It asks the server when a disk was added or changed, after each start of a server, soon again while a disk is
// being loaded, and else at most once in a period: that is the named poll of disks. Changes of Replicas only change what is promised,
// without a question.
package diskcontroller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers;replicas,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system

const (
	// workers are many, since a call about a disk blocks while the server works on that disk.
	workers = 32
	// byNode indexes v2 InstanceManagers, replicasByNode v2 Replicas by spec.nodeID for this controller.
	byNode         = "drover.disk.instanceManagers"
	replicasByNode = "drover.disk.replicas"
)

// Service is the disk service of instance managers, but for DiskGet: what that answers the inventory wants to know, too.
type Service interface {
	CreateDisk(ctx context.Context, address string, disk imclient.DiskRef) (imclient.Disk, error)
	DeleteDisk(ctx context.Context, address string, disk imclient.DiskRef) error
	DiskReplicas(ctx context.Context, address string, disk imclient.DiskRef) (map[string]imclient.DiskReplica, error)
}

// Options are the times of the controller.
type Options struct {
	// Period is the longest time between two polls of a loaded disk, jittered by a fifth.
	Period time.Duration
	// Settle is how long a disk must have been ready before its list counts, Gap the time between two lists.
	Settle, Gap time.Duration
	// CallTimeout is how long a server may still execute a call that timed out; RetryMin and RetryMax bound the pause between two
	// attempts to load a disk that the server reports in error.
	CallTimeout, RetryMin, RetryMax time.Duration
}

// AddFlags registers the flags of this controller.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.CallTimeout, "disk-call-timeout", 3*time.Minute,
		"how long an attempt to load a v2 disk is waited for when its answer is lost")
	flags.DurationVar(&o.RetryMin, "disk-retry-min", 30*time.Second,
		"first pause before a v2 disk is loaded again that the server could not load; it doubles")
	flags.DurationVar(&o.RetryMax, "disk-retry-max", 10*time.Minute,
		"longest pause before a v2 disk is loaded again that the server could not load")
}

type reconciler struct {
	Options
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	known    inventory.Store
	ask      inventory.AskDisk
	service  Service
	random   func() float64
	memory   memory
	queue    enqueue.Queue[reconcile.Request]
}

// Setup registers the controller of v2 disks.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source, known inventory.Store, ask inventory.AskDisk,
	service Service,
	options Options) error {
	s := &reconciler{Options: options, rt: rt, settings: settings, known: known, ask: ask, service: service, random: rand.Float64}
	if err := s.index(ctx); err != nil {
		return err
	}
	known.Subscribe(func(change inventory.Change) {
		if change.Whole && change.Node != "" { // a server began to answer, or ended
			s.queue.Add(s.request(change.Node))
		}
	})
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("disk").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		For(&v1beta2.Node{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, readyChanged()))).
		Watches(&v1beta2.InstanceManager{}, handler.EnqueueRequestsFromMapFunc(s.nodeOf), builder.WithPredicates(serviceChanged())).
		Watches(&v1beta2.Replica{}, handler.Funcs{
			CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { s.enqueue(q, e.Object) },
			UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
				if place(e.ObjectOld) != place(e.ObjectNew) {
					s.enqueue(q, e.ObjectOld)
					s.enqueue(q, e.ObjectNew)
				}
			},
			DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { s.enqueue(q, e.Object) },
		}).
		Watches(&v1beta2.Setting{}, handler.EnqueueRequestsFromMapFunc(s.allNodes), builder.WithPredicates(pressureSettings())).
		WatchesRawSource(source.TypedFunc[reconcile.Request](s.queue.Start)).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the disk controller: %w", err)
	}
	return nil
}

func (s *reconciler) index(ctx context.Context) error {
	err := s.rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.InstanceManager{}, byNode, func(o client.Object) []string {
		if im := o.(*v1beta2.InstanceManager); im.Spec.DataEngine == v1beta2.DataEngineV2 {
			return []string{im.Spec.NodeID}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing v2 instance managers by node: %w", err)
	}
	err = s.rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.Replica{}, replicasByNode, func(o client.Object) []string {
		if r := o.(*v1beta2.Replica); r.Spec.DataEngine == v1beta2.DataEngineV2 && r.Spec.NodeID != "" {
			return []string{r.Spec.NodeID}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing v2 replicas by node: %w", err)
	}
	return nil
}

func (s *reconciler) request(node string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: s.rt.Namespace, Name: node}}
}

func (s *reconciler) nodeOf(_ context.Context, obj client.Object) []reconcile.Request {
	im := obj.(*v1beta2.InstanceManager)
	if im.Spec.DataEngine != v1beta2.DataEngineV2 || im.Spec.NodeID == "" {
		return nil
	}
	return []reconcile.Request{s.request(im.Spec.NodeID)}
}

func (s *reconciler) enqueue(q queue, obj client.Object) {
	if r := obj.(*v1beta2.Replica); r.Spec.DataEngine == v1beta2.DataEngineV2 && r.Spec.NodeID != "" {
		q.Add(s.request(r.Spec.NodeID))
	}
}

// allNodes are those of the cache: a setting changed that counts for each of them.
func (s *reconciler) allNodes(ctx context.Context, _ client.Object) []reconcile.Request {
	var list v1beta2.NodeList
	if err := s.rt.Client.List(ctx, &list, client.InNamespace(s.rt.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		s.rt.Log.Error(err, "listing nodes for a changed setting")
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, s.request(list.Items[i].Name))
	}
	return out
}

// readyChanged lets a Node pass whose condition Ready reports something else.
func readyChanged() predicate.Predicate {
	readyOf := func(o client.Object) (c v1beta2.Condition) {
		if is := conditions.Get(o.(*v1beta2.Node).Status.Conditions, v1beta2.NodeReady); is != nil {
			c = v1beta2.Condition{Status: is.Status, Message: is.Message}
		}
		return c
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return readyOf(e.ObjectOld) != readyOf(e.ObjectNew) }}
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
