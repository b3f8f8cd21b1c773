package enginepoll

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

// callSnapshots sends one call, after what it rests on was read. Snapshots that do not want it any more are left out of it; without one,
// and where one is needed, it is not sent.
func (p *poll) callSnapshots(ctx context.Context, op string, names []string, wanted func(enginesnapshot.Snapshot) bool,
	send func(ctx context.Context, still []*v1beta2.Snapshot) error) (still []*v1beta2.Snapshot, out execute.Result) {
	out, err := p.guarded(ctx, p.through, execute.Call{
		Check: func(ctx context.Context, at execute.Reading) (execute.Checked, error) {
			if op == opPurge && p.rt.Clock.Since(p.removalRead) <= execute.ReadToCall {
				return execute.Checked{Allowed: true, Since: p.removalRead}, nil
			}
			from, err := p.readFor(ctx, op)
			if err == nil {
				still, err = p.requested(ctx, from, names, wanted)
			}
			if err == nil && len(still) == 0 && len(names) > 0 {
				return execute.Checked{Stop: execute.Stop{Result: notRequested, Message: "no Snapshot requests it"}}, nil
			}
			if err == nil && op == opRemove {
				p.removalRead = at.Began
			}
			return allowed(err), nil
		},
		Send: func(ctx context.Context, _ imclient.Client) error { return send(ctx, still) },
	})
	p.snapshotsCalled = p.snapshotsCalled || out.Sent()
	p.keepOpen(p.engine, out.Outcome)
	switch {
	case err != nil || out.Sent() || out.Interrupted:
	case out.Stop.Failure: // the engine reports it; no Snapshot is at fault
		p.snapshotsEnded(op, errors.New(out.Stop.Message), names...)
	default:
		p.snapshotLog().Info("not called", "op", op, "engine", p.engine.Name, "reason", out.Stop.Message)
	}
	return still, out
}

// readFor reads the engine, its volume and the volume's other engines, uncached, before a call that removes, and returns from where to read
// the Snapshots. To take one, the cache suffices: one that is not wanted any more destroys nothing, and goes with its Snapshot's deletion;
// a volume that moves has another engine that is to run.
func (p *poll) readFor(ctx context.Context, op string) (from client.Reader, err error) {
	if op != opTake {
		_, err = p.stays(ctx, *p.through)
		return p.rt.Uncached, err
	}
	if _, err = p.unchanged(ctx, p.rt.Client, *p.through, ""); err == nil {
		err = p.onlyEngine(ctx, p.rt.Client, p.engine)
	}
	return p.rt.Client, err
}

// notRequested is the result of a try that no Snapshot requests any more.
const notRequested = "NotRequested"

// after is when the next poll is due because of a try: at once after a call, soon where a check stopped what is still requested, or the
// checks took too long; zero is whenever.
func (p *poll) after(out execute.Result) time.Duration {
	switch {
	case out.Sent():
		return soon
	case out.Stop.Failure || out.Stop.Result == execute.Disagreed:
		return p.options.Busy
	}
	return 0
}

// take takes snapshots, one after the other, and reports when the next poll is due because of that.
func (p *poll) take(ctx context.Context, names []string) (next time.Duration) {
	for _, name := range names {
		still, out := p.callSnapshots(ctx, opTake, []string{name}, enginesnapshot.MayTake,
			func(ctx context.Context, still []*v1beta2.Snapshot) error {
				return p.through.proxy.CreateSnapshot(ctx, p.through.Target, name, still[0].Spec.Labels)
			})
		next = sooner(next, p.after(out))
		if !out.Sent() {
			continue
		}
		now := p.rt.Clock.Now()
		if out.Outcome == execute.Unanswered {
			p.memory.took(p.engine.Name, name, now, now.Add(p.options.PostElectionDelay))
		} else {
			p.memory.took(p.engine.Name, name, now, now)
		}
		p.snapshotsEnded(opTake, out.Err, name)
		if out.Outcome != execute.Accepted && out.Outcome != execute.Unanswered {
			p.snapshotRefused(ctx, still[0], out.Err)
		}
	}
	return next
}

// snapshotRefused reports that the engine refused, unless it has the snapshot nevertheless: some engines fail after taking it.
func (p *poll) snapshotRefused(ctx context.Context, s *v1beta2.Snapshot, cause error) {
	list, err := p.through.proxy.Snapshots(ctx, p.through.Target)
	p.pool.failed(*p.through, err)
	if _, there := list[s.Name]; err != nil || there {
		return
	}
	p.answerSnapshot(ctx, s, v1beta2.Condition{Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonFailed,
		Message: cause.Error()})
}

// remove removes snapshots in one call and purges once, and reports when the next poll is due because of that. A refusal of the engine is
// reported on each Snapshot.
func (p *poll) remove(ctx context.Context, v enginesnapshot.Verdict) (next time.Duration) {
	if len(v.Remove) > 0 {
		still, out := p.callSnapshots(ctx, opRemove, v.Remove, enginesnapshot.MayRemove,
			func(ctx context.Context, still []*v1beta2.Snapshot) error {
				return p.through.proxy.RemoveSnapshots(ctx, p.through.Target, namesOf(still))
			})
		if next = p.after(out); !out.Sent() {
			return next
		}
		p.memory.removed(p.engine.Name, namesOf(still), p.rt.Clock.Now(), out.Outcome == execute.Accepted)
		p.snapshotsEnded(opRemove, out.Err, namesOf(still)...)
		if out.Outcome != execute.Accepted {
			p.notRemoved(ctx, still, out)
			return next
		}
	}
	if !v.Purge {
		return next
	}
	_, out := p.callSnapshots(ctx, opPurge, nil, nil, func(ctx context.Context, _ []*v1beta2.Snapshot) error {
		return p.through.proxy.PurgeSnapshots(ctx, p.through.Target)
	})
	if next = sooner(next, p.after(out)); !out.Sent() {
		return next
	}
	p.memory.purged(p.engine.Name, v.For, p.rt.Clock.Now(), out.Outcome == execute.Accepted)
	p.snapshotsEnded(opPurge, out.Err)
	if out.Outcome != execute.Accepted {
		var waiting []*v1beta2.Snapshot
		for _, name := range v.For {
			waiting = append(waiting, p.snapshots[name])
		}
		p.notRemoved(ctx, waiting, out)
	}
	return next
}

// notRemoved reports that the engine refused. An engine that did not answer may have removed them: the next poll shows that, unless it
// never answers.
func (p *poll) notRemoved(ctx context.Context, list []*v1beta2.Snapshot, out execute.Result) {
	reason := v1beta2.ReasonRefused
	if out.Outcome == execute.Unanswered {
		if reason = v1beta2.ReasonUnreachable; p.memory.unansweredRemoval(p.engine.Name) < unansweredMost {
			return
		}
	}
	for _, s := range list {
		p.answerSnapshot(ctx, s, v1beta2.Condition{Type: v1beta2.SnapshotRemovalFailed, Status: v1beta2.ConditionTrue, Reason: reason,
			Message: out.Err.Error()})
	}
}

// requested reads Snapshots from a reader, and returns those that require the call.
func (p *poll) requested(ctx context.Context, from client.Reader, names []string, wanted func(enginesnapshot.Snapshot) bool) (
	out []*v1beta2.Snapshot, err error) {
	known, err := p.named(ctx, from, names)
	if err != nil {
		return nil, err
	}
	uid := engine.VolumeUID(p.engine.OwnerReferences, p.engine.Spec.VolumeName)
	for _, name := range names {
		s := known[name]
		if s == nil || s.Spec.Volume != p.engine.Spec.VolumeName || snapshotOf(s).Owner != uid || !wanted(snapshotOf(s)) {
			p.snapshotLog().Info("not called", "snapshot", name, "engine", p.engine.Name, "reason", "the Snapshot no longer requests it")
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// named reads Snapshots of the volume by name, in one request: any number of them must be read in the time that a check has.
func (p *poll) named(ctx context.Context, from client.Reader, names []string) (map[string]*v1beta2.Snapshot, error) {
	out := map[string]*v1beta2.Snapshot{}
	switch len(names) {
	case 0:
		return out, nil
	case 1:
		s, err := lookup.Shared(ctx, from, p.rt.Namespace, names[0], &v1beta2.Snapshot{})
		out[names[0]] = s
		return out, err
	}
	var list v1beta2.SnapshotList
	err := lookup.List(ctx, from, p.rt.Namespace, &list, client.MatchingFields{selectVolume: p.engine.Spec.VolumeName})
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

// snapshotsEnded records the result of a call.
func (p *poll) snapshotsEnded(op string, err error, names ...string) {
	log := p.snapshotLog().WithValues("engine", p.engine.Name, "op", op, "snapshots", names)
	if err == nil {
		snapshotCalls.WithLabelValues(op, "ok").Inc()
		log.Info("called")
		return
	}
	snapshotCalls.WithLabelValues(op, "failed").Inc()
	log.Info("call failed", "error", err.Error())
	events.Emit(p.rt.Recorder, p.engine, snapshotsFailedEvent(op, err, names))
}
