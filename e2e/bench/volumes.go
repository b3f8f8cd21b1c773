package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// volumes records, through a watch, when a volume first had a state.
type volumes struct {
	mutex   sync.Mutex
	known   map[string]*v1beta2.Volume
	waiting map[string]*expectation
}

// expectation is the awaited state of one volume.
type expectation struct {
	want func(*v1beta2.Volume) bool
	at   chan time.Time
}

// watchVolumes starts to record volumes, through its own informer.
func watchVolumes(ctx context.Context, w *world.World) (*volumes, error) {
	v := &volumes{known: map[string]*v1beta2.Volume{}, waiting: map[string]*expectation{}}
	store, err := ctrlcache.New(w.Config, ctrlcache.Options{Scheme: w.Admin.Scheme(),
		DefaultNamespaces: map[string]ctrlcache.Config{w.Namespace: {}}})
	if err != nil {
		return nil, fmt.Errorf("building a cache of volumes: %w", err)
	}
	informer, err := store.GetInformer(ctx, &v1beta2.Volume{}, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching volumes: %w", err)
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { v.note(obj.(*v1beta2.Volume)) },
		UpdateFunc: func(_, obj any) { v.note(obj.(*v1beta2.Volume)) },
	}); err != nil {
		return nil, fmt.Errorf("watching volumes: %w", err)
	}
	go func() { _ = store.Start(ctx) }()
	if !store.WaitForCacheSync(ctx) {
		return nil, context.Cause(ctx)
	}
	return v, nil
}

func (v *volumes) note(volume *v1beta2.Volume) {
	at := time.Now()
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.known[volume.Name] = volume
	if waiting := v.waiting[volume.Name]; waiting != nil && waiting.want(volume) {
		waiting.at <- at
		delete(v.waiting, volume.Name)
	}
}

// expect registers the awaited state before its cause; the returned function waits for the state and returns the time.
func (v *volumes) expect(name string, want func(*v1beta2.Volume) bool) func(context.Context) (time.Time, error) {
	one := &expectation{want: want, at: make(chan time.Time, 1)}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if known := v.known[name]; known != nil && want(known) {
		one.at <- time.Now()
	} else {
		v.waiting[name] = one
	}
	return func(ctx context.Context) (time.Time, error) {
		select {
		case at := <-one.at:
			return at, nil
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("waiting for volume %s: %w", name, context.Cause(ctx))
		case <-time.After(3 * time.Minute):
			return time.Time{}, fmt.Errorf("waited three minutes for volume %s", name)
		}
	}
}

func chosen(v *v1beta2.Volume) bool { return v.Spec.NodeID != "" }

func attached(v *v1beta2.Volume) bool {
	return v.Status.State == v1beta2.VolumeStateAttached && v.Status.CurrentNodeID == v.Spec.NodeID && v.Spec.NodeID != ""
}

func healthy(v *v1beta2.Volume) bool {
	return attached(v) && v.Status.Robustness == v1beta2.VolumeRobustnessHealthy
}

func detached(v *v1beta2.Volume) bool {
	return v.Status.State == v1beta2.VolumeStateDetached && v.Status.CurrentNodeID == "" && v.Spec.NodeID == ""
}
