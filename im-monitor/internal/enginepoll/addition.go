package enginepoll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/rebuildpace"
)

// add lets the engine take a replica in beside the polls: a v1 server answers when the rebuild is done, and makes the replica RW only for a
// caller that is still there. So the call outlives this process's leadership where HandOver waits for it. It has a connection of its own: a
// connection that a poll drops must not end a rebuild.
func (c *Controller) add(leading context.Context, e *v1beta2.Engine, to way, call engine.Call) {
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
	working := c.working.beginCall(e.Name) // also once the caller's own count has ended
	go func() {
		defer cancel()
		defer working()
		err := c.addOver(ctx, to, imclient.Addition{Name: call.Name, Address: call.Address, Size: call.Size,
			Restoring: call.Restoring})
		outcome := execute.OutcomeOf(err)
		c.keepOpen(e, outcome)
		c.ended(e, call, err)
		// After that: what is noted of a call that has ended is forgotten. Who did not answer may yet do it.
		failed := outcome != execute.Accepted && outcome != execute.Unanswered
		c.memory.end(e.Name, a, failed && !c.isBusy(ctx, to, call))
		close(a.ended)
		select {
		case c.enqueued <- event.GenericEvent{Object: &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name}}}:
		case <-leading.Done():
		}
	}()
}

// isBusy reports whether an engine that refused an addition expands, purges, or rebuilds another replica: a v1 engine refuses additions
// meanwhile, and the replica has not failed. The engine is asked after the refusal, since the work may have begun after the poll. An engine
// that does not answer may be busy.
func (c *Controller) isBusy(ctx context.Context, to way, call engine.Call) bool {
	if to.DataEngine == v1beta2.DataEngineV2 {
		return false
	}
	proxy, err := c.pool.connect(to.manager)
	if err != nil {
		return true
	}
	defer func() { _ = proxy.Close() }()
	replicas, listed := proxy.Replicas(ctx, to.Target)
	volume, described := proxy.Volume(ctx, to.Target)
	purges, answered := proxy.Purges(ctx, to.Target)
	if errors.Join(listed, described, answered) != nil {
		return true
	}
	rebuilds := slices.ContainsFunc(replicas, func(r imclient.EngineReplica) bool {
		return r.Mode == v1beta2.ReplicaModeWO && imclient.WithoutScheme(r.Address) != call.Address
	})
	return rebuilds || volume.Expanding || v1beta2.IsPurging(purges)
}

func (c *Controller) addOver(ctx context.Context, to way, a imclient.Addition) error {
	proxy, err := c.pool.connect(to.manager)
	if err != nil {
		return err
	}
	return errors.Join(proxy.AddReplica(ctx, to.Target, a), proxy.Close())
}

// watchRebuild gives up a rebuild that makes no progress, also if another process began it. The rebuild of a large volume gets more time. A
// restore that fills a replica reports its progress as a restore.
func (p *poll) watchRebuild(v engine.Verdict) {
	percent := 0
	for _, one := range v.Status.RebuildStatus {
		percent += one.Progress
	}
	for _, one := range v.Status.RestoreStatus {
		percent += one.Progress
	}
	patience := rebuildpace.Patience(p.options.RebuildStallTimeout, max(p.engine.Spec.VolumeSize, v.Status.CurrentSize))
	if p.memory.stuck(p.engine.Name, v.Rebuilding, percent, p.rt.Clock.Now(), patience) {
		p.rt.Log.Info("a rebuild made no progress and is aborted", "engine", p.engine.Name, "replica", v.Rebuilding, "timeout", patience)
		p.emit("RebuildAborted", fmt.Sprintf("The rebuild of replica %s made no progress for %s and is aborted. The replica counts as failed: "+
			"it, or another one, is rebuilt from the beginning.", v.Rebuilding, patience))
	}
}

// HandOver keeps the calls open that rebuild v1 replicas, after this process was asked to stop and has released its lease: the next leader
// sees those rebuilds continue, and only these calls can end them well. It returns when the last one ended, or after Options.HandOver: a
// rebuild that loses its caller then is repeated by the next leader. A call whose replica no poll has listed ends at once: a server that is
// slow to begin must not begin when no one wants it any more.
func (c *Controller) HandOver() {
	open := c.memory.handOver()
	if len(open) == 0 {
		return
	}
	c.rt.Log.Info("rebuilds continue: their calls stay open until they end", "rebuilds", len(open), "atMost", c.options.HandOver)
	late := c.rt.Clock.NewTimer(c.options.HandOver)
	defer late.Stop()
	for i, a := range open {
		select {
		case <-a.ended:
		case <-late.C():
			c.rt.Log.Info("rebuilds are left without their calls; the next leader repeats them", "rebuilds", len(open)-i)
			return
		}
	}
}
