package csicontroller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"drover.dev/drover/shared/runkit"
)

// LeaseName is the lease of the external-attacher for this driver.
const LeaseName = "external-attacher-leader-driver-longhorn-io"

// election holds the external-attacher's lease and tells whether this process may act. Work under way ends before the
// lease is given back. A standby of the whole binary watches the lease, too, but does not take it: after a crash of the
// leader the two leases then run out at the same time, not one after the other.
type election struct {
	lock    resourcelock.Interface // nil: there is nothing to hold, this process always acts
	elected <-chan struct{}        // closed once this process leads the whole binary
	options Options
	// won is called at the beginning of each term.
	won     func(context.Context)
	leading func(bool)

	work sync.RWMutex // held for reading while work is under way
	term *term        // guarded by work; nil: this process does not act
}

// term is one time of leading.
type term struct {
	context.Context
	end   context.CancelFunc
	ended bool // guarded by work
}

// newElection never touches the lease of a process that only observes.
func newElection(rt *runkit.Runtime, options Options, leading func(bool), won func(context.Context)) (*election, error) {
	e := &election{options: options, won: won, leading: leading}
	if rt.Observe {
		return e, nil
	}
	lock, err := newLock(rt.Manager.GetConfig(), rt.Namespace, options)
	if err != nil {
		return nil, err
	}
	e.lock, e.elected = lock, rt.Manager.Elected()
	return e, nil
}

func newLock(config *rest.Config, namespace string, options Options) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this process for the external-attacher's lease: %w", err)
	}
	own := rest.CopyConfig(config)
	own.Timeout = max(options.RenewDeadline/2, time.Second) // a hung request must not cost the lease
	clients, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("building the client of the external-attacher's lease: %w", err)
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, namespace, LeaseName, clients.CoreV1(), clients.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
}

// NeedLeaderElection lets a standby of the binary watch the lease.
func (e *election) NeedLeaderElection() bool { return false }

// Start stands for election, again after each loss, until ctx ends.
func (e *election) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := e.stand(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stand returns when the lease is lost, or ctx ends.
func (e *election) stand(ctx context.Context) error {
	own, end := context.WithCancel(ctx)
	defer end()
	t := &term{Context: own, end: end}
	if e.lock == nil {
		e.begin(t)
		<-ctx.Done()
		e.stop(t)
		return nil
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lease{e.lock, e.elected, func() { e.stop(t) }},
		LeaseDuration: e.options.LeaseDuration, RenewDeadline: e.options.RenewDeadline, RetryPeriod: e.options.RetryPeriod,
		ReleaseOnCancel: true, Name: LeaseName,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { e.begin(t) },
			OnStoppedLeading: func() { e.stop(t) },
		},
	})
	if err != nil {
		return fmt.Errorf("standing for %s: %w", LeaseName, err)
	}
	elector.Run(ctx)
	return nil
}

// begin opens the term, unless it has ended before that.
func (e *election) begin(t *term) {
	e.work.Lock()
	open := !t.ended
	if open {
		e.term = t
	}
	e.work.Unlock()
	if open {
		e.leading(true)
		e.won(t)
	}
}

// stop ends the term and returns once no work of it is under way.
func (e *election) stop(t *term) {
	t.end()
	e.work.Lock()
	defer e.work.Unlock()
	t.ended, e.term = true, nil
	e.leading(false)
}

// enter begins work that dies with the term; ok is false where this process must not act. The caller calls done.
func (e *election) enter(ctx context.Context) (work context.Context, done func(), ok bool) {
	e.work.RLock()
	if e.term == nil || e.term.Err() != nil {
		e.work.RUnlock()
		return nil, nil, false
	}
	work, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(e.term, cancel)
	return work, func() { forget(); cancel(); e.work.RUnlock() }, true
}

// errStandby is why a standby does not take a lease that is free.
var errStandby = errors.New("this process does not lead attach-controller")

// lease is taken only by the process that leads the whole binary, and given back only after the work has ended.
type lease struct {
	resourcelock.Interface
	elected <-chan struct{}
	end     func()
}

// Update gets, renews or, without a holder, gives back the lease.
func (l lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.end()
		return l.Interface.Update(ctx, record)
	}
	select {
	case <-l.elected:
		return l.Interface.Update(ctx, record)
	default:
		return errStandby
	}
}
