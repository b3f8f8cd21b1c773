package leaselock

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// Options are what a Lock needs beside the lease.
type Options struct {
	// Interval is the time between two renewals. An elector that renews more often writes no more often.
	Interval time.Duration
	// Rests lets a renewal that comes too early wait until a Retry before it is due: an elector then comes back when it is.
	Rests bool
	// Duration is how long the lease must have been unchanged before another process takes it.
	Duration time.Duration
	// Watch begins a watch of the lease, which ends with the context; a new one is begun a Retry after it ended. Nil: a standby reads the
	// lease each time that the elector does.
	Watch func(context.Context) (watch.Interface, error)
	Retry time.Duration
	Fence *Fence
	Clock clock.WithTicker
	// Dead reports whether a holder is proven dead, so that its lease need not run out. Nil: no holder is.
	Dead func(holder string) bool
	// Lost is called when the lease that this process held has another holder, or none; once for each time of holding it.
	Lost func(error)
}

// Lock is a lease as one leaderelection.LeaderElector wants it.
type Lock struct {
	resourcelock.Interface
	options Options
	wake    chan struct{} // has a value once a standby's lease may be free

	mutex   sync.Mutex
	standby standby
	held    bool      // this process has held the lease: it is no standby
	holds   bool      // as far as this process knows
	holder  string    // as last read from the API server
	renewed time.Time // the start of the last successful renewal
	since   time.Time // when this process took the lease
	stamp   time.Time // the time of renewal that was written last
}

// New returns a lock on a lease.
func New(lease resourcelock.Interface, options Options) *Lock {
	return &Lock{Interface: lease, options: options, wake: make(chan struct{}, 1)}
}

// Get reads the lease. While another process holds it, a standby's Get waits. A lease that can be taken has no holder in the record.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	for {
		record, raw, err := l.Interface.Get(ctx)
		if err != nil {
			return record, raw, err
		}
		free, wait := l.read(record, raw)
		if free {
			taken := *record
			taken.HolderIdentity = ""
			return &taken, raw, nil
		}
		if !wait || !l.awaitFree(ctx) {
			return l.heldRecord(record), raw, nil
		}
	}
}

// heldRecord returns a record that an elector does not take for a free lease.
func (l *Lock) heldRecord(record *resourcelock.LeaderElectionRecord) *resourcelock.LeaderElectionRecord {
	if record.HolderIdentity != "" {
		return record
	}
	held := *record
	held.HolderIdentity, held.LeaseDurationSeconds = noHolder, int(l.options.Duration/time.Second)
	return &held
}

// noHolder stands for the holder of a lease that somebody emptied, until it has run out.
const noHolder = "no process"

// read takes what was read of the lease: can it be taken, and does this process wait until it can?
func (l *Lock) read(record *resourcelock.LeaderElectionRecord, raw []byte) (free, wait bool) {
	l.mutex.Lock()
	l.holder = record.HolderIdentity
	own := l.holder == l.Identity()
	lost := l.holds && !own
	l.holds = l.holds && own
	free = !own && l.observe(record, raw)
	wait = !own && !l.held && l.options.Watch != nil
	l.mutex.Unlock()
	if lost {
		l.lose(record.HolderIdentity)
	}
	return free, wait
}

func (l *Lock) lose(holder string) {
	if l.options.Fence != nil {
		l.options.Fence.Close()
	}
	if l.options.Lost == nil {
		return
	}
	if holder == "" {
		holder = noHolder
	}
	l.options.Lost(fmt.Errorf("leader election lost: the lease %s is held by %s now, not by this process", l.Describe(), holder))
}

// Create creates the lease with this process as its holder.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	began := l.options.Clock.Now()
	if err := l.Interface.Create(ctx, l.dated(record, began)); err != nil {
		return err
	}
	l.took(began)
	return nil
}

// Update takes, renews or (no holder in the record) releases the lease. A renewal that comes before its time writes nothing, and waits if
// Options.Rests. The release of a lease that another process holds writes nothing, either.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		return l.release(ctx, record)
	}
	began := l.options.Clock.Now()
	if left := l.untilDue(began); left > 0 {
		l.rest(ctx, left)
		return nil
	}
	if err := l.Interface.Update(ctx, l.dated(record, began)); err != nil {
		return err
	}
	l.took(began)
	return nil
}

// dated returns the record with the times of its request. The elector has those of before the wait for the lease.
func (l *Lock) dated(record resourcelock.LeaderElectionRecord, began time.Time) resourcelock.LeaderElectionRecord {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.held {
		l.since = began
	}
	stamp := began
	if stamp.Unix() == l.stamp.Unix() { // its clock was set back: a renewal must change the lease, which has whole seconds
		stamp = stamp.Add(time.Second)
	}
	l.stamp = stamp
	record.AcquireTime, record.RenewTime = metav1.NewTime(l.since), metav1.NewTime(stamp)
	return record
}

// untilDue is the time until a renewal is due.
func (l *Lock) untilDue(now time.Time) time.Duration {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.holds {
		return 0
	}
	return l.options.Interval - now.Sub(l.renewed)
}

// rest waits until a Retry before a renewal is due, or until ctx ends. The lease is not touched: what fences its holder does not wait.
func (l *Lock) rest(ctx context.Context, left time.Duration) {
	left -= l.options.Retry
	if !l.options.Rests || left <= 0 {
		return
	}
	timer := l.options.Clock.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

func (l *Lock) took(began time.Time) {
	l.mutex.Lock()
	l.held, l.holds, l.holder, l.renewed = true, true, l.Identity(), began
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
