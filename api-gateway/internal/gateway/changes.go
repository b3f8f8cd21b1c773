package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

// topic is a list that clients read or follow.
type topic string

// The topics.
const (
	topicVolumes       topic = "volumes"
	topicSnapshots     topic = "snapshots"
	topicNodes         topic = "nodes"
	topicSettings      topic = "settings"
	topicBackupTargets topic = "backuptargets"
	topicBackupVolumes topic = "backupvolumes"
	topicOrphans       topic = "orphans"
	topicRecurringJobs topic = "recurringjobs"
	topicEngineImages  topic = "engineimages"
)

// changes counts the changes in the cache, and wakes up everybody who waits for them. It is safe for concurrent use.
type changes struct {
	mutex    sync.Mutex
	versions map[topic]uint64
	// volumes has the place of each volume that was read since it changed.
	volumes map[string]*place
	// changed has the volumes that changed since the last takeVolumes; nil: there are too many, or nobody took them yet.
	changed map[string]struct{}
	// next is closed at the next change of any topic.
	next chan struct{}
}

func newChanges() *changes {
	return &changes{versions: map[topic]uint64{}, volumes: map[string]*place{}, next: make(chan struct{})}
}

// place keeps the encoded resource of a volume until something of the volume changes: then the volume gets another place.
type place struct{ body atomic.Pointer[packed] }

// record notes that a topic changed, and the resources of some volumes.
func (c *changes) record(of topic, volumes ...string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.versions[of]++
	for _, name := range volumes {
		delete(c.volumes, name)
		if c.changed != nil {
			c.changed[name] = struct{}{}
		}
	}
	if len(c.changed) > mostChanged {
		c.changed = nil
	}
	close(c.next)
	c.next = make(chan struct{})
}

// leave drops the place of a volume that the cache does not have.
func (c *changes) leave(volume string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.volumes, volume)
}

// mostChanged limits the names of changed volumes: volumes come and go by the thousands where nobody opens a page.
const mostChanged = 1000

// takeVolumes returns the volumes that changed since its last call, and false if it does not know all of them.
func (c *changes) takeVolumes() ([]string, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	taken := c.changed
	c.changed = map[string]struct{}{}
	return slices.Collect(maps.Keys(taken)), taken != nil
}

// version returns the number of changes of some topics so far, and a channel that is closed at the next change of any.
func (c *changes) version(of ...topic) (uint64, <-chan struct{}) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var sum uint64
	for _, t := range of {
		sum += c.versions[t]
	}
	return sum, c.next
}

// placeOf returns the place of a volume. A caller that reads objects after this call, and keeps the result there, keeps no old result.
func (c *changes) placeOf(volume string) *place {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	p := c.volumes[volume]
	if p == nil {
		p = &place{}
		c.volumes[volume] = p
	}
	return p
}

// await returns nil once holds returns true, and calls it now and after each change in the cache.
func (c *changes) await(ctx context.Context, holds func() bool) error {
	for {
		_, changed := c.version()
		if holds() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// follower records the events of one kind.
type follower struct {
	kind    kind
	changes *changes
	cache   client.Reader
}

// follow starts the cache of each kind, and records its events.
func follow(ctx context.Context, rt *runkit.Runtime, into *changes) error {
	for _, k := range kinds() {
		informer, err := rt.Manager.GetCache().GetInformer(ctx, k.object)
		if err != nil {
			return fmt.Errorf("caching %T: %w", k.object, err)
		}
		f := follower{kind: k, changes: into, cache: rt.Manager.GetCache()}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { f.record(ctx, obj) },
			UpdateFunc: func(old, obj any) { f.record(ctx, old, obj) },
			DeleteFunc: func(obj any) { f.record(ctx, obj) },
		}); err != nil {
			return fmt.Errorf("following %T: %w", k.object, err)
		}
	}
	return nil
}

// record notes an event with the versions of the object before and after it.
func (f follower) record(ctx context.Context, versions ...any) {
	var volumes []string
	for _, version := range versions {
		if gone, ok := version.(toolscache.DeletedFinalStateUnknown); ok {
			version = gone.Obj
		}
		if obj, ok := version.(client.Object); ok {
			volumes = append(volumes, f.volumesOf(ctx, obj)...)
		}
	}
	if _, isPod := f.kind.object.(*corev1.Pod); isPod && len(volumes) == 0 {
		return // most pods of a cluster use no Longhorn volume
	}
	f.changes.record(f.kind.topic, volumes...)
}

// volumesOf names the volumes whose resources show an object.
func (f follower) volumesOf(ctx context.Context, obj client.Object) []string {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		if f.kind.volumes == nil {
			return nil
		}
		return slices.DeleteFunc(f.kind.volumes(obj), func(name string) bool { return name == "" })
	}
	return kube.VolumesOfPod(ctx, f.cache, pod)
}
