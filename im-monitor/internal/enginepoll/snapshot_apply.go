package enginepoll

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// applySnapshots writes what a poll means for the volume's Snapshots, and sends the calls that are due. It returns how long until the next
// poll is due because of them; zero is whenever. Writes that fail are logged, and repeated by a later poll.
func (p *poll) applySnapshots(ctx context.Context, v enginesnapshot.Verdict) time.Duration {
	if !p.reachable {
		if p.problem != nil {
			p.snapshotLog().Info("the engine's frontend cannot be reached", "engine", p.engine.Name, "frontend", p.direct.Frontend, "error",
				p.problem.Error())
		}
		return unreachableDelay
	}
	p.memory.keepSnapshots(p.engine.Name, v.Memory)
	p.writeSnapshots(ctx, v.Changes)
	next := p.until(v.RequeueAt)
	if !p.rt.Observe {
		p.mirror(ctx, v.Mirror)
		if called := sooner(p.take(ctx, v.Take), p.remove(ctx, v)); called > 0 {
			next = called
		}
	}
	return next
}

// writeSnapshots writes conditions, each to the version that was evaluated.
func (p *poll) writeSnapshots(ctx context.Context, changes []enginesnapshot.Change) {
	for _, c := range changes {
		if object := "conditions of Snapshot " + c.Name; p.due(object) {
			p.wrote(object, p.writeSnapshot(ctx, p.snapshots[c.Name], c.Condition))
		}
	}
}

// answerSnapshot writes the answer to a call about a Snapshot, unless the Snapshot is gone or another one since the call was checked.
func (c *Controller) answerSnapshot(ctx context.Context, called *v1beta2.Snapshot, is v1beta2.Condition) {
	s, err := lookup.Shared(ctx, c.rt.Uncached, c.rt.Namespace, called.Name, &v1beta2.Snapshot{})
	if err == nil && s != nil && s.UID == called.UID {
		err = c.writeSnapshot(ctx, s, is)
	}
	if err != nil {
		c.snapshotLog().Info("condition not written", "snapshot", called.Name, "error", err.Error())
	}
}

// writeSnapshot writes a condition to this version of a Snapshot.
func (c *Controller) writeSnapshot(ctx context.Context, s *v1beta2.Snapshot, is v1beta2.Condition) error {
	now := c.rt.Clock.Now()
	is.LastProbeTime = answeredAt(s, is, now).UTC().Format(time.RFC3339Nano)
	own := conditions.Owned(s.Status.Conditions, v1beta2.SnapshotProvisioned, v1beta2.SnapshotRemovalFailed, v1beta2.SnapshotWithdrawn)
	before := own
	if was := conditions.Get(own, is.Type); was != nil && was.Reason != is.Reason {
		before = conditions.Remove(own, is.Type) // the time of the transition reports since when it is so for this reason
	}
	list := conditions.Set(before, is, now)
	if conditions.Equal(own, list) && !answersAgain(s, is) {
		return nil
	}
	err := status.Apply(ctx, c.rt.Client, s, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)}, status.AtVersion())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the conditions of snapshot %s: %w", s.Name, err)
	}
	snapshotConditions.WithLabelValues(is.Type, is.Reason).Inc()
	c.snapshotLog().Info("snapshot", "snapshot", s.Name, "volume", s.Spec.Volume, "condition", is.Type, "status", is.Status,
		"reason", is.Reason, "message", is.Message)
	events.Emit(c.rt.Recorder, s, snapshotEvent(is))
	return nil
}

// answeredAt is now, but never before the request that is answered: the request has the time of another clock.
func answeredAt(s *v1beta2.Snapshot, c v1beta2.Condition, now time.Time) time.Time {
	asked := snapshotOf(s)
	at := asked.Requested
	if c.Type == v1beta2.SnapshotRemovalFailed {
		at = asked.Since
	}
	if now.Before(at) {
		return at
	}
	return now
}

// answersAgain reports whether a failure answers a request, or an approval, that came after the last one: only its time is new.
func answersAgain(s *v1beta2.Snapshot, c v1beta2.Condition) bool {
	now := snapshotOf(s)
	if c.Type == v1beta2.SnapshotRemovalFailed {
		return !enginesnapshot.FailedSince(now)
	}
	return c.Type == v1beta2.SnapshotProvisioned && enginesnapshot.AskedAnew(now.Requested, now.Provisioned)
}
