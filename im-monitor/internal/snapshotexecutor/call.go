package snapshotexecutor

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// take takes snapshots, one after the other, and reports whether a call was sent.
func (h *Executor) take(ctx context.Context, l Poll, names []string) (called bool) {
	if len(names) == 0 || !h.may(ctx, l, opTake) {
		return false
	}
	for _, name := range names {
		s := h.still(ctx, l, name, func(s *v1beta2.Snapshot) bool {
			return s.DeletionTimestamp == nil && s.Spec.CreateSnapshot && s.Status.RequestedTime != ""
		})
		if s == nil {
			continue
		}
		called = true
		err := l.Proxy.CreateSnapshot(ctx, l.Target, name, s.Spec.Labels)
		now := h.rt.Clock.Now()
		if errors.Is(err, imclient.ErrUnreachable) {
			h.memory.took(l, name, now, now.Add(h.options.PostElectionDelay))
		} else {
			h.memory.took(l, name, now, now)
		}
		h.ended(l, opTake, err, name)
		if err != nil && !errors.Is(err, imclient.ErrUnreachable) {
			h.failed(ctx, l, name, err)
		}
	}
	return called
}

// failed reports that the engine refused, unless it has the snapshot nevertheless: some engines fail after taking it.
func (h *Executor) failed(ctx context.Context, l Poll, name string, cause error) {
	list, err := l.Proxy.Snapshots(ctx, l.Target)
	if _, there := list[name]; err != nil || there {
		return
	}
	err = h.write(ctx, l, enginesnapshot.Change{Name: name, Condition: v1beta2.Condition{
		Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonFailed, Message: cause.Error(),
	}})
	if err != nil {
		h.log.Info("condition not written", "snapshot", name, "error", err.Error())
	}
}

// remove removes snapshots in one call and purges once, and reports whether a call was sent. A refusal of the engine is reported on
// each Snapshot.
func (h *Executor) remove(ctx context.Context, l Poll, v enginesnapshot.Verdict) (called bool) {
	if len(v.Remove) == 0 && !v.Purge || !h.may(ctx, l, opRemove) {
		return false
	}
	var still []string
	for _, name := range v.Remove {
		if h.still(ctx, l, name, approved) != nil {
			still = append(still, name)
		}
	}
	if len(still) > 0 {
		err := l.Proxy.RemoveSnapshots(ctx, l.Target, still)
		h.memory.removed(l, still, h.rt.Clock.Now(), err == nil)
		h.ended(l, opRemove, err, still...)
		if err != nil {
			h.notRemoved(ctx, l, still, err)
			return true
		}
	}
	if !v.Purge || len(v.Remove) > 0 && len(still) == 0 {
		return len(still) > 0
	}
	err := l.Proxy.PurgeSnapshots(ctx, l.Target)
	h.memory.purged(l, v.For, h.rt.Clock.Now(), err == nil)
	h.ended(l, opPurge, err)
	if err != nil {
		h.notRemoved(ctx, l, v.For, err)
	}
	return true
}

// notRemoved reports that the engine refused. An engine that did not answer may have removed them: the next poll shows that, unless it
// never answers.
func (h *Executor) notRemoved(ctx context.Context, l Poll, names []string, cause error) {
	reason := v1beta2.ReasonRefused
	if errors.Is(cause, imclient.ErrUnreachable) {
		if reason = v1beta2.ReasonUnreachable; h.memory.unanswered(l) < unansweredMost {
			return
		}
	}
	for _, name := range names {
		err := h.write(ctx, l, enginesnapshot.Change{Name: name, Condition: v1beta2.Condition{
			Type: v1beta2.SnapshotRemovalFailed, Status: v1beta2.ConditionTrue, Reason: reason, Message: cause.Error(),
		}})
		if err != nil {
			h.log.Info("condition not written", "snapshot", name, "error", err.Error())
		}
	}
}

// approved reports whether a Snapshot's data may go.
func approved(s *v1beta2.Snapshot) bool {
	now := snapshotOf(s)
	return now.Deleting && now.Approved && now.Withdrawn == nil
}

// may reads the engine and the volume uncached: no call is sent for a volume that moves or is being deleted.
func (h *Executor) may(ctx context.Context, l Poll, op string) bool {
	err := l.Still(ctx)
	if err == nil {
		var v *v1beta2.Volume
		v, err = h.volume(ctx, l)
		switch {
		case err != nil:
		case v == nil:
			err = fmt.Errorf("volume %s is gone, being deleted or another one", l.Engine.Spec.VolumeName)
		case v.Spec.MigrationNodeID != "" || v.Status.CurrentMigrationNodeID != "":
			err = fmt.Errorf("volume %s moves to another node", v.Name)
		}
	}
	if err != nil {
		h.log.Info("not called", "op", op, "engine", l.Engine.Name, "reason", err.Error())
	}
	return err == nil
}

// still reads a Snapshot uncached; nil where it no longer requires the call.
func (h *Executor) still(ctx context.Context, l Poll, name string, wanted func(*v1beta2.Snapshot) bool) *v1beta2.Snapshot {
	s := &v1beta2.Snapshot{}
	err := h.rt.Uncached.Get(ctx, client.ObjectKey{Namespace: h.rt.Namespace, Name: name}, s)
	uid := volumeUID(l.Engine.OwnerReferences, l.Engine.Spec.VolumeName)
	if err == nil && (s.Spec.Volume != l.Engine.Spec.VolumeName || volumeUID(s.OwnerReferences, s.Spec.Volume) != uid || !wanted(s)) {
		err = errors.New("the Snapshot no longer requests it")
	}
	if err != nil {
		h.log.Info("not called", "snapshot", name, "engine", l.Engine.Name, "reason", err.Error())
		return nil
	}
	return s
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
