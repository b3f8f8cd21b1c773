package enginepoll

import (
	"context"
	"fmt"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

// Modes asks a running engine for the modes of its replicas now, by name, and writes nothing: for those who destroy what
// the engine must not need.
func (c *Controller) Modes(ctx context.Context, e *v1beta2.Engine) (map[string]string, error) {
	if !runs(e) {
		return nil, fmt.Errorf("engine %s does not run", e.Name)
	}
	to, err := c.reach(ctx, e)
	if err != nil {
		return nil, err
	}
	if to == nil {
		return nil, fmt.Errorf("the instance manager of engine %s has no address", e.Name)
	}
	replicas, err := to.replicas(ctx)
	if err != nil {
		c.pool.failed(*to, err)
		return nil, fmt.Errorf("asking engine %s for its replicas: %w", e.Name, err)
	}
	modes := make(map[string]string, len(replicas))
	for _, r := range engine.Named(e, replicas) {
		modes[r.Name] = r.Mode
	}
	return modes, nil
}

// PollBeforeStop polls a running engine once more and writes the modes of its replicas, which no one can read after its end.
func (c *Controller) PollBeforeStop(ctx context.Context, e *v1beta2.Engine) error {
	if w := where(e); w.state != v1beta2.InstanceStateRunning || w.ip == "" || w.manager == "" {
		return nil
	}
	to, err := c.reach(ctx, e)
	if err != nil || to == nil {
		return err
	}
	seen := engine.Seen{Began: c.rt.Clock.Now()}
	if seen.Replicas, err = to.replicas(ctx); err != nil {
		c.pool.failed(*to, err)
		return err
	}
	wanted := engine.Decide(engine.World{Now: c.rt.Clock.Now(), Engine: e, Seen: seen}).Status
	wanted.Conditions = e.Status.Conditions // what fails was not asked about
	return c.write(ctx, e, wanted)
}
