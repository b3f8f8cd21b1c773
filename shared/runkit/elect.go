package runkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"drover.dev/drover/shared/leaderlabel"
	"drover.dev/drover/shared/leaselock"
)

// blockers report what blocks this process; nil: nothing does.
type blockers struct {
	// lead explains why it must not lead, write why the API server refuses its writes.
	lead, write func() error
}

// elect sets up leader election if it is wanted, and always the watch for longhorn-manager and for its webhooks.
func elect(ctx context.Context, cancel context.CancelCauseFunc, p Program, o options, process process, log logr.Logger, known *contracts,
	into *ctrl.Options) (blockers, error) {
	var leading atomic.Bool
	appear := func(err error) {
		// A standby only waits; a leader, which may have work under way, stops at once. A stateless program goes on, and refuses to write.
		if leading.Load() || !o.leaderElect && !p.Stateless {
			cancel(fmt.Errorf("stopping: %w", err))
		}
	}
	if err := known.wait(ctx); err != nil {
		return blockers{}, err
	}
	known.report(appear)
	refuse, beside := known.Err, appear
	if o.forceTakeOver {
		beside = nil
	}
	n, err := watchPeer(ctx, process.config, o.namespace, log, beside)
	if err != nil {
		return blockers{}, err
	}
	if !o.forceTakeOver {
		refuse = func() error { return errors.Join(known.Err(), n.Err()) }
	}
	left, err := watchWebhooks(ctx, process.config, log, n.Err)
	if err != nil {
		return blockers{}, err
	}
	n.whenAlone(left.report)
	against := blockers{lead: refuse, write: left.Err}
	if p.Stateless {
		return against, nil
	}
	if !o.leaderElect {
		return against, refuse()
	}
	lock, err := newLock(p, o, process, func(err error) { cancel(fmt.Errorf("stopping: %w", err)) })
	if err != nil {
		return blockers{}, err
	}
	into.LeaderElection = true
	into.LeaderElectionID = p.leaseName() // the label of the metric; the lease is the lock's
	into.LeaderElectionReleaseOnCancel = true
	into.LeaderElectionResourceLockInterface = guardedLock{Interface: lock, refuse: func() error {
		if err := refuse(); err != nil {
			return err
		}
		leading.Store(true)
		return nil
	}}
	return against, nil
}

// newLock returns the binary's own lease. Its requests pass no fence.
func newLock(p Program, o options, process process, lost func(error)) (resourcelock.Interface, error) {
	lease := leaselock.Lease{Namespace: o.namespace, Name: p.leaseName(), Identity: process.identity, Times: o.leaseTimes(),
		Labels: leaderLabels(p)}
	lock, err := lease.Prepare(process.config, process.fence, lost)
	if err != nil { // do not return a nil pointer as an interface
		return nil, err
	}
	return lock, nil
}

// leaderLabels show on the lease which version leads, and which contracts of the custom resource definitions it knows. What is no value of
// a label is left out: the API server would refuse the lease.
func leaderLabels(p Program) map[string]string {
	labels := map[string]string{leaderlabel.Version: version(p), leaderlabel.Contracts: strings.Join(p.Contracts, leaderlabel.Join)}
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" || len(validation.IsValidLabelValue(value)) > 0 })
	return labels
}

// process is this run of the program as the API server identifies it. Its config passes no fence.
type process struct {
	config   *rest.Config
	scheme   *runtime.Scheme
	mapper   meta.RESTMapper // of the kinds that the cache has, at least
	identity *leaselock.Identity
	fence    *leaselock.Fence
}

// fenced is a configuration whose writes pass the fence.
func (p process) fenced() *rest.Config {
	config := rest.CopyConfig(p.config)
	config.Wrap(p.fence.Transport)
	return config
}

// identity names this run. Without a usable lock file a crash of this process costs only the lease's duration.
func identity(lease string, o options, config *rest.Config, log logr.Logger) *leaselock.Identity {
	own, err := leaselock.NewIdentity(leaselock.Place{PodName: os.Getenv("POD_NAME"), PodUID: os.Getenv("POD_UID"),
		Directory: o.lockDirectory, Key: strings.Join([]string{config.Host, o.namespace, lease}, "\n")})
	if err != nil {
		log.Info("no lock file: after a crash this process waits until its lease has expired; set --lease-lock-dir to a directory that "+
			"can be written",
			"error", err.Error())
	}
	return own
}

// electedAt remembers when the process was first seen to lead. A late check gives a later time, never an earlier one.
func electedAt(ctx context.Context, elected <-chan struct{}, clock clock.PassiveClock) func() time.Time {
	var since atomic.Pointer[time.Time]
	poll := func() time.Time {
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
			poll()
		case <-ctx.Done():
		}
	}()
	return poll
}
