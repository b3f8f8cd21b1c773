package removalcontroller

import (
	"context"
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// try is one try to destroy the data of a replica.
type try struct {
	*reconciler
	replica *v1beta2.Replica
	im      string
	polled  polls
	// request is what the check allowed.
	request imclient.DeleteRequest
}

// serve makes one try where one is due, and reports when to come back; zero means when something changes.
func (r *reconciler) serve(ctx context.Context, replica *v1beta2.Replica, im string) (time.Duration, error) {
	t := &try{reconciler: r, replica: replica, im: im}
	out, err := r.guard.Do(ctx, execute.Call{
		InstanceManager: im, Locks: []execute.Key{{InstanceManager: im, Name: replica.Name}}, Noun: "replica",
		NotBefore: r.memory.Of(replica.Name).NotBefore, List: true, Gather: t.gather, Check: t.check, Send: t.send, Record: t.record,
	})
	switch {
	case err != nil || out.Interrupted && !out.Sent():
		r.memory.failed(replica.Name, r.memory.Of(replica.Name).failure, r.rt.Clock.Now())
		return 0, err
	case out.Wait > 0:
		return out.Wait, nil
	}
	return kube.Until(r.memory.Of(replica.Name).NotBefore, r.rt.Clock.Now()), nil // it may have passed while a list was read
}

// gather reads what runs where an engine or another copy of the volume is.
func (t *try) gather(ctx context.Context) (err error) {
	t.polled, err = t.pollEngines(ctx, t.replica, t.im)
	return err
}

// check reads the objects uncached and, where the server does not compare UUIDs, the SPDK inventory once more.
func (t *try) check(ctx context.Context, at execute.Reading) (execute.Checked, error) {
	list, ok := t.store.Latest(t.im)
	if !ok {
		return execute.Checked{Stop: execute.Fail(v1beta2.ReasonUnreachable,
			"%s was lost meanwhile; the replica is checked again.", t.im)}, nil
	}
	world, err := t.callWorld(ctx, t.replica, at.Tried, t.polled)
	if err != nil {
		return execute.Checked{}, err
	}
	seen := list.Instances.At(t.replica.Name)
	call := removal.DecideCall(world)
	switch {
	case call.Failure != nil:
		return execute.Checked{Stop: execute.Stop{Result: call.Failure.Reason, Message: call.Failure.Message, Failure: true}}, nil
	case call.Held != "":
		return execute.Checked{Stop: execute.Stop{Result: resultHeld, Message: call.Held}}, nil
	case !call.Allowed || call.InstanceManager != t.im || seen.UUID != call.Instance.UUID:
		return execute.Checked{Stop: execute.Stop{Result: execute.Disagreed}}, nil
	}
	t.request = imclient.DeleteRequest{Name: t.replica.Name, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV2,
		UUID: seen.UUID, DiskUUID: t.replica.Spec.DiskID, CleanupRequired: true}
	return execute.Checked{Allowed: true, Stop: t.guard.SameUUID(ctx, t.im, seen, seen.UUID), Epoch: list.Epoch,
		Timeout: t.rt.RenewDeadline / 2}, nil
}

func (t *try) send(ctx context.Context, client imclient.Client) error {
	return client.Delete(ctx, t.request)
}

// record notes what the try brought. After a call that the server took it reads a list, which may show its effect.
func (t *try) record(ctx context.Context, out execute.Result) {
	result, failure := t.reported(out)
	message := out.Stop.Message
	if failure != nil {
		message = failure.Message
	}
	tries.WithLabelValues(result).Inc()
	log := t.logFor(t.replica).WithValues("instanceManager", t.im)
	if result == execute.Observed {
		log.Info("would destroy the replica's data", "uuid", t.request.UUID)
	}
	log.Info("removal tried", "result", result, "why", message)
	now := t.rt.Clock.Now()
	if !out.Outcome.Took() {
		t.memory.failed(t.replica.Name, failure, now)
		return
	}
	t.memory.sent(t.replica.Name, *out.Deletion(t.im, t.request), t.still(t.replica, t.im, t.request.UUID), now)
	t.poll(ctx, t.replica, t.im)
}

// reported is the result of a try as the metric has it, and as DataRemoved does; nil where that has nothing new to report.
func (t *try) reported(out execute.Result) (result string, failure *removal.Failure) {
	switch {
	case out.Stop.Failure:
		return out.Stop.Result, &removal.Failure{Reason: out.Stop.Result, Message: out.Stop.Message}
	case !out.Sent():
		return out.Stop.Result, nil
	case out.Outcome.Took():
		return string(out.Outcome), nil
	case imclient.IsOtherUUID(out.Err):
		return v1beta2.ReasonUUIDMismatch, &removal.Failure{Reason: v1beta2.ReasonUUIDMismatch,
			Message: fmt.Sprintf("%s refused to delete %s with UUID %s: %v.", t.im, t.replica.Name, t.request.UUID, out.Err)}
	}
	return v1beta2.ReasonUnreachable, &removal.Failure{Reason: v1beta2.ReasonUnreachable,
		Message: fmt.Sprintf("%s did not carry out the deletion of %s; it is checked and retried automatically. The error: %v.", t.im,
			t.replica.Name, out.Err)}
}

// still is the failure of an earlier call that was taken and had no effect.
func (r *reconciler) still(replica *v1beta2.Replica, im, uuid string) *removal.Failure {
	before := r.memory.Of(replica.Name)
	if before.call == nil || before.call.UUID != uuid {
		return nil
	}
	return &removal.Failure{Reason: v1beta2.ReasonUnreachable,
		Message: fmt.Sprintf("%s took the deletion of %s and still lists it; the call is repeated. If this persists, check the "+
			"logs of its pod.", im, replica.Name)}
}

// poll reads a list that may already show what happened.
func (r *reconciler) poll(ctx context.Context, replica *v1beta2.Replica, im string) {
	if _, err := r.guard.Fresh(ctx, im); err != nil {
		r.logFor(replica).V(1).Info("no fresh list", "instanceManager", im, "error", err.Error())
	}
}
