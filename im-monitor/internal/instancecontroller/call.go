package instancecontroller

import (
	"context"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/events"
)

// The outcomes of calls as the metric has them: a closed list, and the words of package execute but for one.
const (
	outcomeRefused     = "Refused"
	outcomeUnreachable = "Unreachable"
)

// send sends the call.
func (t *try) send(ctx context.Context, connection imclient.Client) error {
	object, _ := read(t.object)
	switch t.call.Op {
	case instance.OpCreate:
		t.attempts.Change(t.key, func(a *attempt) { a.creating, a.deletion = true, nil })
		t.openTarget(ctx, t.key, object)
		err := connection.Create(ctx, createRequest(object, t.call))
		t.attempts.Change(t.key, func(a *attempt) { a.creating, a.created = false, t.rt.Clock.Now() })
		return err
	case instance.OpDelete:
		return connection.Delete(ctx, deleteRequest(object, t.call))
	}
	t.attempts.Change(t.key, func(a *attempt) { a.turning = true })
	err := t.turn(ctx, t.key, connection, t.object, t.call)
	t.attempts.Change(t.key, func(a *attempt) { a.turning, a.turned = false, t.rt.Clock.Now() })
	return err
}

// record notes when the call may be repeated, and reads a list that may show what it brought.
func (t *try) record(ctx context.Context, out execute.Result) {
	switch {
	case out.Stop.Result == execute.Observed:
		t.logFor(t.key).Info("would call", "op", t.call.Op, "instanceManager", t.call.InstanceManager, "uuid", t.call.UUID,
			"cleanupRequired", t.call.Cleanup)
		return
	case out.Stop.Failure:
		t.attempts.Change(t.key, func(a *attempt) { a.failed(t.call, t.rt.Clock.Now()) })
		t.logFor(t.key).Info("not called", "op", t.call.Op, "reason", out.Stop.Message)
	case !out.Sent():
		return
	case t.call.Op == instance.OpCreate && out.Outcome == execute.AlreadyExists:
		list := t.pollAfter(ctx, t.key, t.call.InstanceManager)
		t.sent(existing(out, list, t.key.Name))
	default:
		t.sent(out)
		if !t.call.Out {
			t.pollAfter(ctx, t.key, t.call.InstanceManager)
		}
	}
	t.reportQueue.Add(t.key)
}

// existing is the result of a creation that the server answered with AlreadyExists. Where a list that began after it lacks the name, the
// server declined: it has another instance in its place, as a frontend of the volume. Without such a list nothing is known.
func existing(out execute.Result, list *inventory.Snapshot, name string) execute.Result {
	if list != nil && list.Settled && !list.Instances.Has(name) {
		out.Outcome = execute.Refused
	}
	return out
}

// sent notes what a call brought. An existing instance of the name is no error: the list reports whose it is.
func (t *try) sent(out execute.Result) {
	now := t.rt.Clock.Now()
	outcome := labelOf(out.Outcome)
	callsTotal.WithLabelValues(string(t.call.Op), t.key.Kind, outcome).Inc()
	log := t.logFor(t.key).WithValues("op", t.call.Op, "instanceManager", t.call.InstanceManager, "uuid", t.call.UUID, "outcome", outcome)
	deletes := t.call.Op == instance.OpDelete
	if out.Outcome == execute.Accepted || out.Outcome == execute.AlreadyExists || out.Outcome == execute.NotFound && deletes {
		t.attempts.Change(t.key, func(a *attempt) {
			if out.Outcome == execute.AlreadyExists {
				a.found(t.call, now)
				return
			}
			a.accepted(t.call, now)
			if deletes && out.Outcome.Took() {
				object, _ := read(t.object)
				request := deleteRequest(object, t.call)
				request.DiskUUID = object.Replica.DiskID
				a.deletion = out.Deletion(t.call.InstanceManager, request)
			}
		})
		log.Info("called")
		return
	}
	t.attempts.Change(t.key, func(a *attempt) { a.notAccepted(t.call, out, now) })
	log.Info("called", "error", out.Err.Error())
	if out.Outcome.Declined() {
		events.Emit(t.rt.Recorder, t.object, refusedEvent(t.key, t.call, out.Err))
	}
}

// labelOf is an outcome as the metric has it.
func labelOf(outcome execute.Outcome) string {
	switch {
	case outcome.Declined():
		return outcomeRefused
	case outcome == execute.Unanswered:
		return outcomeUnreachable
	}
	return string(outcome)
}

// pollAfter reads a list that may already show what happened; nil where there is none.
func (r *executor) pollAfter(ctx context.Context, key Key, instanceManager string) *inventory.Snapshot {
	list, err := r.guard.Fresh(ctx, instanceManager)
	if err != nil {
		r.logFor(key).V(1).Info("no list after the call", "error", err.Error())
		return nil
	}
	return list
}

// deleteRequest is a deletion on the wire.
func deleteRequest(o instance.Object, call instance.Call) imclient.DeleteRequest {
	return imclient.DeleteRequest{Name: o.Name, Type: o.Kind, DataEngine: o.DataEngine, UUID: call.UUID, ByName: call.ByName,
		DiskUUID: call.DiskUUID, CleanupRequired: call.Cleanup}
}

// createRequest is a creation on the wire.
func createRequest(o instance.Object, call instance.Call) imclient.CreateRequest {
	c := call.Create
	out := imclient.CreateRequest{Name: o.Name, Type: o.Kind, DataEngine: o.DataEngine, Volume: o.Volume, PortCount: c.PortCount,
		PortArgs:   c.PortArgs,
		EngineName: c.EngineName, TargetAddress: c.TargetAddress}
	if s := c.SPDK; s != nil {
		out.SPDK = &imclient.SPDK{Replicas: s.Replicas, DiskName: s.DiskName, DiskUUID: s.DiskUUID, Size: s.Size, Frontend: s.Frontend,
			SalvageRequested: s.SalvageRequested, BackingImage: s.BackingImage, UblkQueueDepth: int32(s.UblkQueueDepth),
			UblkNumberOfQueue: int32(s.UblkNumberOfQueue), IOQueues: int32(s.IOQueues), SnapshotMaxCount: int32(s.SnapshotMaxCount)}
		return out
	}
	out.Process = &imclient.Process{Binary: c.Binary, Args: c.Args}
	return out
}
