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

// sightings records, through a watch, when an Orphan became visible and when it was gone.
type sightings struct {
	mutex      sync.Mutex
	seen, gone map[string]time.Time
	waiting    map[string]chan struct{}
}

// watch starts to record Orphans, through its own informer.
func watch(ctx context.Context, w *world.World) (*sightings, error) {
	s := &sightings{seen: map[string]time.Time{}, gone: map[string]time.Time{}, waiting: map[string]chan struct{}{}}
	store, err := ctrlcache.New(w.Config, ctrlcache.Options{Scheme: w.Admin.Scheme(),
		DefaultNamespaces: map[string]ctrlcache.Config{w.Namespace: {}}})
	if err != nil {
		return nil, fmt.Errorf("building a cache of orphans: %w", err)
	}
	informer, err := store.GetInformer(ctx, &v1beta2.Orphan{}, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching orphans: %w", err)
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { s.note(s.seen, obj.(*v1beta2.Orphan).Name) },
		DeleteFunc: func(obj any) { s.note(s.gone, nameOf(obj)) },
	}); err != nil {
		return nil, fmt.Errorf("watching orphans: %w", err)
	}
	go func() { _ = store.Start(ctx) }()
	if !store.WaitForCacheSync(ctx) {
		return nil, context.Cause(ctx)
	}
	return s, nil
}

func nameOf(obj any) string {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if orphan, ok := obj.(*v1beta2.Orphan); ok {
		return orphan.Name
	}
	return ""
}

func (s *sightings) note(in map[string]time.Time, name string) {
	at := time.Now()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	in[name] = at
	if waiting := s.waiting[name]; waiting != nil {
		close(waiting)
		delete(s.waiting, name)
	}
}

// wait returns when the Orphan was first seen (or gone), however long ago.
func (s *sightings) wait(ctx context.Context, in map[string]time.Time, name string) (time.Time, error) {
	for {
		s.mutex.Lock()
		at, ok := in[name]
		waiting := s.waiting[name]
		if !ok && waiting == nil {
			waiting = make(chan struct{})
			s.waiting[name] = waiting
		}
		s.mutex.Unlock()
		if ok {
			return at, nil
		}
		select {
		case <-waiting:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("waiting for orphan %s: %w", name, context.Cause(ctx))
		case <-time.After(time.Minute):
			return time.Time{}, fmt.Errorf("waited a minute for orphan %s", name)
		}
	}
}
