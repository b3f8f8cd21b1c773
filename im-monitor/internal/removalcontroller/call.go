package removalcontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
)

// serve makes one try where one is due, and reports when to come back; zero means when something changes.
func (r *reconciler) serve(ctx context.Context, replica *v1beta2.Replica, im string) (time.Duration, error) {
	if wait := r.memory.of(replica.Name).notBefore.Sub(r.rt.Clock.Now()); wait > 0 {
		return wait, nil
	}
	release, ok := r.semaphore.Take(im, callsPerManager)
	if !ok {
		return busyDelay, nil
	}
	defer release()
	unlock, ok := r.options.Locks.TryLock(execute.Key{InstanceManager: im, Name: replica.Name})
	if !ok {
		return busyDelay, nil
	}
	defer unlock()
	out, err := r.try(ctx, replica, im)
	now := r.rt.Clock.Now()
	if err != nil || ctx.Err() != nil {
		r.memory.failed(replica.Name, r.memory.of(replica.Name).failure, now)
		return 0, err
	}
	tries.WithLabelValues(out.result).Inc()
	r.logFor(replica).Info("removal tried", "instanceManager", im, "result", out.result, "why", out.why())
	if out.call == nil {
		r.memory.failed(replica.Name, out.failure, now)
	} else {
		r.memory.sent(replica.Name, *out.call, r.still(replica, im, out.call.UUID), now)
		r.poll(ctx, replica, im)
	}
	return r.memory.of(replica.Name).notBefore.Sub(now), nil
}

// still is the failure of an earlier call that was taken and had no effect.
func (r *reconciler) still(replica *v1beta2.Replica, im, uuid string) *removal.Failure {
	before := r.memory.of(replica.Name)
	if before.call == nil || before.call.UUID != uuid {
		return nil
	}
	return &removal.Failure{Reason: v1beta2.ReasonUnreachable,
		Message: fmt.Sprintf("%s took the deletion of %s and still lists it; the call is repeated. If this persists, check the "+
			"logs of its pod.", im, replica.Name)}
}

// poll reads a list that may already show what happened.
func (r *reconciler) poll(ctx context.Context, replica *v1beta2.Replica, im string) {
	if err := r.fresh(ctx, im); err != nil {
		r.logFor(replica).V(1).Info("no fresh list", "instanceManager", im, "error", err.Error())
	}
}

func (r *reconciler) fresh(ctx context.Context, im string) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	_, err := r.store.Fresh(ctx, im)
	return err
}

// outcome is what one try brought.
type outcome struct {
	// result is the label of the metric.
	result string
	// failure is nil where DataRemoved must report nothing new; held is why the approval does not count.
	failure *removal.Failure
	held    string
	// call is set when it was sent and the server may have executed it.
	call *inventory.Call
}

func (o outcome) why() string {
	if o.failure != nil {
		return o.failure.Message
	}
	return o.held
}

func failed(reason, format string, args ...any) outcome {
	return outcome{result: reason, failure: &removal.Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// try reads, in this order: a list begun now, what runs where an engine or another copy of the volume is, the objects past
// the cache, and, where the server does not compare UUIDs, the SPDK inventory once more. Only then, within readToCall of
// the objects, it calls.
func (r *reconciler) try(ctx context.Context, replica *v1beta2.Replica, im string) (outcome, error) {
	began := r.rt.Clock.Now()
	if err := r.fresh(ctx, im); err != nil {
		return failed(v1beta2.ReasonUnreachable,
			"%s does not answer; it is retried automatically. If this persists, check its pod and the network to its node. "+
				"The error: %v.", im, err), nil
	}
	polled, err := r.pollEngines(ctx, replica, im)
	if err != nil {
		return outcome{}, err
	}
	for range triesToCall {
		reading := r.rt.Clock.Now()
		snapshot, ok := r.store.Latest(im)
		if !ok {
			return failed(v1beta2.ReasonUnreachable, "%s was lost meanwhile; the replica is checked again.", im), nil
		}
		world, err := r.callWorld(ctx, replica, began, polled)
		if err != nil {
			return outcome{}, err
		}
		call := removal.DecideCall(world)
		switch {
		case call.Failure != nil:
			return outcome{result: call.Failure.Reason, failure: call.Failure}, nil
		case call.Held != "":
			return outcome{result: resultHeld, held: call.Held}, nil
		case !call.Allowed || call.InstanceManager != im || snapshot.Instances[replica.Name].UUID != call.Instance.UUID:
			return outcome{result: resultDisagreed}, nil
		}
		if out := r.sameHead(ctx, replica, snapshot); out != nil {
			return *out, nil
		}
		if r.rt.Clock.Since(reading) <= readToCall {
			return r.call(ctx, replica, snapshot, reading), nil
		}
	}
	return failed(v1beta2.ReasonUnreachable, "Checking took longer than %s every time; nothing was called.", readToCall), nil
}

// sameHead reads the UUID again where it was read from the head lvol: such a server does not compare it.
func (r *reconciler) sameHead(ctx context.Context, replica *v1beta2.Replica, snapshot *inventory.Snapshot) *outcome {
	seen := snapshot.Instances[replica.Name]
	if seen.UUIDSource != imclient.UUIDFromHeadLvol {
		return nil
	}
	im := snapshot.InstanceManager
	client, _, ok := r.store.Client(im)
	if !ok {
		out := failed(v1beta2.ReasonUnreachable, "%s is not connected.", im)
		return &out
	}
	listCtx, cancel := context.WithTimeout(ctx, readToCall)
	defer cancel()
	list, err := client.List(listCtx, imclient.CauseFresh, nil)
	if err != nil {
		out := failed(v1beta2.ReasonUnreachable, "%s does not report the UUID of %s any more: %v.", im, replica.Name, err)
		return &out
	}
	if list[replica.Name].UUID != seen.UUID {
		// The inventory learns the same, and enqueues us.
		r.poll(ctx, replica, im)
		return &outcome{result: resultDisagreed}
	}
	return nil
}

// call sends the deletion. Its context ends with the leadership and before the lease could. Its deadline counts from the
// checks, so that a process that was paused after them, and leads no more, sends nothing when it continues.
func (r *reconciler) call(ctx context.Context, replica *v1beta2.Replica, snapshot *inventory.Snapshot, checked time.Time) outcome {
	im, seen := snapshot.InstanceManager, snapshot.Instances[replica.Name]
	request := imclient.DeleteRequest{Name: replica.Name, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV2,
		UUID: seen.UUID, DiskUUID: replica.Spec.DiskID, CleanupRequired: true}
	if r.rt.Observe {
		r.logFor(replica).Info("would destroy the replica's data", "instanceManager", im, "uuid", request.UUID)
		return outcome{result: resultObserved}
	}
	client, epoch, ok := r.store.Client(im)
	if !ok || epoch != snapshot.Epoch {
		return failed(v1beta2.ReasonUnreachable, "%s was reconnected meanwhile; the replica is checked again.", im)
	}
	callCtx, cancel := context.WithTimeout(ctx, readToCall+r.rt.RenewDeadline/2-r.rt.Clock.Since(checked))
	defer cancel()
	err := client.Delete(callCtx, request)
	sent := &inventory.Call{InstanceManager: im, Name: replica.Name, UUID: request.UUID, Type: request.Type, DiskUUID: request.DiskUUID,
		Epoch: epoch, Ended: r.rt.Clock.Now()}
	switch {
	case err == nil:
		return outcome{result: resultAccepted, call: sent}
	case errors.Is(err, imclient.ErrNotFound):
		return outcome{result: resultNotFound, call: sent}
	case errors.Is(err, imclient.ErrRefused):
		return failed(v1beta2.ReasonUUIDMismatch, "%s refused to delete %s with UUID %s: %v.", im, replica.Name, request.UUID, err)
	}
	return failed(v1beta2.ReasonUnreachable, "%s did not carry out the deletion of %s; it is checked and retried automatically. The "+
		"error: %v.", im, replica.Name, err)
}
