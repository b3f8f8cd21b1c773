package enginepoll

import (
	"context"
	"fmt"
	"math/rand/v2"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// Connect opens a connection to the proxy service at an address.
type Connect func(address string) (*imclient.Proxy, error)

// Controller polls engines.
type Controller struct {
	rt        *runkit.Runtime
	options   Options
	mapper    kube.Mapper
	pool      pool
	memory    memory
	guard     execute.Guard
	semaphore execute.Semaphore
	enqueued  chan event.GenericEvent
	random    func() float64
	// mirrors has an element for each Snapshot that is being created.
	mirrors chan struct{}
	// working are the engines with work under way that may go through a frontend.
	working working
}

// Setup registers the controller.
func Setup(ctx context.Context, rt *runkit.Runtime, connect Connect, options Options) (*Controller, error) {
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return nil, err
	}
	c := &Controller{rt: rt, options: options, mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace},
		guard: execute.Guard{Clock: rt.Clock, Observe: rt.Observe}, pool: pool{connect: connect},
		enqueued: make(chan event.GenericEvent, 64), random: rand.Float64, mirrors: make(chan struct{}, mirrorsAtOnce)}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("engine").
		For(&v1beta2.Engine{}, builder.WithPredicates(engineChanged())).
		Watches(&v1beta2.Replica{}, c.mapper.To(c.ofReplica), builder.WithPredicates(replicaEnded())).
		Watches(&v1beta2.Snapshot{}, c.mapper.To(c.ofSnapshot), builder.WithPredicates(snapshotRequested())).
		Watches(&v1beta2.Backup{}, c.mapper.To(c.ofBackup), builder.WithPredicates(backupRequested())).
		WatchesRawSource(source.Channel(c.enqueued, &handler.EnqueueRequestForObject{})).
		WithOptions(queue.Options(workers)).
		Complete(c)
	if err != nil {
		return nil, fmt.Errorf("setting up the engine controller: %w", err)
	}
	return c, nil
}
