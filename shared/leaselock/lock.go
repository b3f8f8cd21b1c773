package leaselock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// Options are what a Lock needs beside the lease.
type Options struct {
	// Interval is the time between two renewals. An elector that renews more often writes no more often.
	Interval time.Duration
	Fence    *Fence
	Clock    clock.PassiveClock
	// Dead reports whether a holder is proven dead, so that its lease need not run out. Nil: no holder is.
	Dead func(holder string) bool
	// Lost is called when the lease that this process held has another holder, or none; once for each time of holding it.
	Lost func(error)
}

// Lock is a lease as leaderelection.LeaderElector wants it.
type Lock struct {
	resourcelock.Interface
	options Options

	mutex   sync.Mutex
	holds   bool      // as far as this process knows
	holder  string    // as last read from the API server
	renewed time.Time // the start of the last successful renewal
}

// New returns a lock on a lease.
func New(lease resourcelock.Interface, options Options) *Lock {
	return &Lock{Interface: lease, options: options}
}

// Get reads the lease. A holder that is proven dead is left out of the record.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err != nil {
		return record, raw, err
	}
	l.mutex.Lock()
	l.holder = record.HolderIdentity
	own := l.holder == l.Identity()
	lost := l.holds && !own
	l.holds = l.holds && own
	l.mutex.Unlock()
	if lost {
		l.lose(record.HolderIdentity)
	}
	if !own && l.options.Dead != nil && l.options.Dead(record.HolderIdentity) {
		free := *record
		free.HolderIdentity = ""
		return &free, raw, nil
	}
	return record, raw, nil
}

func (l *Lock) lose(holder string) {
	if l.options.Fence != nil {
		l.options.Fence.Close()
	}
	if l.options.Lost == nil {
		return
	}
	if holder == "" {
		holder = "no process"
	}
	l.options.Lost(fmt.Errorf("leader election lost: the lease %s is held by %s now, not by this process", l.Describe(), holder))
}

// Create creates the lease with this process as its holder.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	began := l.options.Clock.Now()
	if err := l.Interface.Create(ctx, record); err != nil {
		return err
	}
	l.took(began)
	return nil
}

// Update takes, renews or (no holder in the record) releases the lease. A renewal that comes before its time writes nothing; so does the
// release of a lease that another process holds.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		return l.release(ctx, record)
	}
	began := l.options.Clock.Now()
	if l.fresh(began) {
		return nil
	}
	if err := l.Interface.Update(ctx, record); err != nil {
		return err
	}
	l.took(began)
	return nil
}

// fresh reports whether a renewal is not due yet.
func (l *Lock) fresh(now time.Time) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.holds && now.Sub(l.renewed) < l.options.Interval
}

func (l *Lock) took(began time.Time) {
	l.mutex.Lock()
	l.holds, l.holder, l.renewed = true, l.Identity(), began
	l.mutex.Unlock()
	if l.options.Fence != nil {
		l.options.Fence.Renewed(began)
	}
}

// release follows a read of the lease: the elector reads it right before.
func (l *Lock) release(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.mutex.Lock()
	own := l.holder == l.Identity()
	l.holds = false
	l.mutex.Unlock()
	if l.options.Fence != nil {
		l.options.Fence.Close()
	}
	if !own {
		return nil
	}
	return l.Interface.Update(ctx, record)
}
