package inventory

import (
	"context"
	"sync"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// member is one instance manager of the inventory. Its loop alone connects, lists and emits; others read, ask and retarget.
type member struct {
	inventory *Inventory
	// signal enqueues the loop after a request; turn, after a new target or the removal of the member.
	signal, turn chan struct{}

	mu      sync.Mutex
	target  Target
	removed bool
	// turns counts the changes of the target; results for an earlier target are dropped.
	turns int
	// stop ends the present session; nil between sessions, when waiting is pointless.
	stop    context.CancelFunc
	client  imclient.Client
	latest  *Snapshot // nil is unknown
	former  *Snapshot // the last list of an earlier epoch, while latest is nil
	err     error
	absence absence
	// settling is the evidence about replicas of a v2 server, probed when its last probe began; probeRequeue enqueues the probe.
	settling     settling
	probed       time.Time
	probeRequeue chan struct{}
	waiters      []chan result
}

// result is the answer to one caller that waits.
type result struct {
	snapshot *Snapshot
	err      error
}

// newMember makes a member that waits for its loop.
func newMember(i *Inventory, target Target) *member {
	return &member{
		inventory:    i,
		signal:       make(chan struct{}, 1),
		probeRequeue: make(chan struct{}, 1),
		turn:         make(chan struct{}, 1),
		target:       target,
		err:          errNotStarted,
	}
}

// nudge sends without waiting; one pending signal is as good as many.
func nudge(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// retarget names another target; the inventory is unknown at once. It returns the former target.
func (m *member) retarget(target Target) Target {
	m.mu.Lock()
	former := m.target
	if former == target {
		m.mu.Unlock()
		return former
	}
	before := former.server()
	m.target = target
	if before != target.server() {
		m.settling.calls = m.inventory.earlierCalls(target)
	}
	answer := m.leave(errReplaced)
	m.mu.Unlock()
	answer()
	return former
}

// remove ends the member for good and returns its target.
func (m *member) remove() Target {
	m.mu.Lock()
	m.removed = true
	former := m.target
	answer := m.leave(errReplaced)
	m.mu.Unlock()
	answer()
	return former
}

// leave makes everything unknown that belongs to the present target and ends its session. The lock is held; the returned function answers
// the waitlist without it.
func (m *member) leave(err error) func() {
	m.turns++
	nudge(m.probeRequeue)
	if m.stop != nil {
		m.stop()
	}
	nudge(m.turn)
	return m.forget(err)
}

// forget makes the inventory unknown. The lock is held; the returned function answers the waitlist without it.
func (m *member) forget(err error) func() {
	if m.latest != nil {
		m.former, m.latest = m.latest, nil
		m.inventory.index.remove(m.former.InstanceManager, m.former.Instances.names())
	}
	m.client, m.err = nil, err
	waiters := m.waiters
	m.waiters = nil
	return func() { reply(waiters, result{err: err}) }
}

// lost is the last list of the present server while it does not answer; the lock is held.
func (m *member) lost() *Snapshot {
	if m.former == nil || m.former.server() != m.target.server() {
		return nil
	}
	return m.former
}

// reply answers the callers on the waitlist; each channel has room for one answer.
func reply(waiters []chan result, answer result) {
	for _, waiter := range waiters {
		waiter <- answer
	}
}

// join waits for the next list that begins; an error when none is about to.
func (m *member) join() (<-chan result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop == nil || m.removed {
		return nil, m.err
	}
	waiter := make(chan result, 1)
	m.waiters = append(m.waiters, waiter)
	nudge(m.signal)
	return waiter, nil
}

// absent applies the rule of absence, and asks for the list that may prove it.
func (m *member) absent(subject Subject) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.latest != nil {
		if instance, ok := m.latest.Instances.Find(subject.Name); ok {
			return otherUUID(instance, subject.UUID)
		}
	}
	if m.v2Replica(subject) {
		return m.absentReplica(subject)
	}
	if m.proven(subject) {
		return true
	}
	m.ask(subject.Name)
	return false
}

// proven reports whether the latest list proves the absence of what is not a v2 replica. The lock is held.
func (m *member) proven(subject Subject) bool {
	return m.latest != nil && !m.latest.Began.Before(subject.Since) && m.absence.proven(subject.Name, m.latest.Began)
}

// v2Replica reports whether only settled lists prove the absence. The lock is held.
func (m *member) v2Replica(subject Subject) bool {
	return m.target.DataEngine == v1beta2.DataEngineV2 && subject.onDisk()
}

// absentAfter applies the rule after our own deletion.
func (m *member) absentAfter(call Call) bool {
	subject := call.Subject()
	m.mu.Lock()
	latest := m.latest
	if latest != nil && !latest.Began.Before(call.Ended) && !m.v2Replica(subject) {
		there := latest.Instances.Has(call.Name)
		ofCall := latest.Epoch == call.Epoch
		settledV2 := m.absence.v2 && latest.Settled
		if !there && (ofCall || settledV2) {
			m.mu.Unlock()
			return true
		}
	}
	m.mu.Unlock()
	return m.absent(subject)
}

// otherUUID reports whether an instance is positively another one. Two unknown identities may be the same.
func otherUUID(instance Instance, uuid string) bool {
	return uuid != "" && instance.UUID != "" && instance.UUID != uuid
}

// ask remembers a question and makes the loop reset its timer. The lock is held.
func (m *member) ask(name string) {
	if _, known := m.absence.asked[name]; known {
		return
	}
	m.absence.ask(name)
	nudge(m.signal)
}

// expect asks for an absence and reports when it may be proven, where that is known.
func (m *member) expect(subject Subject) time.Time {
	if m.absent(subject) {
		return m.inventory.config.Clock.Now()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := subject.Name
	if m.v2Replica(subject) {
		return time.Time{}
	}
	if m.latest == nil {
		m.ask(name)
		return time.Time{}
	}
	if m.latest.Instances.Has(name) {
		return time.Time{}
	}
	if m.proven(subject) {
		return m.latest.Began
	}
	m.ask(name)
	return m.absence.due(name)
}
