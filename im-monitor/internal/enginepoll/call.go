package enginepoll

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// call makes one call that the engine itself needs. What came of it is seen by the next poll.
func (p *poll) call(ctx context.Context, call engine.Call) {
	log := p.rt.Log.WithValues("engine", p.engine.Name, "op", call.Op, "replica", call.Name)
	to := p.wayOf(call.Op)
	if to == nil {
		log.Info("not called: the engine's frontend cannot be reached", "frontend", p.direct.Frontend, "error", p.problem)
		return
	}
	p.memory.tried(p.engine.Name, call.Key(), p.rt.Clock.Now())
	out, err := p.guarded(ctx, to, execute.Call{
		Check: func(ctx context.Context, _ execute.Reading) (execute.Checked, error) {
			return allowed(p.check(ctx, *to, &call)), nil
		},
		Send: func(ctx context.Context, _ imclient.Client) error { return p.send(ctx, *to, call) },
	})
	if call.Op != engine.OpRemove { // no write goes through it
		p.keepOpen(p.engine, out.Outcome)
	}
	switch {
	case err != nil || out.Interrupted && !out.Sent():
	case out.Stop.Failure: // the engine's condition reports it
		p.ended(p.engine, call, errors.New(out.Stop.Message))
	case !out.Sent():
		log.Info("not called", "reason", out.Stop.Message)
		p.reportNoRoom(call, out.Stop.Message)
	case call.Op != engine.OpAdd: // an addition ends later
		if out.Outcome == execute.Accepted {
			p.memory.accepted(p.engine.Name, call)
		}
		p.ended(p.engine, call, out.Err)
	}
}

// guarded makes one try of a call, over the connection that the pool has by then: another poll may have dropped the one before. One
// whose transport was lost is dropped: it is never made again by itself. A call that is sent counts as work until a later poll has
// shown its effect.
func (p *poll) guarded(ctx context.Context, to *way, call execute.Call) (execute.Result, error) {
	check, send := call.Check, call.Send
	call.Send = func(ctx context.Context, connection imclient.Client) error {
		p.called = true
		defer p.working.beginCall(p.engine.Name)()
		return send(ctx, connection)
	}
	call.Check = func(ctx context.Context, at execute.Reading) (execute.Checked, error) {
		checked, err := check(ctx, at)
		if err == nil && checked.Allowed {
			if to.proxy, err = p.pool.get(to.manager, p.rt.Clock.Now()); err != nil {
				return allowed(err), nil
			}
		}
		return checked, err
	}
	out, err := p.guard.Do(ctx, call)
	p.pool.failed(*to, out.Err)
	return out, err
}

// keepOpen notes a call that was not answered and whose effect a switch-over must not overtake.
func (c *Controller) keepOpen(e *v1beta2.Engine, outcome execute.Outcome) {
	if outcome == execute.Unanswered {
		c.working.leaveOpen(e.Name, c.rt.Clock.Now().Add(c.options.PostElectionDelay))
	}
}

// wayOf is the way of a call: what changes the size or the replicas of a v2 engine goes through its frontend; nil while that cannot be
// reached.
func (p *poll) wayOf(op engine.Op) *way {
	if op == engine.OpAdd || op == engine.OpExpand || op == engine.OpPurge {
		return p.through
	}
	return &p.direct
}

// allowed allows a call unless there is a reason why it must not be sent.
func allowed(why error) execute.Checked {
	if why != nil {
		return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed, Message: why.Error()}}
	}
	return execute.Checked{Allowed: true}
}

// check reads the engine uncached, and the volume if the call depends on it: their specs must still ask for the call. It also sets how a
// replica is added, which depends on the volume alone.
func (p *poll) check(ctx context.Context, to way, call *engine.Call) error {
	now, err := p.unchanged(ctx, p.rt.Uncached, to, call.Op)
	if err != nil {
		return err
	}
	w := engine.CallWorld{Polled: p.engine, Now: now, Call: *call}
	if call.Op.ReadsVolume() {
		if w.Volume, err = lookup.Shared(ctx, p.rt.Uncached, p.rt.Namespace, p.engine.Spec.VolumeName, &v1beta2.Volume{}); err != nil {
			return err
		}
	}
	call.Restoring = call.Op == engine.OpAdd && engine.IsRestored(now, w.Volume)
	if err := engine.Allowed(w); err != nil || call.Op != engine.OpPurge {
		return err
	}
	return p.mayPurge(ctx, p.engine)
}

// unchanged reads the engine from a reader, and the frontend that the way goes through uncached; an error is why nothing may be called on
// it now.
func (p *poll) unchanged(ctx context.Context, from client.Reader, to way, op engine.Op) (*v1beta2.Engine, error) {
	e, now := p.engine, &v1beta2.Engine{}
	if err := from.Get(ctx, client.ObjectKeyFromObject(e), now); err != nil {
		return nil, fmt.Errorf("reading engine %s: %w", e.Name, err)
	}
	if now.UID != e.UID || !runs(now) || where(now) != where(e) {
		return nil, fmt.Errorf("engine %s changed since the poll", e.Name)
	}
	return now, p.held(ctx, now, op, to)
}

// stays reads the engine, its volume and the volume's other engines uncached: no snapshot is changed or copied of a volume that moves, is
// being deleted, or is to have another engine that runs.
func (p *poll) stays(ctx context.Context, to way) (*v1beta2.Volume, error) {
	if _, err := p.unchanged(ctx, p.rt.Uncached, to, ""); err != nil {
		return nil, err
	}
	v, err := lookup.Shared(ctx, p.rt.Uncached, p.rt.Namespace, p.engine.Spec.VolumeName, &v1beta2.Volume{})
	if err != nil {
		return nil, err
	}
	if err := engine.Stays(p.engine, v); err != nil {
		return nil, err
	}
	return v, p.onlyEngine(ctx, p.rt.Uncached, p.engine)
}

// onlyEngine is an error where another engine of the volume is to run. Those that the cache shows are read from a reader.
func (c *Controller) onlyEngine(ctx context.Context, from client.Reader, e *v1beta2.Engine) error {
	engines, err := c.enginesOf(ctx, e.Spec.VolumeName)
	if err != nil {
		return err
	}
	for i := range engines {
		if engines[i].Name == e.Name {
			continue
		}
		now := &v1beta2.Engine{}
		if err := from.Get(ctx, client.ObjectKeyFromObject(&engines[i]), now); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading engine %s: %w", engines[i].Name, err)
		}
		if isToRun(now) {
			return fmt.Errorf("another engine of volume %s is to run", e.Spec.VolumeName)
		}
	}
	return nil
}

// ended notes what became of a call; the next poll writes a failure to the engine.
func (c *Controller) ended(e *v1beta2.Engine, call engine.Call, err error) {
	log := c.rt.Log.WithValues("engine", e.Name, "op", call.Op, "replica", call.Name)
	if err == nil {
		c.memory.answered(e.Name, call.Key(), "", c.rt.Clock.Now())
		engineCalls.WithLabelValues(string(call.Op), "ok").Inc()
		log.Info("called")
		return
	}
	c.memory.answered(e.Name, call.Key(), err.Error(), c.rt.Clock.Now())
	engineCalls.WithLabelValues(string(call.Op), "failed").Inc()
	log.Info("call failed", "error", err.Error())
}
