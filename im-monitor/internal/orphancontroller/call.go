package orphancontroller

import (
	"context"
	"fmt"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
)

// try is one try to delete the instance, or the data, of an approved Orphan.
type try struct {
	*executor
	key    orphan.Key
	orphan *v1beta2.Orphan
	// request is what the check allowed; of orphaned data it is the disk. still is the failure of an earlier call that had no effect.
	request imclient.DeleteRequest
	disk    imclient.DiskRef
	still   *orphan.Failure
}

// gather reads the inventories of places that may run an engine of the volume.
func (t *try) gather(ctx context.Context) error { return t.refreshPlaces(ctx, t.key, t.orphan) }

// check evaluates on objects uncached, decides about the call, and compares once more what the server itself does not compare.
func (t *try) check(ctx context.Context, at execute.Reading) (execute.Checked, error) {
	o, err := lookup.Shared(ctx, t.uncached, t.namespace, t.orphan.Name, &v1beta2.Orphan{})
	if err != nil {
		return execute.Checked{}, err
	}
	if o == nil || o.UID != t.orphan.UID {
		return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed}}, nil
	}
	seen, err := t.observe(ctx, readers{t.uncached, t.uncached}, t.key, at.List, []*v1beta2.Orphan{o})
	if err != nil {
		return execute.Checked{}, err
	}
	verdict := orphan.Evaluate(seen.world)
	if !executable(verdict) {
		return execute.Checked{Stop: t.disagreed(o, seen, verdict)}, nil
	}
	world, err := t.callWorld(ctx, seen)
	if err != nil {
		return execute.Checked{}, err
	}
	call := orphan.DecideCall(world, verdict)
	switch {
	case call.Failure.Reason != "":
		return execute.Checked{Stop: execute.Stop{Result: call.Failure.Reason, Message: call.Failure.Message, Failure: true}}, nil
	case !call.Allowed:
		return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed}}, nil
	}
	stop, err := t.allowed(ctx, o, at, call, seen.world)
	return execute.Checked{Allowed: true, Stop: stop, Epoch: at.List.Epoch, Timeout: t.callTimeout}, err
}

// allowed keeps what is sent, and reads again what the server does not compare.
func (t *try) allowed(ctx context.Context, o *v1beta2.Orphan, at execute.Reading, call orphan.Call, w orphan.World) (execute.Stop, error) {
	instance := at.List.Instances.At(t.key.Name)
	t.request = imclient.DeleteRequest{
		Name: t.key.Name, Type: instance.Type, DataEngine: o.Spec.DataEngine, DiskUUID: instance.DiskUUID,
		UUID: o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID], CleanupRequired: call.Cleanup,
	}
	if !isBlockData(o) {
		t.still = t.stillPresent(o, orphan.World{Key: t.key, Inventory: w.Inventory})
		return t.guard.SameUUID(ctx, t.key.InstanceManager, instance, t.request.UUID), nil
	}
	n, err := lookup.Shared(ctx, t.uncached, t.namespace, o.Spec.NodeID, &v1beta2.Node{})
	if err != nil {
		return execute.Stop{}, err
	}
	t.disk, t.still = diskOf(o, n), t.stillOnDisk(o, t.key)
	t.request = imclient.DeleteRequest{Name: t.key.Name, Type: v1beta2.InstanceTypeReplica, DiskUUID: t.disk.UUID, CleanupRequired: true}
	return t.sameData(ctx, t.key, t.disk), nil
}

// disagreed is why the try ends when the evaluation does not find the instance orphaned again. An engine whose server does not
// report its UUID any more gets an event; an instance that is still ending after a call is a failure of that call.
func (r *executor) disagreed(o *v1beta2.Orphan, seen scene, v orphan.Verdict) execute.Stop {
	instance := seen.world.Inventory.Instance
	if v.Evaluation.Reason == v1beta2.ReasonNoUUID && instance.Type == v1beta2.InstanceTypeEngine {
		events.Emit(r.recorder, o, engineSkippedEvent(seen.world.Key.Name))
	}
	if v.Evaluation.Reason == v1beta2.ReasonInventoryUnknown {
		// A list that was just read and still cannot be believed.
		return execute.Fail(v1beta2.ReasonUnreachable, "%s", v.Evaluation.Message)
	}
	if still := r.stillPresent(o, seen.world); still != nil {
		return execute.Fail(still.Reason, "%s", still.Message)
	}
	return execute.Stop{Result: execute.Disagreed}
}

// stillPresent is the failure of an earlier call after which this very instance is listed.
func (r *executor) stillPresent(o *v1beta2.Orphan, w orphan.World) *orphan.Failure {
	i := w.Inventory.Instance
	if isBlockData(o) || r.attempts.Of(o.UID).Calls == 0 || i == nil || i.UUID != o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID] {
		return nil
	}
	if w.Replica != nil && i.State == v1beta2.InstanceStateStopped {
		// Its runtime ended and its data stays; the evaluation waits for the list that proves it.
		return nil
	}
	return &orphan.Failure{Reason: v1beta2.ReasonStillPresent,
		Message: fmt.Sprintf("%s took the deletion of %s and still lists it as %s; the call is repeated.", w.Key.InstanceManager,
			w.Key.Name, i.State)}
}

// send sends the deletion of the instance.
func (t *try) send(ctx context.Context, client imclient.Client) error {
	return client.Delete(ctx, t.request)
}

// sendData destroys the data.
func (t *try) sendData(ctx context.Context, _ imclient.Client) error {
	return t.store.DeleteReplicaData(ctx, t.key.InstanceManager, t.disk, t.key.Name)
}

// record notes what the try brought. After a call that the server took it reads a list, which may show its effect.
func (t *try) record(ctx context.Context, out execute.Result) {
	result, failure := t.reported(out)
	deletions.WithLabelValues(result, t.orphan.Spec.DataEngine).Inc()
	log := t.logFor(t.key).WithValues("name", t.orphan.Name, "node", t.orphan.Spec.NodeID, "uuid",
		t.orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID], "cleanupRequired", t.request.CleanupRequired)
	if result == execute.Observed {
		log.Info("would delete the instance or the data")
	}
	log.Info("deletion tried", "result", result, "message", failure.Message)
	t.attempts.Change(t.orphan.UID, func(a *attempt) {
		now := t.clock.Now()
		switch {
		case t.took(out):
			a.accepted(*out.Deletion(t.key.InstanceManager, t.request), t.still, now)
		case failure.Reason != "":
			a.failed(failure, now)
		default:
			// The evaluation, which enqueues the executors, may not see yet what they saw.
			a.Fail(now)
		}
	})
	if t.took(out) {
		t.pollAfter(ctx, t.key)
	}
}

// took reports whether what the call asks for is under way or done. A server that knows nothing of a disk, or of data on it, destroyed
// none: the disk may not be loaded.
func (t *try) took(out execute.Result) bool {
	if isBlockData(t.orphan) {
		return out.Outcome == execute.Accepted
	}
	return out.Outcome.Took()
}

// reported is the result of a try as the metric has it, and as CleanupFailed does; empty where that has nothing to report.
func (t *try) reported(out execute.Result) (result string, failure orphan.Failure) {
	what, where := t.key.Name, ""
	if isBlockData(t.orphan) {
		what, where = "the data of "+t.key.Name, " on disk "+t.disk.Name
	}
	switch {
	case out.Stop.Failure:
		failure = orphan.Failure{Reason: out.Stop.Result, Message: out.Stop.Message}
	case !out.Sent():
		return out.Stop.Result, failure
	case t.took(out):
		return string(out.Outcome), failure
	case out.Outcome == execute.Unanswered:
		failure = orphan.Failure{Reason: v1beta2.ReasonUnreachable,
			Message: fmt.Sprintf("%s did not answer the deletion of %s; it is checked and retried automatically. The error: %v.",
				t.key.InstanceManager, what, out.Err)}
	default:
		failure = orphan.Failure{Reason: v1beta2.ReasonRefused,
			Message: fmt.Sprintf("%s refused to delete %s%s: %v.", t.key.InstanceManager, what, where, out.Err)}
	}
	return failure.Reason, failure
}
