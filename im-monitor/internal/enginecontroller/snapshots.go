package enginecontroller

import (
	"context"
	"net"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/snapshotexecutor"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// ofSnapshot is the active engine of a snapshot's volume, if it runs.
func (c *Controller) ofSnapshot(ctx context.Context, obj client.Object) []reconcile.Request {
	engines := c.ofVolume(ctx, obj.(*v1beta2.Snapshot).Spec.Volume)
	for i := range engines {
		if e := &engines[i]; e.Spec.Active && runs(e) {
			return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(e)}}
		}
	}
	return nil
}

// snapshots does what a poll means for the engine's snapshots, and reports when to poll again on their account; zero is
// whenever.
func (c *Controller) snapshots(ctx context.Context, t target, proxy *imclient.Proxy, poll snapshotexecutor.Poll) (time.Duration, error) {
	through, way, err := c.through(ctx, t, proxy)
	if err != nil || way == nil {
		return unreachableDelay, err
	}
	poll.Proxy, poll.Target = way, through.Target
	defer c.working.begin(poll.Engine.Name)()
	return c.executor.Pass(ctx, poll)
}

// unchanged reads the engine uncached; an error reports why nothing may be called on it now.
func (c *Controller) unchanged(ctx context.Context, e *v1beta2.Engine) error {
	return c.still(ctx, e, engine.Call{})
}

// alone reports whether no other engine of the volume must run.
func (c *Controller) alone(ctx context.Context, e *v1beta2.Engine) bool {
	engines := c.ofVolume(ctx, e.Spec.VolumeName)
	for i := range engines {
		if other := &engines[i]; other.Name != e.Name &&
			(other.Spec.DesireState == v1beta2.InstanceStateRunning || where(other).state == v1beta2.InstanceStateRunning) {
			return false
		}
	}
	return true
}

// through is where calls go that go through a v2 engine's frontend, which may be on another node; nil while it has no
// address.
func (c *Controller) through(ctx context.Context, t target, proxy *imclient.Proxy) (target, *imclient.Proxy, error) {
	if t.Frontend == "" {
		return t, proxy, nil
	}
	f, err := lookup.Shared(ctx, c.rt.Client, c.rt.Namespace, t.Frontend, &v1beta2.EngineFrontend{})
	if err != nil || f == nil || f.Status.InstanceManagerName == "" || f.Status.StorageIP == "" {
		return t, nil, err
	}
	im, err := lookup.Shared(ctx, c.rt.Client, c.rt.Namespace, f.Status.InstanceManagerName, &v1beta2.InstanceManager{})
	if err != nil || im == nil || im.Status.IP == "" {
		return t, nil, err
	}
	t.Address, t.manager = net.JoinHostPort(f.Status.StorageIP, strconv.Itoa(f.Status.Port)), im.Status.IP
	way, err := c.pool.get(t.manager, c.rt.Clock.Now())
	return t, way, err
}
