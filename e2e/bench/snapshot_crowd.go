package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// crowd counts, through a watch, the Snapshots that are created, become ready or end.
type crowd struct{ began, became, ended atomic.Int64 }

// watchCrowd starts to count.
func watchCrowd(ctx context.Context, w *world.World) (*crowd, error) {
	c := &crowd{}
	store, err := ctrlcache.New(w.Config, ctrlcache.Options{Scheme: w.Admin.Scheme(),
		DefaultNamespaces: map[string]ctrlcache.Config{w.Namespace: {}},
		DefaultTransform:  ctrlcache.TransformStripManagedFields()})
	if err != nil {
		return nil, fmt.Errorf("building a cache of snapshots: %w", err)
	}
	informer, err := store.GetInformer(ctx, &v1beta2.Snapshot{}, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching snapshots: %w", err)
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { c.began.Add(1) },
		UpdateFunc: func(before, after any) {
			if !before.(*v1beta2.Snapshot).Status.ReadyToUse && after.(*v1beta2.Snapshot).Status.ReadyToUse {
				c.became.Add(1)
			}
		},
		DeleteFunc: func(any) { c.ended.Add(1) },
	}); err != nil {
		return nil, fmt.Errorf("watching snapshots: %w", err)
	}
	go func() { _ = store.Start(ctx) }()
	if !store.WaitForCacheSync(ctx) {
		return nil, context.Cause(ctx)
	}
	return c, nil
}

func (c *crowd) reset() {
	c.began.Store(0)
	c.became.Store(0)
	c.ended.Store(0)
}

func (c *crowd) created() int { return int(c.began.Load()) }

func (c *crowd) ready() int { return int(c.became.Load()) }

func (c *crowd) gone() int { return int(c.ended.Load()) }
