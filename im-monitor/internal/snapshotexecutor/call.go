package snapshotexecutor

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
)

// call sends one call, after the engine, the volume and the Snapshots were read uncached. Snapshots that do not want it any more are left
// out of it; without one, and where one is needed, it is not sent.
func (h *Executor) call(ctx context.Context, l Poll, op string, names []string, wanted func(enginesnapshot.Snapshot) bool,
	send func(ctx context.Context, still []*v1beta2.Snapshot) error) (still []*v1beta2.Snapshot, out execute.Result) {
	out, err := h.guard.Do(ctx, execute.Call{
		Check: func(ctx context.Context, _ execute.Reading) (execute.Checked, error) {
			if err := h.may(ctx, l); err != nil {
				return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed, Message: err.Error()}}, nil
			}
			var err error
			if still, err = h.requested(ctx, l, names, wanted); err == nil && len(still) == 0 && len(names) > 0 {
				err = errors.New("no Snapshot requests it")
			}
			if err != nil {
				return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed, Message: err.Error()}}, nil
			}
			return execute.Checked{Allowed: true}, nil
		},
		Send: func(ctx context.Context, _ imclient.Client) error { return send(ctx, still) },
	})
	switch {
	case err != nil || out.Sent() || out.Interrupted:
	case out.Stop.Failure: // the engine reports it; no Snapshot is at fault
		h.ended(l, op, errors.New(out.Stop.Message), names...)
	default:
		h.log.Info("not called", "op", op, "engine", l.Engine.Name, "reason", out.Stop.Message)
	}
	return still, out
}

// after is when the next poll is due because of a try: at once after a call, soon where the checks took too long; zero is whenever.
func after(l Poll, out execute.Result) time.Duration {
	switch {
	case out.Sent():
		return soon
	case out.Stop.Failure:
		return l.Period
	}
	return 0
}

// sooner is the lesser of two waits; zero is whenever.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// take takes snapshots, one after the other, and reports when the next poll is due because of that.
func (h *Executor) take(ctx context.Context, l Poll, names []string) (next time.Duration) {
	for _, name := range names {
		still, out := h.call(ctx, l, opTake, []string{name}, enginesnapshot.MayTake,
			func(ctx context.Context, still []*v1beta2.Snapshot) error {
				return l.Proxy.CreateSnapshot(ctx, l.Target, name, still[0].Spec.Labels)
			})
		next = sooner(next, after(l, out))
		if !out.Sent() {
			continue
		}
		now := h.rt.Clock.Now()
		if out.Outcome == execute.Unanswered {
			h.memory.took(l, name, now, now.Add(h.options.PostElectionDelay))
		} else {
			h.memory.took(l, name, now, now)
		}
		h.ended(l, opTake, out.Err, name)
		if out.Outcome != execute.Accepted && out.Outcome != execute.Unanswered {
			h.failed(ctx, l, still[0], out.Err)
		}
	}
	return next
}

// failed reports that the engine refused, unless it has the snapshot nevertheless: some engines fail after taking it.
func (h *Executor) failed(ctx context.Context, l Poll, s *v1beta2.Snapshot, cause error) {
	list, err := l.Proxy.Snapshots(ctx, l.Target)
	if _, there := list[s.Name]; err != nil || there {
		return
	}
	h.answered(ctx, s, v1beta2.Condition{Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonFailed,
		Message: cause.Error()})
}

// remove removes snapshots in one call and purges once, and reports when the next poll is due because of that. A refusal of the engine is
// reported on each Snapshot.
func (h *Executor) remove(ctx context.Context, l Poll, evaluated map[string]*v1beta2.Snapshot, v enginesnapshot.Verdict) (
	next time.Duration) {
	if len(v.Remove) > 0 {
		still, out := h.call(ctx, l, opRemove, v.Remove, enginesnapshot.MayRemove,
			func(ctx context.Context, still []*v1beta2.Snapshot) error {
				return l.Proxy.RemoveSnapshots(ctx, l.Target, namesOf(still))
			})
		if next = after(l, out); !out.Sent() {
			return next
		}
		h.memory.removed(l, namesOf(still), h.rt.Clock.Now(), out.Outcome == execute.Accepted)
		h.ended(l, opRemove, out.Err, namesOf(still)...)
		if out.Outcome != execute.Accepted {
			h.notRemoved(ctx, l, still, out)
			return next
		}
	}
	if !v.Purge {
		return next
	}
	_, out := h.call(ctx, l, opPurge, nil, nil, func(ctx context.Context, _ []*v1beta2.Snapshot) error {
		return l.Proxy.PurgeSnapshots(ctx, l.Target)
	})
	if next = sooner(next, after(l, out)); !out.Sent() {
		return next
	}
	h.memory.purged(l, v.For, h.rt.Clock.Now(), out.Outcome == execute.Accepted)
	h.ended(l, opPurge, out.Err)
	if out.Outcome != execute.Accepted {
		var waiting []*v1beta2.Snapshot
		for _, name := range v.For {
			waiting = append(waiting, evaluated[name])
		}
		h.notRemoved(ctx, l, waiting, out)
	}
	return next
}

// notRemoved reports that the engine refused. An engine that did not answer may have removed them: the next poll shows that, unless it
// never answers.
func (h *Executor) notRemoved(ctx context.Context, l Poll, list []*v1beta2.Snapshot, out execute.Result) {
	reason := v1beta2.ReasonRefused
	if out.Outcome == execute.Unanswered {
		if reason = v1beta2.ReasonUnreachable; h.memory.unanswered(l) < unansweredMost {
			return
		}
	}
	for _, s := range list {
		h.answered(ctx, s, v1beta2.Condition{Type: v1beta2.SnapshotRemovalFailed, Status: v1beta2.ConditionTrue, Reason: reason,
			Message: out.Err.Error()})
	}
}

// may reads the engine and the volume uncached: no call is sent for a volume that moves or is being deleted.
func (h *Executor) may(ctx context.Context, l Poll) error {
	if err := h.still(ctx, l.Engine); err != nil {
		return err
	}
	v, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, l.Engine.Spec.VolumeName, &v1beta2.Volume{})
	if err != nil {
		return err
	}
	return engine.Stays(l.Engine, v)
}

// requested reads Snapshots uncached, and returns those that require the call.
func (h *Executor) requested(ctx context.Context, l Poll, names []string, wanted func(enginesnapshot.Snapshot) bool) (
	out []*v1beta2.Snapshot, err error) {
	known, err := h.uncached(ctx, l.Engine.Spec.VolumeName, names)
	if err != nil {
		return nil, err
	}
	uid := engine.VolumeUID(l.Engine.OwnerReferences, l.Engine.Spec.VolumeName)
	for _, name := range names {
		s := known[name]
		if s == nil || s.Spec.Volume != l.Engine.Spec.VolumeName || snapshotOf(s).Owner != uid || !wanted(snapshotOf(s)) {
			h.log.Info("not called", "snapshot", name, "engine", l.Engine.Name, "reason", "the Snapshot no longer requests it")
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// uncached reads the Snapshots of a volume by name, in one request: any number of them must be read in the time that a check has.
func (h *Executor) uncached(ctx context.Context, volume string, names []string) (map[string]*v1beta2.Snapshot, error) {
	out := map[string]*v1beta2.Snapshot{}
	switch len(names) {
	case 0:
		return out, nil
	case 1:
		s, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, names[0], &v1beta2.Snapshot{})
		out[names[0]] = s
		return out, err
	}
	var list v1beta2.SnapshotList
	err := lookup.List(ctx, h.rt.Uncached, h.rt.Namespace, &list, client.MatchingFields{selectVolume: volume})
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out, err
}

func namesOf(list []*v1beta2.Snapshot) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}

// ended records the result of a call.
func (h *Executor) ended(l Poll, op string, err error, names ...string) {
	log := h.log.WithValues("engine", l.Engine.Name, "op", op, "snapshots", names)
	if err == nil {
		calls.WithLabelValues(op, "ok").Inc()
		log.Info("called")
		return
	}
	calls.WithLabelValues(op, "failed").Inc()
	log.Info("call failed", "error", err.Error())
	events.Emit(h.rt.Recorder, l.Engine, failedEvent(op, err, names))
}
