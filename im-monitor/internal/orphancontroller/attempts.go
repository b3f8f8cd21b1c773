package orphancontroller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
)

// attempt is what this process knows of its tries to delete the instance of one Orphan. All of it may be lost.
type attempt struct {
	// failure is what the status must report; nil reports nothing new, an empty one that the last try went well.
	failure *orphan.Failure
	// call is the last deletion that was sent; nil when none was.
	call *inventory.Call
	// failures and calls count tries in a row, for the back-off.
	failures, calls int
	// notBefore is when the next try is due.
	notBefore time.Time
	// wroteAt is the resourceVersion on which this process last based a status: a cache that still shows it is behind.
	wroteAt string
}

// attempts remembers by the Orphan's UID.
type attempts struct {
	mu sync.Mutex
	m  map[types.UID]attempt
}

func (a *attempts) of(uid types.UID) attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.m[uid]
}

// change modifies what is remembered and returns it.
func (a *attempts) change(uid types.UID, f func(*attempt)) attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.m == nil {
		a.m = map[types.UID]attempt{}
	}
	v := a.m[uid]
	f(&v)
	a.m[uid] = v
	return v
}

func (a *attempts) forget(uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.m, uid)
}

// retry makes a failed try due now, and reports whether there was one.
func (a *attempts) retry(uid types.UID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.m[uid]
	if v.failures == 0 {
		return false
	}
	v.notBefore = time.Time{}
	a.m[uid] = v
	return true
}

// failed notes a try that brought no accepted call.
func (t *attempt) failed(f orphan.Failure, now time.Time) {
	t.failure = &f
	t.failures++
	t.notBefore = now.Add(backoff(failureDelay, failureDelayMax, t.failures))
}

// postponed notes a try that came to nothing and about which the status reports nothing new: the evaluation, which enqueues the
// executors, may not see yet what they saw.
func (t *attempt) postponed(now time.Time) {
	t.failures++
	t.notBefore = now.Add(backoff(failureDelay, failureDelayMax, t.failures))
}

// accepted notes a call that the server took, or that it may have taken. A failure StillPresent stands until the
// instance ends, so that it does not come and go with every try.
func (t *attempt) accepted(call inventory.Call, still *orphan.Failure, now time.Time) {
	t.call, t.failures = &call, 0
	t.calls++
	t.failure = &orphan.Failure{}
	if still != nil {
		t.failure = still
	}
	t.notBefore = now.Add(backoff(acceptedDelay, acceptedDelayMax, t.calls))
}

// backoff doubles with every try.
func backoff(first, limit time.Duration, try int) time.Duration {
	for d := first; ; d *= 2 {
		if try--; try <= 0 || d >= limit {
			return min(d, limit)
		}
	}
}
