package removalcontroller

import (
	"context"
	"time"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/shared/api/v1beta2"
)

// Options are the settings of this package.
type Options struct {
	// PostElectionDelay is how long after its election a leader leaves Replicas alone that are being deleted.
	PostElectionDelay time.Duration
	// Locks are shared with every other hand that changes instances; nil means that there is no other.
	Locks *execute.Locks
	// Poll asks a running engine for the modes of its replicas, by name, right before a call. Nil believes the engine's
	// status.
	Poll func(ctx context.Context, engine *v1beta2.Engine) (map[string]string, error)
}

const (
	// fieldOwner owns the condition DataRemoved and nothing else.
	fieldOwner = "im-monitor.removal"

	// workers wait for lists and the API server most of the time.
	workers = 16
	// callsPerManager keeps one hung instance manager from taking all workers.
	callsPerManager = 2

	// listTimeout bounds one complete list, pollTimeout the poll of an engine, readToCall the time between the last read of an
	// object and the call.
	listTimeout = 10 * time.Second
	pollTimeout = 5 * time.Second
	readToCall  = 2 * time.Second
	// triesToCall is how often the objects are read again when the checks took longer than readToCall.
	triesToCall = 3

	// After a failure it is tried again soon, after an accepted call the data gets time to go.
	failureDelay, failureDelayMax   = time.Second, time.Minute
	acceptedDelay, acceptedDelayMax = 10 * time.Second, 5 * time.Minute
	// busyDelay is the wait for a lock or a free slot.
	busyDelay = 200 * time.Millisecond
)
