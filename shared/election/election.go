package election

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"drover.dev/drover/shared/leaselock"
	"drover.dev/drover/shared/runkit"
)

// Lease is the lease of the other program.
type Lease struct {
	Name string
	// The times of the lease; zero is that of the binary's own lease, so that after a crash both expire together.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// orOf is the lease with the binary's times where it has none of its own.
func (l Lease) orOf(rt *runkit.Runtime) Lease {
	return Lease{Name: l.Name, LeaseDuration: cmp.Or(l.LeaseDuration, rt.LeaseDuration),
		RenewDeadline: cmp.Or(l.RenewDeadline, rt.RenewDeadline),
		RetryPeriod:   cmp.Or(l.RetryPeriod, rt.RetryPeriod)}
}

// Election holds the other program's lease and reports whether this process may act. Work under way ends before the
// lease is given back. A standby of the whole binary watches the lease, too, but does not take it: after a crash of the
// leader both leases then expire at the same time, not one after the other.
type Election struct {
	// prepare returns the lease of one stand, and calls lost when another process holds it, or none; nil: no lease, this process always acts.
	prepare func(lost func()) (*leaselock.Lock, error)
	fence   *leaselock.Fence
	elected <-chan struct{} // closed once this process leads the whole binary
	lease   Lease
	// won is called at the beginning of each term.
	won     func(context.Context)
	leading func(bool)

	work sync.RWMutex // held for reading while work is under way
	term *term        // protected by work; nil: this process does not act
}

// term is one time of leading.
type term struct {
	context.Context
	end   context.CancelFunc
	ended bool // protected by work
}

// New returns an election to be added to the runtime's manager. leading is called each time that this process begins or ends
// to act, won is called at the beginning of each term. A process that only observes never changes the lease.
func New(rt *runkit.Runtime, lease Lease, leading func(bool), won func(context.Context)) (*Election, error) {
	lease = lease.orOf(rt)
	e := &Election{lease: lease, won: won, leading: leading}
	if rt.Observe {
		return e, nil
	}
	e.hold(rt.LeaseConfig, rt.Namespace, rt.Identity)
	e.elected = rt.Manager.Elected()
	return e, nil
}

// hold names the lease, and prepares its fence. The requests of the lease pass no fence.
func (e *Election) hold(config *rest.Config, namespace string, own *leaselock.Identity) {
	lease := leaselock.Lease{Namespace: namespace, Name: e.lease.Name, Identity: own, Times: e.lease.times()}
	e.fence = leaselock.NewFence(e.lease.RenewDeadline, clock.RealClock{})
	e.prepare = func(lost func()) (*leaselock.Lock, error) {
		return lease.Prepare(config, e.fence, func(error) { lost() })
	}
}

func (l Lease) times() leaselock.Times {
	return leaselock.Times{LeaseDuration: l.LeaseDuration, RetryPeriod: l.RetryPeriod}
}

// NeedLeaderElection lets a standby of the binary watch the lease.
func (e *Election) NeedLeaderElection() bool { return false }

// Start takes part in the election, again after each loss, until ctx ends.
func (e *Election) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := e.stand(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stand returns when the lease is lost, or ctx ends.
func (e *Election) stand(ctx context.Context) error {
	own, end := context.WithCancel(ctx)
	defer end()
	t := &term{Context: own, end: end}
	if e.prepare == nil {
		e.begin(t)
		<-ctx.Done()
		e.stop(t)
		return nil
	}
	// A lost term ends its elector, too, which could take the lease back but not begin the term again. The next stand does.
	lock, err := e.prepare(end)
	if err != nil {
		return err
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          binaryLeaderLock{lock, e.elected, func() { e.stop(t) }},
		LeaseDuration: e.lease.LeaseDuration, RenewDeadline: e.lease.times().ElectorDeadline(), RetryPeriod: e.lease.RetryPeriod,
		ReleaseOnCancel: true, Name: e.lease.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { e.begin(t) },
			OnStoppedLeading: func() { e.stop(t) },
		},
	})
	if err != nil {
		return fmt.Errorf("standing for %s: %w", e.lease.Name, err)
	}
	elector.Run(own)
	return nil
}

// begin opens the term, unless it has ended before that.
func (e *Election) begin(t *term) {
	e.work.Lock()
	open := !t.ended && t.Err() == nil
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
func (e *Election) stop(t *term) {
	t.end()
	e.work.Lock()
	defer e.work.Unlock()
	t.ended, e.term = true, nil
	e.leading(false)
}

// Enter begins work that is cancelled with the term; ok is false if this process must not act. The caller calls done.
func (e *Election) Enter(ctx context.Context) (work context.Context, done func(), ok bool) {
	e.work.RLock()
	if e.term == nil || e.term.Err() != nil || e.fence.Check() != nil {
		e.work.RUnlock()
		return nil, nil, false
	}
	work, cancel := context.WithCancel(e.fence.With(ctx))
	forget := context.AfterFunc(e.term, cancel)
	return work, func() { forget(); cancel(); e.work.RUnlock() }, true
}

// Resumes is how long to wait before work that Enter refused is tried again. Zero: no term is under way, and the next one begins with
// all. A term whose lease could not be renewed in time may still go on.
func (e *Election) Resumes() time.Duration {
	e.work.RLock()
	defer e.work.RUnlock()
	if e.term == nil {
		return 0
	}
	return e.lease.RetryPeriod
}

// binaryLeaderLock is a lease that only the process that leads the whole binary takes. It releases the lease only after the work has ended.
type binaryLeaderLock struct {
	*leaselock.Lock
	elected <-chan struct{}
	end     func()
}

// Get reads the lease. One that can be taken is read again once this process leads the whole binary.
func (l binaryLeaderLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Lock.Get(ctx)
	select {
	case <-l.elected:
		return record, raw, err
	default:
	}
	if err == nil && record.HolderIdentity != "" {
		return record, raw, nil
	}
	select {
	case <-l.elected:
		return l.Lock.Get(ctx)
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// Update acquires, renews or, without a holder, releases the lease.
func (l binaryLeaderLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.end()
	}
	return l.Lock.Update(ctx, record)
}
