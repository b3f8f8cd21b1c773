package watchcheck

import (
	"context"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// poll checks the state of the data plane against UPG-1 and UPG-3, repeatedly.
func (g *Checker) poll(ctx context.Context) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		held, err := g.world.DataOf(ctx, "")
		if err == nil {
			g.check(held)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (g *Checker) check(held map[string]world.Data) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.polls++
	for name := range g.volumes {
		data, served, used := held[name], false, map[string]bool{}
		for _, device := range data.Devices {
			used[device.Engine] = true
		}
		for _, engine := range data.Engines {
			// An engine that the frontend has left lists its replicas until it ends, while the next engine writes to some of them; no
			// frontend reads it.
			if engine.Mixed && used[engine.Name] {
				g.violated("mixed "+name, "UPG-1: engine %s of %s reads replicas that differ", engine.Name, name)
			}
			served = served || reads(engine.Modes)
		}
		switch {
		case served:
			delete(g.excused, name)
		case !g.excused[name]:
			g.violated("target "+name, "UPG-3: no engine serves %s: %+v", name, data)
		}
		if !whole(data) {
			g.violated("whole "+name, "UPG-1: no replica of %s has all that was acknowledged: %+v", name, data)
		}
	}
}

// reads reports whether an engine reads and writes a replica at least.
func reads(modes map[string]string) bool {
	for _, mode := range modes {
		if mode == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

// whole reports whether any replica has everything that was acknowledged.
func whole(data world.Data) bool {
	for _, r := range data.Replicas {
		if !r.Stale && !r.Partial {
			return true
		}
	}
	return false
}
