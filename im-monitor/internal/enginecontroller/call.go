package enginecontroller

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/backuptarget"
	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// call makes one call. What came of it is seen by the next poll. What changes the size or the replicas of a v2 engine goes
// through its frontend, wherever that is.
func (c *Controller) call(ctx context.Context, e *v1beta2.Engine, t target, proxy *imclient.Proxy, call engine.Call) {
	log := c.rt.Log.WithValues("engine", e.Name, "op", call.Op, "replica", call.Name)
	if call.Op == engine.OpAdd || call.Op == engine.OpExpand || call.Op == engine.OpPurge {
		through, way, err := c.through(ctx, t, proxy)
		if err != nil || way == nil {
			log.Info("not called: the engine's frontend cannot be reached", "frontend", t.Frontend, "error", err)
			return
		}
		t, proxy = through, way
	}
	defer c.working.begin(e.Name)()
	c.memory.tried(e.Name, call.Key(), c.rt.Clock.Now())
	out, err := c.guard.Do(ctx, execute.Call{
		Check: func(ctx context.Context, _ execute.Reading) (execute.Checked, error) {
			if err := c.still(ctx, e, call); err != nil {
				return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed, Message: err.Error()}}, nil
			}
			return execute.Checked{Allowed: true}, nil
		},
		Send: func(ctx context.Context, _ imclient.Client) error {
			c.memory.unsettle(e.Name, c.rt.Clock.Now().Add(unsettled))
			if call.Op == engine.OpAdd {
				c.add(ctx, e, t, call)
				return nil
			}
			return c.send(ctx, e, t, proxy, call)
		},
	})
	switch {
	case err != nil || out.Interrupted && !out.Sent():
	case out.Stop.Failure: // the engine's condition reports it
		c.ended(e, call, errors.New(out.Stop.Message))
	case !out.Sent():
		log.Info("not called", "reason", out.Stop.Message)
	case call.Op != engine.OpAdd: // an addition ends later
		if out.Outcome == execute.Accepted {
			c.memory.accepted(e.Name, call)
		}
		c.ended(e, call, out.Err)
	}
}

// send sends a call that ends soon.
func (c *Controller) send(ctx context.Context, e *v1beta2.Engine, t target, proxy *imclient.Proxy, call engine.Call) error {
	switch call.Op {
	case engine.OpRemove:
		return proxy.RemoveReplica(ctx, t.Target, call.Name, call.Address)
	case engine.OpExpand:
		return proxy.Expand(ctx, t.Target, call.Size)
	case engine.OpClone:
		return c.clone(ctx, t, proxy, call)
	case engine.OpRestore:
		return c.restore(ctx, e, t, proxy)
	case engine.OpRevert:
		return c.revert(ctx, e, t, proxy, call.Snapshot)
	case engine.OpPurge:
		return proxy.PurgeSnapshots(ctx, t.Target)
	}
	return setLimit(ctx, t, proxy, call)
}

// still reads the engine uncached, and where the call depends on it the volume: what is called must be what their specs ask for now.
func (c *Controller) still(ctx context.Context, e *v1beta2.Engine, call engine.Call) error {
	now := &v1beta2.Engine{}
	if err := c.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(e), now); err != nil {
		return fmt.Errorf("reading engine %s: %w", e.Name, err)
	}
	if now.UID != e.UID || !runs(now) || where(now) != where(e) {
		return fmt.Errorf("engine %s changed since the poll", e.Name)
	}
	if err := c.held(ctx, now, call.Op); err != nil {
		return err
	}
	w := engine.CallWorld{Polled: e, Now: now, Call: call}
	if call.Op.ReadsVolume() {
		var err error
		if w.Volume, err = lookup.Shared(ctx, c.rt.Uncached, e.Namespace, e.Spec.VolumeName, &v1beta2.Volume{}); err != nil {
			return err
		}
	}
	if err := engine.Allowed(w); err != nil || call.Op != engine.OpPurge {
		return err
	}
	return c.mayPurge(ctx, e)
}

// add lets the engine take a replica in beside the polls: a v1 server answers when the rebuild is done, and makes the replica RW only for a
// caller that is still there. So the call outlives this process's leadership where HandOver waits for it. It has a connection of its own: a
// poll that no one answers must not end a rebuild.
func (c *Controller) add(leading context.Context, e *v1beta2.Engine, t target, call engine.Call) {
	ctx := leading
	if c.options.HandOver > 0 && e.Spec.DataEngine != v1beta2.DataEngineV2 {
		ctx = context.WithoutCancel(leading)
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &addition{name: call.Name, cancel: cancel, ended: make(chan struct{})}
	if !c.memory.begin(e.Name, a) {
		cancel()
		return
	}
	working := c.working.begin(e.Name) // also once the caller's own count has ended
	go func() {
		defer cancel()
		defer working()
		err := c.addOver(ctx, t, imclient.Addition{Name: call.Name, Address: call.Address, Size: call.Size})
		outcome := execute.OutcomeOf(err)
		c.memory.end(e.Name, a, outcome != execute.Accepted && outcome != execute.Unanswered) // who did not answer may yet do it
		c.ended(e, call, err)
		close(a.ended)
		select {
		case c.enqueued <- event.GenericEvent{Object: &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name}}}:
		case <-leading.Done():
		}
	}()
}

func (c *Controller) addOver(ctx context.Context, t target, a imclient.Addition) error {
	proxy, err := c.pool.connect(t.manager)
	if err != nil {
		return err
	}
	return errors.Join(proxy.AddReplica(ctx, t.Target, a), proxy.Close())
}

// watchRebuild gives a rebuild up that makes no progress, whoever began it.
func (c *Controller) watchRebuild(e *v1beta2.Engine, v engine.Verdict) {
	percent := 0
	for _, one := range v.Status.RebuildStatus {
		percent += one.Progress
	}
	if c.memory.stuck(e.Name, v.Rebuilding, percent, c.rt.Clock.Now(), c.options.RebuildStallTimeout) {
		c.rt.Log.Info("a rebuild made no progress and is aborted", "engine", e.Name, "replica", v.Rebuilding, "timeout",
			c.options.RebuildStallTimeout)
	}
}

func (c *Controller) clone(ctx context.Context, t target, proxy *imclient.Proxy, call engine.Call) error {
	var engines v1beta2.EngineList
	if err := c.rt.Client.List(ctx, &engines, client.InNamespace(c.rt.Namespace),
		client.MatchingFields{enginesByVolume: call.Volume}); err != nil {
		return fmt.Errorf("listing the engines of volume %s: %w", call.Volume, err)
	}
	for i := range engines.Items {
		if from := &engines.Items[i]; from.Spec.Active && runs(from) {
			return proxy.CloneFrom(ctx, t.Target, targetOf(from), call.Snapshot)
		}
	}
	return fmt.Errorf("no engine of volume %s runs", call.Volume)
}

func (c *Controller) restore(ctx context.Context, e *v1beta2.Engine, t target, proxy *imclient.Proxy) error {
	v := &v1beta2.Volume{}
	if err := c.rt.Uncached.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: e.Spec.VolumeName}, v); err != nil {
		return fmt.Errorf("reading volume %s: %w", e.Spec.VolumeName, err)
	}
	from, err := engine.RestoreURL(v.Spec.FromBackup, e.Spec.RequestedBackupRestore)
	if err != nil {
		return err
	}
	credentials, err := backuptarget.Reader{Client: c.rt.Uncached, Namespace: c.rt.Namespace}.OfRestore(ctx, v)
	if err != nil {
		return fmt.Errorf("reading the credentials for %s: %w", e.Spec.RequestedBackupRestore, err)
	}
	return proxy.Restore(ctx, t.Target, from, credentials)
}

// ended notes what became of a call; the next poll writes a failure to the engine.
func (c *Controller) ended(e *v1beta2.Engine, call engine.Call, err error) {
	log := c.rt.Log.WithValues("engine", e.Name, "op", call.Op, "replica", call.Name)
	if err == nil {
		c.memory.answered(e.Name, call.Key(), "")
		calls.WithLabelValues(string(call.Op), "ok").Inc()
		log.Info("called")
		return
	}
	c.memory.answered(e.Name, call.Key(), err.Error())
	calls.WithLabelValues(string(call.Op), "failed").Inc()
	log.Info("call failed", "error", err.Error())
}
