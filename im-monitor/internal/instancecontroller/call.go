package instancecontroller

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/events"
)

// The outcomes of calls: a closed list, the label of a metric.
const (
	outcomeAccepted    = "Accepted"
	outcomeExists      = "AlreadyExists"
	outcomeNotFound    = "NotFound"
	outcomeRefused     = "Refused"
	outcomeUnreachable = "Unreachable"
)

// call sends it, remembers when it may be repeated, and reads a list that may show what it brought.
func (r *executor) call(ctx context.Context, key Key, o client.Object, call instance.Call) {
	connection, epoch, ok := r.store.Client(call.InstanceManager)
	if !ok {
		r.attempts.change(key, func(t *attempt) { t.failed(call, r.rt.Clock.Now()) })
		return
	}
	object, _ := read(o)
	var err error
	switch call.Op {
	case instance.OpCreate:
		r.attempts.change(key, func(t *attempt) { t.creating, t.deletion = true, nil })
		r.openTarget(ctx, key, object)
		err = connection.Create(ctx, createRequest(object, call))
		r.attempts.change(key, func(t *attempt) { t.creating, t.created = false, r.rt.Clock.Now() })
	case instance.OpDelete:
		err = r.delete(ctx, key, connection, epoch, object, call)
	case instance.OpSwitchOver, instance.OpRevert, instance.OpSuspend, instance.OpResume:
		r.attempts.change(key, func(t *attempt) { t.turning = true })
		err = r.turn(ctx, key, connection, object.Name, call)
		r.attempts.change(key, func(t *attempt) { t.turning, t.turned = false, r.rt.Clock.Now() })
	}
	r.remember(key, o, call, err)
	if !call.Out {
		r.pollAfter(ctx, key, call.InstanceManager)
	}
}

func (r *executor) delete(ctx context.Context, key Key, connection imclient.Client, epoch inventory.Epoch, object instance.Object,
	call instance.Call) error {
	timeout := stopTimeout
	if call.Out {
		timeout = outTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := connection.Delete(ctx, imclient.DeleteRequest{Name: object.Name, Type: object.Kind, DataEngine: object.DataEngine,
		UUID: call.UUID, ByName: call.ByName, DiskUUID: call.DiskUUID, CleanupRequired: call.Cleanup})
	if err == nil || errors.Is(err, imclient.ErrNotFound) {
		sent := &inventory.Call{InstanceManager: call.InstanceManager, Name: object.Name, UUID: call.UUID, Type: object.Kind,
			DiskUUID: object.Replica.DiskID,
			Epoch:    epoch, Ended: r.rt.Clock.Now()}
		r.attempts.change(key, func(t *attempt) { t.deletion = sent })
	}
	return err
}

// remember notes what a call brought. An existing instance is no error: the list reports whose it is.
func (r *executor) remember(key Key, o client.Object, call instance.Call, err error) {
	now := r.rt.Clock.Now()
	outcome := outcomeOf(err)
	callsTotal.WithLabelValues(string(call.Op), key.Kind, outcome).Inc()
	log := r.logFor(key).WithValues("op", call.Op, "instanceManager", call.InstanceManager, "uuid", call.UUID, "outcome", outcome)
	if err == nil || outcome == outcomeExists || outcome == outcomeNotFound && call.Op == instance.OpDelete {
		r.attempts.change(key, func(t *attempt) { t.accepted(call, now) })
		log.Info("called")
		return
	}
	refused := call.Op == instance.OpCreate && outcome == outcomeRefused
	r.attempts.change(key, func(t *attempt) {
		t.failed(call, now)
		// An answer may be lost once. A server that cannot reach an engine answers in the same way.
		declined := call.Op == instance.OpSwitchOver && (outcome != outcomeUnreachable || t.times > 1)
		if refused {
			t.refusals++
			t.refusal = err.Error()
		}
		if declined {
			t.decline(now)
		}
	})
	log.Info("called", "error", err.Error())
	if outcome == outcomeRefused {
		events.Emit(r.rt.Recorder, o, refusedEvent(key, call, err))
	}
}

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return outcomeAccepted
	case errors.Is(err, imclient.ErrAlreadyExists):
		return outcomeExists
	case errors.Is(err, imclient.ErrNotFound):
		return outcomeNotFound
	case errors.Is(err, imclient.ErrUnreachable):
		return outcomeUnreachable
	}
	return outcomeRefused
}

// pollAfter reads a list that may already show what happened.
func (r *executor) pollAfter(ctx context.Context, key Key, instanceManager string) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	if _, err := r.store.Fresh(ctx, instanceManager); err != nil {
		r.logFor(key).V(1).Info("no list after the call", "error", err.Error())
	}
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
