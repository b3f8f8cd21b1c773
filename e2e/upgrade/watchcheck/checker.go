package watchcheck

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// pause is the interval between two polls of the data plane.
const pause = 15 * time.Millisecond

// Checker checks the invariants from Start to Stop.
type Checker struct {
	world   *world.World
	volumes map[string]bool
	cancel  context.CancelFunc
	group   sync.WaitGroup

	mutex    sync.Mutex
	excused  map[string]bool
	found    []error
	reported map[string]bool
	polls    int
	versions int
	facts    facts
}

// facts are the newest observed versions.
type facts struct {
	nodes    map[string]*v1beta2.Node
	upgrades map[string]*v1beta2.NodeDataEngineUpgrade
	replicas map[string]*v1beta2.Replica
}

// Start starts to check volumes that are attached and healthy, and every node.
func Start(ctx context.Context, w *world.World, volumes ...string) (*Checker, error) {
	ctx, cancel := context.WithCancel(ctx)
	g := &Checker{world: w, cancel: cancel, volumes: map[string]bool{}, excused: map[string]bool{}, reported: map[string]bool{},
		facts: facts{nodes: map[string]*v1beta2.Node{}, upgrades: map[string]*v1beta2.NodeDataEngineUpgrade{},
			replicas: map[string]*v1beta2.Replica{}}}
	for _, name := range volumes {
		g.volumes[name] = true
	}
	if err := g.watch(ctx); err != nil {
		cancel()
		g.group.Wait()
		return nil, err
	}
	g.group.Go(func() { g.poll(ctx) })
	return g, nil
}

// Excuse allows a volume without a target until it has one again: the test is about to stop the node of the target.
func (g *Checker) Excuse(volume string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.excused[volume] = true
}

// Release ends the checks of a volume that its user detaches.
func (g *Checker) Release(volume string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.volumes, volume)
}

// Stop stops the checker and returns all violations. A checker without any poll or version has checked nothing, which is
// an error, too.
func (g *Checker) Stop() error {
	g.cancel()
	g.group.Wait()
	if g.polls == 0 || g.versions == 0 {
		g.found = append(g.found, fmt.Errorf("the watch checker saw nothing: %d polls, %d versions", g.polls, g.versions))
	}
	return errors.Join(g.found...)
}

// Seen returns the number of polls of the data plane, and of versions of objects.
func (g *Checker) Seen() (polls, versions int) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.polls, g.versions
}

// violated records a violation, each once; the caller holds the lock.
func (g *Checker) violated(key, format string, args ...any) {
	if g.reported[key] {
		return
	}
	g.reported[key] = true
	g.found = append(g.found, fmt.Errorf("%s: %s", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...)))
}
