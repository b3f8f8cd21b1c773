package runkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// elect sets up leader election where it is wanted, and the watch for a neighbour in any case. What it returns tells
// why this process must not lead.
func elect(ctx context.Context, cancel context.CancelCauseFunc, p Program, o options, config *rest.Config, log logr.Logger, known *contracts, into *ctrl.Options) (func() error, error) {
	var leading atomic.Bool
	appear := func(err error) {
		// A standby only waits; a leader, which may have work under way, stops at once.
		if leading.Load() || !o.leaderElect {
			cancel(fmt.Errorf("stopping: %w", err))
		}
	}
	if err := known.wait(ctx); err != nil {
		return nil, err
	}
	known.tell(appear)
	refuse := known.Err
	if !o.forceTakeOver {
		n, err := watchNeighbour(ctx, config, o.namespace, log, appear)
		if err != nil {
			return nil, err
		}
		refuse = func() error { return errors.Join(known.Err(), n.Err()) }
	}
	if !o.leaderElect {
		return refuse, refuse()
	}
	lock, err := newLock(p.Name, o, config)
	if err != nil {
		return nil, err
	}
	into.LeaderElection = true
	into.LeaderElectionReleaseOnCancel = true
	into.LeaderElectionResourceLockInterface = guardedLock{Interface: lock, refuse: func() error {
		if err := refuse(); err != nil {
			return err
		}
		leading.Store(true)
		return nil
	}}
	return refuse, nil
}

func newLock(program string, o options, config *rest.Config) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this process for the lease: %w", err)
	}
	// A hung request must not cost the lease.
	own := rest.CopyConfig(config)
	own.Timeout = max(o.renewDeadline/2, time.Second)
	clients, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("building the client of the lease: %w", err)
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, o.namespace, "drover-"+program,
		clients.CoreV1(), clients.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
}

// electedAt remembers when the process was first seen to lead. A late look gives a later time, never an earlier one.
func electedAt(ctx context.Context, elected <-chan struct{}, clock clock.PassiveClock) func() time.Time {
	var since atomic.Pointer[time.Time]
	look := func() time.Time {
		select {
		case <-elected:
			now := clock.Now()
			since.CompareAndSwap(nil, &now)
			return *since.Load()
		default:
			return time.Time{}
		}
	}
	go func() {
		select {
		case <-elected:
			look()
		case <-ctx.Done():
		}
	}()
	return look
}
