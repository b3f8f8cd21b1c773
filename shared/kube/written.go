package kube

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// behindFor is how long the cache may show a version after this process changed it. A write that changed nothing causes no event,
// and must not delay for longer.
const behindFor = 2 * time.Second

// CachePause gives the cache time to show this process's own write, or a faster write by a different process.
const CachePause = 20 * time.Millisecond

// Written remembers the version at which this process changed each object last, so that no decision uses that version again
// while the cache still shows it: the same change would be written twice. It may be lost at any time, which costs at most one more
// write. It is safe for concurrent use.
type Written struct {
	Clock clock.PassiveClock
	// Observe is that of the process: under it nothing is written, so that nothing is remembered.
	Observe bool

	mutex  sync.Mutex
	writes map[string]write
	swept  time.Time
}

type write struct {
	uid     types.UID
	version string
	at      time.Time
}

// Record notes that the object, as given, was evaluated and then changed.
func (w *Written) Record(obj client.Object) {
	if w.Observe {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := w.Clock.Now()
	w.sweep(now)
	if w.writes == nil {
		w.writes = map[string]write{}
	}
	w.writes[key(obj)] = write{obj.GetUID(), obj.GetResourceVersion(), now}
}

// Stale reports whether the object, as given, was changed a moment ago and the cache does not show the change yet. Whoever leaves it alone
// for that comes back in a moment: what else has changed meanwhile causes no second event, and neither does a write that changed nothing.
func (w *Written) Stale(obj client.Object) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := w.Clock.Now()
	w.sweep(now)
	last, ok := w.writes[key(obj)]
	return ok && last.uid == obj.GetUID() && !newer(obj.GetResourceVersion(), last.version) && now.Sub(last.at) <= behindFor
}

// newer compares versions, where the API server's are numbers; others are newer if they differ.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return a != b
	}
	return order > 0
}

// sweep forgets what is too old to count; the lock is held.
func (w *Written) sweep(now time.Time) {
	if now.Sub(w.swept) <= behindFor { // not at each write: a node that goes down brings thousands
		return
	}
	w.swept = now
	maps.DeleteFunc(w.writes, func(_ string, w write) bool { return now.Sub(w.at) > behindFor })
}

func key(obj client.Object) string {
	return fmt.Sprintf("%T/%s/%s", obj, obj.GetNamespace(), obj.GetName())
}
