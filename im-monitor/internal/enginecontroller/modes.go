package enginecontroller

import (
	"context"
	"fmt"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// Modes asks a running engine for the modes of its replicas now, by name, and writes nothing: for those who destroy what
// the engine must not need.
func (c *Controller) Modes(ctx context.Context, e *v1beta2.Engine) (map[string]string, error) {
	if !runs(e) {
		return nil, fmt.Errorf("engine %s does not run", e.Name)
	}
	t, proxy, err := c.reach(ctx, e)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return nil, fmt.Errorf("the instance manager of engine %s has no address", e.Name)
	}
	replicas, err := listed(ctx, proxy, t.Target)
	if err != nil {
		c.pool.failed(t.manager, proxy, err)
		return nil, fmt.Errorf("asking engine %s for its replicas: %w", e.Name, err)
	}
	modes := make(map[string]string, len(replicas))
	for _, r := range engine.Named(e, replicas) {
		modes[r.Name] = r.Mode
	}
	return modes, nil
}

// listed are the replicas as the engine lists them.
func listed(ctx context.Context, proxy *imclient.Proxy, t imclient.Target) ([]engine.Replica, error) {
	replicas, err := proxy.Replicas(ctx, t)
	out := make([]engine.Replica, 0, len(replicas))
	for _, r := range replicas {
		out = append(out, engine.Replica(r))
	}
	return out, err
}
