package orphancontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
)

// Results of tries beside the reasons of CleanupFailed.
const (
	resultAccepted  = "Accepted"
	resultNotFound  = "NotFound"
	resultDisagreed = "Disagreed"
	resultObserved  = "Observed"
)

// triesToCall is how often the objects are read again when the checks took longer than readToCall.
const triesToCall = 3

// checkAndCall reads, in this order: a list begun after the approval was seen, the inventories of places that may run
// an engine of the volume, the custom resources uncached, and, where the server does not report UUIDs, the SPDK
// inventory once more. Only then, within readToCall of the custom resources, it calls.
func (r *executor) checkAndCall(ctx context.Context, key orphan.Key, o *v1beta2.Orphan) (outcome, error) {
	listCtx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	snapshot, err := r.store.Fresh(listCtx, key.InstanceManager)
	if err != nil {
		return failed(v1beta2.ReasonUnreachable,
			"%s does not answer; it is retried automatically. If this persists, check its pod and the network to its node. The error: %v.",
			key.InstanceManager, err), nil
	}
	if err := r.refreshPlaces(ctx, key, o); err != nil {
		return outcome{}, err
	}
	for range triesToCall {
		checked, err := r.check(ctx, key, o, snapshot)
		if err != nil {
			return outcome{}, err
		}
		if checked.refused != nil {
			return *checked.refused, nil
		}
		if out := r.sameAgain(ctx, key, o, checked); out != nil {
			return *out, nil
		}
		if r.clock.Since(checked.began) <= readToCall {
			if isBlockData(o) {
				return r.callData(ctx, key, o, snapshot, checked), nil
			}
			return r.call(ctx, key, o, snapshot, checked), nil
		}
	}
	return failed(v1beta2.ReasonUnreachable, "The checks took longer than %s every time; no call was sent.", readToCall), nil
}

// checked is what the checks allowed; refused reports why they did not. They read no object before they began.
type checked struct {
	began    time.Time
	instance imclient.Instance
	call     orphan.Call
	// disk is that of orphaned data.
	disk    imclient.DiskRef
	refused *outcome
}

// check evaluates on objects uncached and decides about the call.
func (r *executor) check(ctx context.Context, key orphan.Key, cached *v1beta2.Orphan, snapshot *inventory.Snapshot) (checked, error) {
	began := r.clock.Now()
	o, err := lookup.Shared(ctx, r.uncached, r.namespace, cached.Name, &v1beta2.Orphan{})
	if err != nil {
		return checked{}, err
	}
	if o == nil || o.UID != cached.UID {
		return checked{refused: &outcome{result: resultDisagreed}}, nil
	}
	seen, err := r.observe(ctx, readers{r.uncached, r.uncached}, key, snapshot, []*v1beta2.Orphan{o})
	if err != nil {
		return checked{}, err
	}
	verdict := orphan.Evaluate(seen.world)
	if !executable(verdict) {
		return checked{refused: r.disagreed(o, seen, verdict)}, nil
	}
	world, err := r.callWorld(ctx, seen)
	if err != nil {
		return checked{}, err
	}
	call := orphan.DecideCall(world, verdict)
	if call.Failure.Reason != "" {
		return checked{refused: &outcome{result: call.Failure.Reason, failure: call.Failure}}, nil
	}
	if !call.Allowed {
		return checked{refused: &outcome{result: resultDisagreed}}, nil
	}
	out := checked{began: began, instance: snapshot.Instances[key.Name], call: call}
	if isBlockData(o) {
		n, err := lookup.Shared(ctx, r.uncached, r.namespace, o.Spec.NodeID, &v1beta2.Node{})
		if err != nil {
			return checked{}, err
		}
		out.disk = diskOf(o, n)
	}
	return out, nil
}

// disagreed is the outcome when the evaluation does not find the instance orphaned again. An engine whose server does not
// report its UUID any more gets an event; an instance that is still ending after a call is a failure of that call.
func (r *executor) disagreed(o *v1beta2.Orphan, seen scene, v orphan.Verdict) *outcome {
	instance := seen.world.Inventory.Instance
	if v.Evaluation.Reason == v1beta2.ReasonNoUUID && instance.Type == v1beta2.InstanceTypeEngine {
		events.Emit(r.recorder, o, engineSkippedEvent(seen.world.Key.Name))
	}
	if v.Evaluation.Reason == v1beta2.ReasonInventoryUnknown {
		// A list that was just read and still cannot be believed.
		out := failed(v1beta2.ReasonUnreachable, "%s", v.Evaluation.Message)
		return &out
	}
	if still := r.stillPresent(o, seen.world); still != nil {
		return &outcome{result: still.Reason, failure: *still}
	}
	return &outcome{result: resultDisagreed}
}

// stillPresent is the failure of an earlier call after which this very instance is listed.
func (r *executor) stillPresent(o *v1beta2.Orphan, w orphan.World) *orphan.Failure {
	i := w.Inventory.Instance
	if isBlockData(o) || r.attempts.of(o.UID).calls == 0 || i == nil || i.UUID != o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID] {
		return nil
	}
	if w.Replica != nil && i.State == v1beta2.InstanceStateStopped {
		// Its runtime ended and its data stays; the evaluation waits for the list that proves it.
		return nil
	}
	return &orphan.Failure{Reason: v1beta2.ReasonStillPresent,
		Message: fmt.Sprintf("%s took the deletion of %s and still lists it as %s; the call is repeated.", w.Key.InstanceManager,
			w.Key.Name,
			i.State)}
}

// sameAgain compares once more what the server itself does not compare.
func (r *executor) sameAgain(ctx context.Context, key orphan.Key, o *v1beta2.Orphan, c checked) *outcome {
	if isBlockData(o) {
		return r.sameData(ctx, key, c.disk)
	}
	return r.sameHead(ctx, key, o, c)
}

// sameHead reads the UUID again where it was read from the head lvol: such a server does not compare it.
func (r *executor) sameHead(ctx context.Context, key orphan.Key, o *v1beta2.Orphan, c checked) *outcome {
	if c.instance.UUIDSource != imclient.UUIDFromHeadLvol {
		return nil
	}
	client, _, ok := r.store.Client(key.InstanceManager)
	if !ok {
		out := failed(v1beta2.ReasonUnreachable, "%s is not connected.", key.InstanceManager)
		return &out
	}
	listCtx, cancel := context.WithTimeout(ctx, readToCall)
	defer cancel()
	list, err := client.List(listCtx, imclient.CauseFresh, nil)
	if err != nil {
		out := failed(v1beta2.ReasonUnreachable, "%s does not report the UUID of %s any more: %v.", key.InstanceManager, key.Name, err)
		return &out
	}
	if now := list[key.Name]; now.UUID == "" || now.UUID != o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID] {
		// The inventory lists the same, and enqueues the evaluation.
		r.pollAfter(ctx, key)
		return &outcome{result: resultDisagreed}
	}
	return nil
}

// call sends the deletion. Its context ends with the leadership and before the lease could. Its deadline counts from the
// checks, so that a process that was paused after them, and leads no more, sends nothing when it continues (O17).
func (r *executor) call(ctx context.Context, key orphan.Key, o *v1beta2.Orphan, snapshot *inventory.Snapshot, c checked) outcome {
	request := imclient.DeleteRequest{
		Name: key.Name, Type: c.instance.Type, DataEngine: o.Spec.DataEngine, DiskUUID: c.instance.DiskUUID,
		UUID: o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID], CleanupRequired: c.call.Cleanup,
	}
	if r.observing {
		r.logFor(key).Info("would delete the instance", "name", o.Name, "uuid", request.UUID, "cleanupRequired", request.CleanupRequired)
		return outcome{result: resultObserved, cleanup: request.CleanupRequired}
	}
	client, epoch, ok := r.store.Client(key.InstanceManager)
	if !ok || epoch != snapshot.Epoch {
		return failed(v1beta2.ReasonUnreachable, "%s was reconnected meanwhile; the instance is checked again.", key.InstanceManager)
	}
	still := r.stillPresent(o, orphan.World{Key: key, Inventory: inventoryOf(snapshot, key.Name)})
	callCtx, cancel := context.WithTimeout(ctx, readToCall+r.callTimeout-r.clock.Since(c.began))
	defer cancel()
	err := client.Delete(callCtx, request)
	sent := &inventory.Call{InstanceManager: key.InstanceManager, Name: key.Name, UUID: request.UUID, Type: request.Type,
		DiskUUID: request.DiskUUID,
		Epoch:    epoch, Ended: r.clock.Now()}
	switch {
	case err == nil:
		return outcome{result: resultAccepted, call: sent, still: still, cleanup: request.CleanupRequired}
	case errors.Is(err, imclient.ErrNotFound):
		return outcome{result: resultNotFound, call: sent, still: still, cleanup: request.CleanupRequired}
	case errors.Is(err, imclient.ErrUnreachable):
		return failed(v1beta2.ReasonUnreachable,
			"%s did not answer the deletion of %s; it is checked and retried automatically. The error: %v.", key.InstanceManager,
			key.Name, err)
	}
	return failed(v1beta2.ReasonRefused, "%s refused to delete %s: %v.", key.InstanceManager, key.Name, err)
}

func failed(reason, format string, args ...any) outcome {
	return outcome{result: reason, failure: orphan.Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}
