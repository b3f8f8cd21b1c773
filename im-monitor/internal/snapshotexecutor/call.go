package snapshotexecutor

import (
	"context"
	"errors"

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
			if still = h.requested(ctx, l, names, wanted); len(still) == 0 && len(names) > 0 {
				return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed, Message: "no Snapshot requests it"}}, nil
			}
			return execute.Checked{}, nil
		},
		Send: func(ctx context.Context, _ imclient.Client) error { return send(ctx, still) },
	})
	if err == nil && !out.Sent() && !out.Interrupted {
		h.log.Info("not called", "op", op, "engine", l.Engine.Name, "reason", out.Stop.Message)
	}
	return still, out
}

// take takes snapshots, one after the other, and reports whether a call was sent.
func (h *Executor) take(ctx context.Context, l Poll, names []string) (called bool) {
	for _, name := range names {
		still, out := h.call(ctx, l, opTake, []string{name}, enginesnapshot.MayTake,
			func(ctx context.Context, still []*v1beta2.Snapshot) error {
				return l.Proxy.CreateSnapshot(ctx, l.Target, name, still[0].Spec.Labels)
			})
		if !out.Sent() {
			continue
		}
		called = true
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
	return called
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

// remove removes snapshots in one call and purges once, and reports whether a call was sent. A refusal of the engine is reported on
// each Snapshot.
func (h *Executor) remove(ctx context.Context, l Poll, evaluated map[string]*v1beta2.Snapshot, v enginesnapshot.Verdict) (called bool) {
	if len(v.Remove) > 0 {
		still, out := h.call(ctx, l, opRemove, v.Remove, enginesnapshot.MayRemove,
			func(ctx context.Context, still []*v1beta2.Snapshot) error {
				return l.Proxy.RemoveSnapshots(ctx, l.Target, namesOf(still))
			})
		if !out.Sent() {
			return false
		}
		h.memory.removed(l, namesOf(still), h.rt.Clock.Now(), out.Outcome == execute.Accepted)
		h.ended(l, opRemove, out.Err, namesOf(still)...)
		if out.Outcome != execute.Accepted {
			h.notRemoved(ctx, l, still, out)
			return true
		}
		called = true
	}
	if !v.Purge {
		return called
	}
	_, out := h.call(ctx, l, opPurge, nil, nil, func(ctx context.Context, _ []*v1beta2.Snapshot) error {
		return l.Proxy.PurgeSnapshots(ctx, l.Target)
	})
	if !out.Sent() {
		return called
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
	return true
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
func (h *Executor) requested(ctx context.Context, l Poll, names []string, wanted func(enginesnapshot.Snapshot) bool) []*v1beta2.Snapshot {
	var out []*v1beta2.Snapshot
	uid := engine.VolumeUID(l.Engine.OwnerReferences, l.Engine.Spec.VolumeName)
	for _, name := range names {
		s, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, name, &v1beta2.Snapshot{})
		if err == nil && (s == nil || s.Spec.Volume != l.Engine.Spec.VolumeName || snapshotOf(s).Owner != uid || !wanted(snapshotOf(s))) {
			err = errors.New("the Snapshot no longer requests it")
		}
		if err != nil {
			h.log.Info("not called", "snapshot", name, "engine", l.Engine.Name, "reason", err.Error())
			continue
		}
		out = append(out, s)
	}
	return out
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
