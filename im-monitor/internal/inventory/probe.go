package inventory

import (
	"context"
	"errors"
	"slices"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
)

const (
	// diskPatience bounds one question for a disk: a server that works on a disk does not answer before it is done.
	diskPatience = 10 * time.Second
	// disksPerGap is how many absence gaps lie between two questions for a disk that is not ready; whoever loads it is heard at once.
	disksPerGap = 12
)

// silent reports whether nothing was answered, so that nothing is known.
func silent(err error) bool {
	return errors.Is(err, imclient.ErrUnreachable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Disk asks a server about a v2 disk, and remembers the answer: every answer shows whether the lists of that server can be
// complete. It is the way in which all of im-monitor asks for disks.
func (i *Inventory) Disk(ctx context.Context, address string, query imclient.DiskQuery) (imclient.Disk, error) {
	asked := i.config.Clock.Now()
	disk, err := i.config.AskDisk(ctx, address, query)
	i.mu.RLock()
	m := i.addresses[address]
	i.mu.RUnlock()
	if m != nil {
		m.diskAnswered(query.Name, disk, err, asked)
	}
	return disk, err
}

func (m *member) diskAnswered(name string, disk imclient.Disk, err error, asked time.Time) {
	m.mu.Lock()
	if m.latest == nil {
		m.mu.Unlock()
		return
	}
	_, before := m.settling.down[name]
	m.settling.answered(name, disk, err, asked, m.inventory.config.Clock.Now())
	_, after := m.settling.down[name]
	change := Change{InstanceManager: m.target.InstanceManager, Node: m.target.Node}
	if before != after { // the caller that waits names the disk in its status
		change.Names = m.settling.open()
	}
	m.mu.Unlock()
	nudge(m.probeRequeue)
	if len(change.Names) > 0 {
		m.inventory.emit(change)
	}
}

// Unloaded implements Store.
func (i *Inventory) Unloaded(instanceManager, diskUUID string) []string {
	m, ok := i.member(instanceManager)
	if !ok {
		return nil
	}
	disks, known := i.disksOf(m)
	if !known {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, d := range required(disks, diskUUID) {
		if _, down := m.settling.down[d.Name]; down || d.UUID == "" {
			out = append(out, d.Name)
		}
	}
	slices.Sort(out)
	return out
}

// disksOf are the block disks that the node of a member has by its spec; false is unknown.
func (i *Inventory) disksOf(m *member) ([]NodeDisk, bool) {
	if i.config.Disks == nil {
		return nil, true
	}
	m.mu.Lock()
	node := m.target.Node
	m.mu.Unlock()
	return i.config.Disks(node)
}

// absentReplica applies the rule of settled lists. The lock is held, the latest list lacks the name.
func (m *member) absentReplica(subject Subject) bool {
	e := m.settling.questions[question{subject.Name, subject.DiskUUID}]
	if m.latest != nil && e != nil && e.proven && !e.began.Before(subject.Since) {
		return true
	}
	if m.settling.ask(subject, m.inventory.config.Clock.Now()) {
		nudge(m.probeRequeue)
	}
	return false
}

// probe reads disks, a list, and disks again, while the absence of a replica is asked for. As long as no one asks it does nothing. It ends
// with the context, or with the member.
func (m *member) probe(ctx context.Context) {
	for ctx.Err() == nil && !m.isRemoved() {
		disks, known := m.inventory.disksOf(m)
		if at, asked := m.nextProbe(disks, known); !m.await(ctx, at, asked) {
			m.probeOnce(ctx, disks)
		}
	}
}

func (m *member) isRemoved() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.removed
}

// await waits for a time, or only for something to change, and reports whether it waited.
func (m *member) await(ctx context.Context, at time.Time, timed bool) bool {
	var due <-chan time.Time
	if timed {
		wait := at.Sub(m.inventory.config.Clock.Now())
		if wait <= 0 {
			return false
		}
		timer := m.inventory.config.Clock.NewTimer(wait)
		defer timer.Stop()
		due = timer.C()
	}
	select {
	case <-due:
	case <-m.probeRequeue:
	case <-ctx.Done():
	}
	return true
}

// nextProbe is when the next probe is due; false where something has to change first.
func (m *member) nextProbe(disks []NodeDisk, known bool) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	config := m.inventory.config
	now := config.Clock.Now()
	slow := now.Add(config.SafetyPeriod)
	at, open := slow, false
	for key, e := range m.settling.questions {
		if e.proven {
			continue
		}
		open = true
		at = earlier(at, m.dueFor(key, e, disks, now, slow))
	}
	switch {
	case !open || m.latest == nil: // a question, or the next epoch, enqueues us
		return time.Time{}, false
	case !known:
		return now.Add(config.FollowUpInterval), true
	}
	return later(at, m.probed.Add(config.FollowUpInterval)), true
}

// dueFor is when one question needs a probe. The lock is held.
func (m *member) dueFor(key question, e *evidence, disks []NodeDisk, now, never time.Time) time.Time {
	needs := required(disks, key.disk)
	if at, ok := m.settling.due(needs, now); ok {
		if !e.ended.IsZero() {
			at = later(at, e.ended.Add(m.settling.gap))
		}
		return later(at, e.after)
	}
	at := never
	for _, d := range needs {
		again := time.Time{} // it was not asked for in this epoch
		seen, ready := m.settling.ready[d.Name]
		switch {
		case ready && seen.uuid == d.UUID, !ready && d.UUID == "": // no one loads a disk of which no UUID is recorded
			continue
		case ready:
			again = m.probed.Add(disksPerGap * m.settling.gap)
		}
		if down, ok := m.settling.down[d.Name]; ok {
			again = down.at.Add(disksPerGap * m.settling.gap)
		}
		at = earlier(at, again)
	}
	return at
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// probeOnce asks the disks of all open questions, reads a list if one of them may count, asks those disks again and takes in what the list
// lacks.
func (m *member) probeOnce(ctx context.Context, disks []NodeDisk) {
	now := m.inventory.config.Clock.Now()
	m.mu.Lock()
	m.probed = now
	target, wanted := m.target, m.openNeeds(disks)
	m.mu.Unlock()
	if !m.askDisks(ctx, target, wanted) || !m.worthAList(disks) {
		return
	}
	answer, err := m.join()
	if err != nil {
		return
	}
	select {
	case read := <-answer:
		if read.err == nil && m.askDisks(ctx, target, wanted) {
			m.conclude(disks, read.snapshot)
		}
	case <-ctx.Done():
	}
}

// openNeeds are the disks of all open questions. The lock is held.
func (m *member) openNeeds(disks []NodeDisk) []NodeDisk {
	var out []NodeDisk
	for key, e := range m.settling.questions {
		if e.proven {
			continue
		}
		for _, d := range required(disks, key.disk) {
			if d.UUID != "" && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// askDisks asks for disks; what they answer is remembered on the way. False means that one reported nothing, so that this probe proves
// nothing.
func (m *member) askDisks(ctx context.Context, target Target, disks []NodeDisk) bool {
	for _, d := range disks {
		askCtx, cancel := context.WithTimeout(ctx, diskPatience)
		_, err := m.inventory.Disk(askCtx, target.Address, imclient.DiskQuery{Name: d.Name, Path: d.Path, Driver: d.Driver})
		cancel()
		if silent(err) {
			m.mu.Lock()
			m.probed = m.inventory.config.Clock.Now().Add(m.settling.gap)
			m.mu.Unlock()
			return false
		}
	}
	return true
}

// worthAList reports whether a list that begins now may count for a question.
func (m *member) worthAList(disks []NodeDisk) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.inventory.config.Clock.Now()
	for key, e := range m.settling.questions {
		if !e.proven && m.settling.trusted(required(disks, key.disk), now) {
			return true
		}
	}
	return false
}

// conclude takes in what a list lacks whose disks were ready before and after it, and reports the proofs.
func (m *member) conclude(disks []NodeDisk, list *Snapshot) {
	m.mu.Lock()
	var proofs []string
	if m.latest != nil && m.latest.Epoch == list.Epoch {
		for key, e := range m.settling.questions {
			if list.Instances.Has(key.name) {
				continue
			}
			if needs := required(disks, key.disk); m.settling.trusted(needs, list.Began) && m.settling.lacked(e, needs, list) {
				proofs = append(proofs, key.name)
			}
		}
	}
	m.mu.Unlock()
	if len(proofs) > 0 {
		slices.Sort(proofs)
		m.inventory.emit(Change{InstanceManager: list.InstanceManager, Node: list.Node, Names: slices.Compact(proofs)})
	}
}
