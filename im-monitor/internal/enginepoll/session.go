package enginepoll

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// place is where an engine runs; another one is another run.
type place struct {
	state, uuid, ip, manager string
	port                     int
	down                     bool
}

func where(e *v1beta2.Engine) place {
	s := e.Status
	return place{s.CurrentState, s.UUID, s.StorageIP, s.InstanceManagerName, s.Port,
		conditions.IsTrue(s.Conditions, v1beta2.InstanceNodeDown)}
}

// runOf is a word for a run of an engine that no other run of it has, as long as its server gives instances UUIDs.
func runOf(e *v1beta2.Engine) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(e.Name, where(e))))
	return hex.EncodeToString(sum[:])[:16]
}

// runs reports whether the engine can be asked. A v2 engine is asked by its name: one without a frontend has no port.
func runs(e *v1beta2.Engine) bool {
	w := where(e)
	reached := w.ip != "" && w.manager != "" && !w.down && (w.port != 0 || e.Spec.DataEngine == v1beta2.DataEngineV2)
	return e.Spec.DesireState == v1beta2.InstanceStateRunning && w.state == v1beta2.InstanceStateRunning && reached
}

// way is an engine, and a connection over which it is called. manager is the address of its instance manager.
type way struct {
	imclient.Target
	manager string
	proxy   *imclient.Proxy
	// frontend is where the frontend was that the way goes through; zero where it goes through none.
	frontend frontendPlace
}

// frontendPlace is where a frontend is, and which engine it belongs to.
type frontendPlace struct {
	engine, ip, manager string
	port                int
}

func whereFrontend(f *v1beta2.EngineFrontend) frontendPlace {
	return frontendPlace{f.Spec.EngineName, f.Status.StorageIP, f.Status.InstanceManagerName, f.Status.Port}
}

func targetOf(e *v1beta2.Engine) imclient.Target {
	return imclient.Target{Address: net.JoinHostPort(e.Status.StorageIP, strconv.Itoa(e.Status.Port)), Engine: e.Name,
		Volume: e.Spec.VolumeName, DataEngine: e.Spec.DataEngine}
}

// session is how one engine is called in one poll.
type session struct {
	// direct is for questions, and for calls to the engine itself. through is for calls that go through the frontend of a v2 engine, which
	// may be on another node; nil while that cannot be reached, and problem is why, where that is an error.
	direct  way
	through *way
	problem error
}

// connect finds out where the engine is called; nil while its instance manager has no address.
func (c *Controller) connect(ctx context.Context, e *v1beta2.Engine) (*session, error) {
	direct, err := c.reach(ctx, e)
	if err != nil || direct == nil {
		return nil, err
	}
	s := &session{direct: *direct}
	s.through, s.problem = c.reachFrontend(ctx, s.direct)
	return s, nil
}

// reach finds out where the engine is asked; nil while its instance manager has no address.
func (c *Controller) reach(ctx context.Context, e *v1beta2.Engine) (*way, error) {
	im, err := lookup.Shared(ctx, c.rt.Client, c.rt.Namespace, e.Status.InstanceManagerName, &v1beta2.InstanceManager{})
	if err != nil || im == nil || im.Status.IP == "" {
		return nil, err
	}
	to := way{manager: im.Status.IP, Target: targetOf(e)}
	if e.Spec.DataEngine == v1beta2.DataEngineV2 && !e.Spec.DisableFrontend {
		frontends, err := c.frontendsOf(ctx, e)
		if err != nil {
			return nil, err
		}
		for i := range frontends {
			if f := &frontends[i]; f.Spec.EngineName == e.Name {
				to.Frontend = f.Name
			}
		}
	}
	if to.proxy, err = c.pool.get(to.manager, c.rt.Clock.Now()); err != nil {
		return nil, err
	}
	return &to, nil
}

// reachFrontend finds out where calls go that go through the frontend; nil while it has no address.
func (c *Controller) reachFrontend(ctx context.Context, direct way) (*way, error) {
	if direct.Frontend == "" {
		return &direct, nil
	}
	f, err := lookup.Shared(ctx, c.rt.Client, c.rt.Namespace, direct.Frontend, &v1beta2.EngineFrontend{})
	if err != nil || f == nil || f.Status.InstanceManagerName == "" || f.Status.StorageIP == "" {
		return nil, err
	}
	im, err := lookup.Shared(ctx, c.rt.Client, c.rt.Namespace, f.Status.InstanceManagerName, &v1beta2.InstanceManager{})
	if err != nil || im == nil || im.Status.IP == "" {
		return nil, err
	}
	to := direct
	to.frontend = whereFrontend(f)
	to.Address, to.manager = net.JoinHostPort(f.Status.StorageIP, strconv.Itoa(f.Status.Port)), im.Status.IP
	if to.proxy, err = c.pool.get(to.manager, c.rt.Clock.Now()); err != nil {
		return nil, err
	}
	return &to, nil
}

// frontendsOf are the frontends of an engine's volume, which the cache shares.
func (c *Controller) frontendsOf(ctx context.Context, e *v1beta2.Engine) ([]v1beta2.EngineFrontend, error) {
	var list v1beta2.EngineFrontendList
	err := lookup.ListShared(ctx, c.rt.Client, c.rt.Namespace, &list, client.MatchingFields{kube.FieldVolume: e.Spec.VolumeName})
	return list.Items, err
}

// isAlone reports whether no other engine of the volume is to run, as far as the cache shows.
func (c *Controller) isAlone(ctx context.Context, e *v1beta2.Engine) (bool, error) {
	engines, err := c.enginesOf(ctx, e.Spec.VolumeName)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(engines, func(other v1beta2.Engine) bool { return other.Name != e.Name && isToRun(&other) }), nil
}

// isToRun reports whether an engine runs or is to run.
func isToRun(e *v1beta2.Engine) bool {
	return e.Spec.DesireState == v1beta2.InstanceStateRunning || where(e).state == v1beta2.InstanceStateRunning
}
