// Package enginecontroller polls running engines and carries out what their specs ask for: the reconciler of package engine.
// A poll is periodic, and comes at once when the engine's spec or one of its replicas' instances changed.
package enginecontroller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"k8s.io/apimachinery/pkg/api/equality"

	"drover.dev/drover/im-monitor/internal/backupexecutor"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/snapshotexecutor"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
)

const (
	enginesByVolume   = "drover.engine.engines"
	enginesByLabel    = "drover.engine.label"
	frontendsByVolume = "drover.engine.frontends"
)

// Connect opens a connection to the proxy service at an address.
type Connect func(address string) (*imclient.Proxy, error)

// Controller polls engines.
type Controller struct {
	rt        *runkit.Runtime
	options   Options
	pool      pool
	memory    memory
	guard     execute.Guard
	executor  *snapshotexecutor.Executor
	backups   *backupexecutor.Executor
	semaphore execute.Semaphore
	enqueued  chan event.GenericEvent
	random    func() float64
	// working are the engines with work under way that may go through a frontend.
	working working
}

// Setup registers the controller.
func Setup(ctx context.Context, rt *runkit.Runtime, connect Connect, options Options) (*Controller, error) {
	err := errors.Join(
		rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.Engine{}, enginesByVolume, func(o client.Object) []string {
			return []string{o.(*v1beta2.Engine).Spec.VolumeName}
		}),
		rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.Engine{}, enginesByLabel, func(o client.Object) []string {
			return []string{v1beta2.LabelValue(o.(*v1beta2.Engine).Spec.VolumeName)}
		}),
		rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.EngineFrontend{}, frontendsByVolume, func(o client.Object) []string {
			return []string{o.(*v1beta2.EngineFrontend).Spec.VolumeName}
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("indexing for engines: %w", err)
	}
	c := &Controller{rt: rt, options: options, guard: execute.Guard{Clock: rt.Clock, Observe: rt.Observe},
		pool: pool{connect: connect}, enqueued: make(chan event.GenericEvent, 64), random: rand.Float64}
	if c.executor, err = snapshotexecutor.New(ctx, rt, options.Snapshots, c.unchanged); err != nil {
		return nil, err
	}
	if c.backups, err = backupexecutor.New(ctx, rt, options.Backups, c.unchanged); err != nil {
		return nil, err
	}
	err = ctrl.NewControllerManagedBy(rt.Manager).Named("engine").
		For(&v1beta2.Engine{}, builder.WithPredicates(engineChanged())).
		Watches(&v1beta2.Replica{}, handler.EnqueueRequestsFromMapFunc(c.ofReplica), builder.WithPredicates(replicaChanged())).
		Watches(&v1beta2.Snapshot{}, handler.EnqueueRequestsFromMapFunc(c.ofSnapshot), builder.WithPredicates(snapshotexecutor.Changed())).
		Watches(&v1beta2.Backup{}, handler.EnqueueRequestsFromMapFunc(c.ofBackup), builder.WithPredicates(backupexecutor.Changed())).
		WatchesRawSource(source.Channel(c.enqueued, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(c)
	if err != nil {
		return nil, fmt.Errorf("setting up the engine controller: %w", err)
	}
	return c, nil
}

// engineChanged lets pass what a poll has to follow.
func engineChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.Engine), e.ObjectNew.(*v1beta2.Engine)
		return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || where(before) != where(after)
	}}
}

// place is where an engine runs; another one is another run.
type place struct {
	state, uuid, ip, manager string
	port                     int
	down                     bool
}

func where(e *v1beta2.Engine) place {
	s := e.Status
	return place{s.CurrentState, s.UUID, s.StorageIP, s.InstanceManagerName, s.Port,
		conditions.IsTrue(s.Conditions, v1beta2.InstanceNodeDown)}
}

// replicaChanged lets the ups and downs of instances pass.
func replicaChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.(*v1beta2.Replica), e.ObjectNew.(*v1beta2.Replica)
			return before.Status.CurrentState == v1beta2.InstanceStateRunning && after.Status.CurrentState != before.Status.CurrentState
		},
	}
}

// ofVolume are the engines of a volume, which the cache shares.
func (c *Controller) ofVolume(ctx context.Context, volume string) []v1beta2.Engine {
	var engines v1beta2.EngineList
	err := c.rt.Client.List(ctx, &engines, client.InNamespace(c.rt.Namespace), client.MatchingFields{enginesByVolume: volume},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		c.rt.Log.Error(err, "listing engines from the cache")
	}
	return engines.Items
}

// ofReplica are the engines that may use a replica whose instance is no longer running: they will notice in a moment.
func (c *Controller) ofReplica(ctx context.Context, obj client.Object) []reconcile.Request {
	var out []reconcile.Request
	engines := c.ofVolume(ctx, obj.(*v1beta2.Replica).Spec.VolumeName)
	for i := range engines {
		e := &engines[i]
		if _, mapped := e.Spec.ReplicaAddressMap[obj.GetName()]; mapped {
			c.memory.unsettle(e.Name, c.rt.Clock.Now().Add(unsettled))
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)})
		}
	}
	return out
}
