package removalcontroller

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/removal"
)

// attempt is what this process knows of its tries to destroy one replica's data. All of it may be lost.
type attempt struct {
	// uid and approval are what the tries were about; another one starts again.
	uid      types.UID
	approval string
	// began is when this process learned of the removal: lists that are older prove nothing about it.
	began time.Time
	// failure is what the last try failed with; nil when it did not.
	failure *removal.Failure
	// call is the last deletion that was sent; nil when none was.
	call *inventory.Call
	// notBefore is when the next try is due.
	notBefore time.Time
}

// memory remembers the removals that are under way, by the Replica's name.
type memory struct {
	mu        sync.Mutex
	m         map[string]attempt
	failures  workqueue.TypedRateLimiter[string]
	accepting workqueue.TypedRateLimiter[string]
}

func newMemory() *memory {
	return &memory{
		m:         map[string]attempt{},
		failures:  workqueue.NewTypedItemExponentialFailureRateLimiter[string](failureDelay, failureDelayMax),
		accepting: workqueue.NewTypedItemExponentialFailureRateLimiter[string](acceptedDelay, acceptedDelayMax),
	}
}

// begin remembers that a removal is under way. What was tried under another approval is due at once; another Replica of
// the name has no past.
func (m *memory) begin(name string, uid types.UID, approval string, now time.Time) attempt {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.m[name]
	switch {
	case !ok || a.uid != uid:
		m.reset(name)
		a = attempt{uid: uid, approval: approval, began: now}
	case a.approval != approval:
		m.reset(name)
		a.approval, a.failure, a.notBefore = approval, nil, time.Time{}
	}
	m.m[name] = a
	return a
}

func (m *memory) reset(name string) {
	m.failures.Forget(name)
	m.accepting.Forget(name)
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset(name)
	delete(m.m, name)
}

// of is what is remembered about a name; zero when no removal is under way.
func (m *memory) of(name string) attempt {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[name]
}

// underWay reports which of the names are being removed.
func (m *memory) underWay(names []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := m.m[name]
		return !ok
	})
}

// failed notes a try that sent no call, or one that is known to have had no effect. The failure may be nil: then nothing
// is to be reported.
func (m *memory) failed(name string, failure *removal.Failure, now time.Time) {
	m.change(name, func(a *attempt) {
		a.failure, a.notBefore = failure, now.Add(m.failures.When(name))
	})
}

// sent notes a call that the server took, or may have taken.
func (m *memory) sent(name string, call inventory.Call, failure *removal.Failure, now time.Time) {
	m.change(name, func(a *attempt) {
		m.failures.Forget(name)
		a.call, a.failure, a.notBefore = &call, failure, now.Add(m.accepting.When(name))
	})
}

func (m *memory) change(name string, f func(*attempt)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.m[name]; ok {
		f(&a)
		m.m[name] = a
	}
}

// retry makes tries due now that failed for a reason, those of the names, or all; it reports which.
func (m *memory) retry(reason string, names ...string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []string
	for name, a := range m.m {
		if a.failure == nil || a.failure.Reason != reason || len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		a.notBefore = time.Time{}
		m.m[name] = a
		due = append(due, name)
	}
	return due
}
