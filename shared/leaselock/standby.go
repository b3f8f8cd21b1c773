package leaselock

import (
	"context"
	"encoding/json"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// standby is what a process that waits for a lease knows of it.
type standby struct {
	watching bool
	holder   bool      // a holder was seen that has not released the lease
	seen     string    // the lease as last seen
	expires  time.Time // when it can be taken, unless it changes before that
}

// observe remembers a state of the lease; free reports whether the lease can be taken. The caller holds the mutex.
func (l *Lock) observe(record *resourcelock.LeaderElectionRecord, raw []byte) (free bool) {
	now := l.options.Clock.Now()
	if string(raw) != l.standby.seen {
		// The holder may have another duration than this process.
		duration := max(l.options.Duration, time.Duration(record.LeaseDurationSeconds)*time.Second)
		l.standby.seen, l.standby.expires = string(raw), now.Add(duration)
	}
	dead := l.options.Dead != nil && l.options.Dead(record.HolderIdentity)
	return l.released(record) || dead || !now.Before(l.standby.expires)
}

// released reports whether the lease has no holder any more. A lease that somebody emptied, or deleted and applied again, may still have
// one, which has not noticed it: it runs out.
func (l *Lock) released(record *resourcelock.LeaderElectionRecord) bool {
	if record.HolderIdentity != "" {
		l.standby.holder = true
		return false
	}
	if record.LeaseDurationSeconds == releasedSeconds || record.RenewTime.IsZero() && !l.standby.holder {
		l.standby.holder = false
		return true
	}
	return false
}

// releasedSeconds is the duration that an elector writes when it releases its lease.
const releasedSeconds = 1

// awaitFree returns true once the lease may be free, and false when ctx ends. Only a read that follows shows whether it is free.
func (l *Lock) awaitFree(ctx context.Context) bool {
	l.follow(ctx)
	for {
		l.mutex.Lock()
		left := l.standby.expires.Sub(l.options.Clock.Now())
		l.mutex.Unlock()
		if left <= 0 {
			return true
		}
		timer := l.options.Clock.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-l.wake:
			timer.Stop()
			return true
		case <-timer.C():
		}
	}
}

// follow watches the lease until ctx ends, unless it is watched already. While it cannot be watched, it is read at each retry.
func (l *Lock) follow(ctx context.Context) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.standby.watching {
		return
	}
	l.standby.watching = true
	go func() {
		for ctx.Err() == nil {
			if events, err := l.options.Watch(ctx); err == nil {
				for event := range events.ResultChan() {
					l.see(event)
				}
				events.Stop()
			}
			l.wakeUp()
			select {
			case <-ctx.Done():
			case <-l.options.Clock.After(l.options.Retry):
			}
		}
		l.mutex.Lock()
		l.standby.watching = false
		l.mutex.Unlock()
	}()
}

// see takes one event of the watch.
func (l *Lock) see(event watch.Event) {
	lease, ok := event.Object.(*coordinationv1.Lease)
	if !ok {
		return // an error, after which the watch ends
	}
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
	raw, err := json.Marshal(*record)
	if err != nil {
		return // a read shows the lease at the latest when it expires
	}
	l.mutex.Lock()
	free := l.observe(record, raw)
	l.mutex.Unlock()
	if free || event.Type == watch.Deleted {
		l.wakeUp()
	}
}

func (l *Lock) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
