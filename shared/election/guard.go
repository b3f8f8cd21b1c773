package election

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// behindFor is how long the cache may show a version after we changed it. A write that changed nothing brings no event,
// and must not hold up for longer.
const behindFor = 2 * time.Second

// Guard remembers the version at which each object was last changed, so that nothing is decided on that version again
// while the cache still shows it: the same would be written twice.
type Guard struct {
	Clock clock.PassiveClock

	mutex  sync.Mutex
	writes map[string]write
}

type write struct {
	version string
	at      time.Time
}

// Changed notes that the object, as given, was judged and then changed.
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

// Stale reports whether the object, as given, was changed a moment ago: the event of that change is still to come.
func (g *Guard) Stale(obj client.Object) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	w, ok := g.writes[key(obj)]
	return ok && w.version == version(obj) && g.Clock.Since(w.at) <= behindFor
}

func key(obj client.Object) string { return fmt.Sprintf("%T/%s", obj, obj.GetName()) }

func version(obj client.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }
