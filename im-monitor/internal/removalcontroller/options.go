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
	// Poll asks a running engine for the modes of its replicas, by name, right before a call.
	Poll func(ctx context.Context, engine *v1beta2.Engine) (map[string]string, error)
}

const (
	// fieldOwner owns the condition DataRemoved and nothing else.
	fieldOwner = "im-monitor.removal"

	// workers wait for lists and the API server most of the time.
	workers = 16
	// callsPerManager keeps one hung instance manager from taking all workers.
	callsPerManager = 2

	// pollTimeout bounds the poll of an engine.
	pollTimeout = 5 * time.Second
)
