package enginecontroller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backupexecutor"
	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/snapshotexecutor"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// Reconcile polls one engine that runs, one of few of its instance manager at a time.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	e := &v1beta2.Engine{}
	err := c.rt.Client.Get(ctx, request.NamespacedName, e)
	if apierrors.IsNotFound(err) {
		c.forget(request.Name)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading engine %s: %w", request.Name, err)
	}
	if !runs(e) {
		c.forget(e.Name)
		return written(c.write(ctx, e, engine.Ended(e)))
	}
	known := c.memory.view(e, c.rt.Clock.Now())
	t, proxy, err := c.reach(ctx, e)
	if err != nil || proxy == nil {
		return ctrl.Result{RequeueAfter: unreachableDelay}, err
	}
	release, ok := c.semaphore.Take(t.manager, perManager)
	if !ok {
		return ctrl.Result{RequeueAfter: semaphorePause}, nil
	}
	defer release()
	return c.poll(ctx, e, known, t, proxy)
}

// poll asks one engine what there is to know, writes what it answered and calls what is due.
func (c *Controller) poll(ctx context.Context, e *v1beta2.Engine, known view, t target, proxy *imclient.Proxy) (ctrl.Result, error) {
	pending, err := c.executor.Pending(ctx, e)
	if err != nil {
		return ctrl.Result{}, err
	}
	began := c.rt.Clock.Now()
	seen, err := c.observe(ctx, proxy, t.Target, engine.Ask(e, known.first, known.adding != "", pending || known.purging))
	if err != nil {
		polls.WithLabelValues("failed").Inc()
		c.pool.failed(t.manager, proxy, err)
		c.rt.Log.Info("the engine could not be polled", "engine", e.Name, "error", err.Error())
		return ctrl.Result{RequeueAfter: unreachableDelay}, nil
	}
	polls.WithLabelValues("seen").Inc()
	reported, proof := c.executor.Reported(snapshotexecutor.Poll{Engine: e, Run: runOf(e), Seen: seen, Began: began})
	room, err := c.room(ctx, e, seen)
	if err != nil {
		return ctrl.Result{}, err
	}
	verdict := engine.Decide(engine.World{
		Now: c.rt.Clock.Now(), Engine: e, Seen: seen, Snapshots: reported, Room: room, Adding: known.adding, Failures: known.failures,
		Waits: known.waits, Failed: known.failed, Over: known.over, Growth: known.growth, CleanUp: c.cleansUp(ctx), Purged: known.purged,
		Unsettled: known.unsettled, Period: c.options.Period, Busy: c.options.Busy,
	})
	full := c.memory.polled(e.Name, verdict, seen.Purges)
	if err := c.write(ctx, e, verdict.Status); err != nil {
		return written(err)
	}
	c.memory.saw(e.Name)
	c.report(e, verdict, full)
	c.watchRebuild(e, verdict)
	if !c.rt.Observe {
		for _, call := range verdict.Calls {
			c.call(ctx, e, t, proxy, call)
		}
	}
	next := c.spread(verdict)
	busy := len(verdict.Calls) > 0 || seen.Volume != nil && seen.Volume.Expanding
	requeueAt, err := c.snapshots(ctx, t, proxy, snapshotexecutor.Poll{Engine: e, Run: runOf(e), Seen: seen, Began: began,
		Alone: c.alone(ctx, e), Adding: known.adding != "", Busy: busy, Period: c.options.Busy})
	again, problem := c.copies(ctx, backupexecutor.Poll{Engine: e, Run: runOf(e), Snapshots: seen.Snapshots, Proxy: proxy, Target: t.Target,
		Usable: e.Spec.Active && c.alone(ctx, e) && seen.RW(), Busy: busy, Period: c.options.Busy})
	for _, soon := range []time.Duration{proof, requeueAt, again} {
		if soon > 0 {
			next = min(next, soon)
		}
	}
	return ctrl.Result{RequeueAfter: next}, errors.Join(err, problem)
}

// report emits the events of a poll. full is true where a limit keeps a replica out, for another reason than before.
func (c *Controller) report(e *v1beta2.Engine, verdict engine.Verdict, full bool) {
	c.reportStranded(e, verdict)
	c.reportExpansion(e, verdict)
	if full {
		c.reportFull(e, verdict)
	}
}

// forget drops what is remembered of an engine that does not run.
func (c *Controller) forget(name string) {
	c.memory.forget(name)
	c.executor.Forget(name)
	c.backups.Forget(name)
}

// written is the end of a pass after its write: somebody else's write, or the engine's end, is no error.
func written(err error) (ctrl.Result, error) {
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// spread makes polls many quiet engines come one after the other.
func (c *Controller) spread(v engine.Verdict) time.Duration {
	if v.Going {
		return v.Next
	}
	return v.Next + time.Duration(c.random()*float64(v.Next)/5)
}

// runs reports whether the engine can be asked. A v2 engine is asked by its name: one without a frontend has no port.
func runs(e *v1beta2.Engine) bool {
	w := where(e)
	reached := w.ip != "" && w.manager != "" && !w.down && (w.port != 0 || e.Spec.DataEngine == v1beta2.DataEngineV2)
	return e.Spec.DesireState == v1beta2.InstanceStateRunning && w.state == v1beta2.InstanceStateRunning && reached
}

// target is an engine and the address of its instance manager.
type target struct {
	imclient.Target
	manager string
}

// reach finds out where the engine is asked; nil while its instance manager has no address.
func (c *Controller) reach(ctx context.Context, e *v1beta2.Engine) (target, *imclient.Proxy, error) {
	im := &v1beta2.InstanceManager{}
	err := c.rt.Client.Get(ctx, client.ObjectKey{Namespace: c.rt.Namespace, Name: e.Status.InstanceManagerName}, im)
	if apierrors.IsNotFound(err) || err == nil && im.Status.IP == "" {
		return target{}, nil, nil
	}
	if err != nil {
		return target{}, nil, fmt.Errorf("reading the instance manager of engine %s: %w", e.Name, err)
	}
	t := target{manager: im.Status.IP, Target: targetOf(e)}
	if e.Spec.DataEngine == v1beta2.DataEngineV2 && !e.Spec.DisableFrontend {
		var frontends v1beta2.EngineFrontendList
		if err := c.rt.Client.List(ctx, &frontends, client.InNamespace(c.rt.Namespace),
			client.MatchingFields{frontendsByVolume: e.Spec.VolumeName}, client.UnsafeDisableDeepCopy); err != nil {
			return target{}, nil, fmt.Errorf("listing the frontends of engine %s: %w", e.Name, err)
		}
		for i := range frontends.Items {
			if f := &frontends.Items[i]; f.Spec.EngineName == e.Name {
				t.Frontend = f.Name
			}
		}
	}
	proxy, err := c.pool.get(t.manager, c.rt.Clock.Now())
	return t, proxy, err
}

func targetOf(e *v1beta2.Engine) imclient.Target {
	return imclient.Target{Address: net.JoinHostPort(e.Status.StorageIP, strconv.Itoa(e.Status.Port)), Engine: e.Name,
		Volume: e.Spec.VolumeName, DataEngine: e.Spec.DataEngine}
}

// observe asks the engine what there is to know.
func (c *Controller) observe(ctx context.Context, proxy *imclient.Proxy, t imclient.Target, ask engine.Questions) (engine.Seen, error) {
	seen := engine.Seen{Began: c.rt.Clock.Now()}
	var err error
	if seen.Replicas, err = listed(ctx, proxy, t); err != nil {
		return seen, err
	}
	if seen.Snapshots, err = proxy.Snapshots(ctx, t); err != nil {
		return seen, err
	}
	if ask.Volume {
		v, err := proxy.Volume(ctx, t)
		if err != nil {
			return seen, err
		}
		seen.Volume = &engine.Volume{Size: v.Size, Expanding: v.Expanding, ExpansionError: v.ExpansionError, ExpansionAt: v.ExpansionEnd,
			SnapshotMaxCount: v.SnapshotMaxCount, SnapshotMaxSize: v.SnapshotMaxSize, UnmapMark: v.UnmapMarkSnapChainRemoved}
		if ask.RebuildLimit { // an engine that is too old does not know the question
			if limit, err := proxy.RebuildLimit(ctx, t); err == nil {
				seen.Volume.RebuildLimit = limit
			}
		}
	}
	if ask.Rebuilds {
		if seen.Rebuilds, err = proxy.Rebuilds(ctx, t); err != nil {
			return seen, err
		}
	}
	if ask.Clones {
		if seen.Clones, err = proxy.Clones(ctx, t); err != nil {
			return seen, err
		}
	}
	if ask.Purges {
		if seen.Purges, err = proxy.Purges(ctx, t); err != nil {
			return seen, err
		}
	}
	if ask.Restores {
		seen.Restores, err = proxy.Restores(ctx, t)
	}
	return seen, err
}

// write writes what differs from the version that was read.
func (c *Controller) write(ctx context.Context, e *v1beta2.Engine, wanted v1beta2.EngineStatus) error {
	if equality.Semantic.DeepEqual(e.Status, wanted) {
		return nil
	}
	after := e.DeepCopy()
	after.Status = wanted
	if err := c.rt.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(e, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("patching the status of engine %s: %w", e.Name, err)
	}
	return nil
}

// PollBeforeStop polls a running engine once more and writes the modes of its replicas, which no one can read after its end.
func (c *Controller) PollBeforeStop(ctx context.Context, e *v1beta2.Engine) error {
	if w := where(e); w.state != v1beta2.InstanceStateRunning || w.ip == "" || w.manager == "" {
		return nil
	}
	t, proxy, err := c.reach(ctx, e)
	if err != nil || proxy == nil {
		return err
	}
	seen := engine.Seen{Began: c.rt.Clock.Now()}
	if seen.Replicas, err = listed(ctx, proxy, t.Target); err != nil {
		c.pool.failed(t.manager, proxy, err)
		return err
	}
	wanted := engine.Decide(engine.World{Now: c.rt.Clock.Now(), Engine: e, Seen: seen}).Status
	wanted.Conditions = e.Status.Conditions // what fails was not asked about
	return c.write(ctx, e, wanted)
}
