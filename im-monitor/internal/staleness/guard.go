// Package staleness keeps a controller from deciding on an object that it has itself changed since: a cache is always a
// little behind, and deciding on the version before one's own write would write the same again.
package staleness

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Guard remembers, for each object, the version at which it was last changed. The zero value is ready for use; it may be
// lost at any time, which costs at most one superfluous write.
type Guard struct {
	mu      sync.Mutex
	changed map[string]string
}

// Changed notes that the object, as given, was evaluated and then changed: this version is stale.
func (g *Guard) Changed(obj client.Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed == nil {
		g.changed = map[string]string{}
	}
	g.changed[obj.GetName()] = version(obj)
}

// Stale reports whether the object, as given, is one that we changed since: the event of that change is still to come.
func (g *Guard) Stale(obj client.Object) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.changed[obj.GetName()]
	return ok && at == version(obj)
}

// Forget drops what is remembered about an object that is gone.
func (g *Guard) Forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.changed, name)
}

func version(obj client.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }
