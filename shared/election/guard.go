package election

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// behindFor is how long the cache may show a version after this process changed it. A write that changed nothing causes no event,
// and must not delay for longer.
const behindFor = 2 * time.Second

// Guard remembers the version at which each object was last changed, so that no decision uses that version again
// while the cache still shows it: the same change would be written twice.
type Guard struct {
	Clock clock.PassiveClock

	mutex  sync.Mutex
	writes map[string]write
}

type write struct {
	version string
	at      time.Time
}

// Changed records that the object, as given, was evaluated and then changed.
func (g *Guard) Changed(obj client.Object) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	now := g.Clock.Now()
	if g.writes == nil {
		g.writes = map[string]write{}
	}
	maps.DeleteFunc(g.writes, func(_ string, w write) bool { return now.Sub(w.at) > behindFor })
	g.writes[key(obj)] = write{version(obj), now}
}

// Stale reports whether the object, as given, was changed a moment ago and the cache does not show the change yet.
func (g *Guard) Stale(obj client.Object) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	w, ok := g.writes[key(obj)]
	return ok && w.version == version(obj) && g.Clock.Since(w.at) <= behindFor
}

func key(obj client.Object) string { return fmt.Sprintf("%T/%s", obj, obj.GetName()) }

func version(obj client.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }
