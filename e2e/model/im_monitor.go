package model

import (
	"fmt"

	evaluate "drover.dev/drover/im-monitor/model"
	"drover.dev/drover/shared/api/v1beta2"
)

// imMonitor is one process: the leader, or an old one that has not noticed.
func (b *builder) imMonitor(i uint8) {
	s, mon := b.from, b.from.monitors[i]
	leads := i == s.leader
	if leads {
		b.evaluateStatuses()
	}
	switch mon.phase {
	case idle:
		if leads {
			b.start()
			b.firstVerdict(i)
			b.check(i)
			b.work("im: the post-election delay ends",
				func(t *state) { t.fencingDelay = t.fencingDelay && t.monitors[1-i].phase == inFlight })
		}
	case evaluated:
		b.reverify(i, leads)
	case confirmed:
		// Nothing fences a write to the API server: a paused leader may still create.
		b.create(i)
	case checked:
		if leads {
			b.work("im: sends the call", func(t *state) { t.monitors[i].phase = inFlight })
		} else {
			b.work("im: the call dies with the leadership", func(t *state) { t.monitors[i].phase = idle })
		}
	case inFlight:
		b.add(false, fmt.Sprintf("manager 1 executes the deletion of %d, cleanup %v", mon.uuid, mon.cleanup),
			func(t *state) []string { return b.execute(t, i) })
		b.add(true, "fault: the call fails", func(t *state) []string { b.fail(t, i); return nil })
	}
}

func (b *builder) observe(r replica) observation {
	s := b.from
	return observation{r, s.runtime, s.uuid, s.window, s.orphans, s.fencingDelay}
}

// start is what the executor of later versions does: never while a call is in flight, nor in the post-election delay of a deleted orphan.
func (b *builder) start() {
	s, r := b.from, b.from.cached
	quiet := true
	for _, o := range s.orphans {
		quiet = quiet && !(s.fencingDelay && o.exists && o.deleting)
	}
	if !quiet || s.window || r != s.replica || !r.exists || r.deleting || r.node != 1 {
		return
	}
	uuids := uint8(1)
	if b.twoUUIDs {
		uuids = 2
	}
	if r.wanted && !r.running && (s.runtime != absent || s.nextUUID <= uuids) {
		b.work("im: starts or adopts the instance on manager 1", func(t *state) {
			if t.runtime == absent {
				t.uuid = t.nextUUID
				t.nextUUID++
			}
			t.runtime = alive
			t.replica.running, t.replica.manager, t.replica.uuid = true, 1, t.uuid
		})
	}
	if !r.wanted && r.running && r.manager == 1 {
		b.work("im: stops the instance on manager 1", func(t *state) {
			t.replica.running, t.replica.manager, t.replica.uuid = false, 0, 0
			if t.runtime = absent; b.v2 {
				t.runtime = dataLeft
			}
		})
	}
}

func (b *builder) firstVerdict(i uint8) {
	if b.evaluate(b.observe(b.from.cached)).Create != nil {
		b.work("im: first verdict, from the cache", func(t *state) { t.monitors[i] = monitor{phase: evaluated, uuid: t.uuid} })
	}
}

func (b *builder) reverify(i uint8, leads bool) {
	v := b.evaluate(b.observe(b.from.replica))
	if leads && v.Create != nil && b.from.uuid == b.from.monitors[i].uuid {
		b.work("im: the re-verification agrees", func(t *state) { t.monitors[i].phase = confirmed })
		return
	}
	b.work("im: the re-verification disagrees", func(t *state) { t.monitors[i].phase = idle })
}

func (b *builder) create(i uint8) {
	u := b.from.monitors[i].uuid
	b.work(fmt.Sprintf("im: creates orphan %d", u), func(t *state) {
		t.monitors[i].phase = idle
		if !t.orphans[u-1].exists {
			t.orphans[u-1] = orphan{exists: true, incarnation: !t.orphans[u-1].incarnation}
		}
	})
}

// evaluateStatuses writes the evaluator's result for each orphan, from the cached Replica.
func (b *builder) evaluateStatuses() {
	v := b.evaluate(b.observe(b.from.cached))
	at := 0
	for k, o := range b.from.orphans {
		if !o.exists {
			continue
		}
		written := v.Orphans[at]
		at++
		next := o.withConditions(written.Conditions, false)
		ends := next.withdrawn != o.withdrawn || (next.instanceState == stateTerminated && o.instanceState != stateTerminated)
		if next == o || (ends && b.fault != endWrittenDuringCall && b.from.monitors[b.from.leader].phase >= checked) {
			// An end is written under the lock that the executor holds during a call: else the name would be free for a new
			// leader while the call may still be executed.
			continue
		}
		b.add(false, fmt.Sprintf("im: orphan %d reports %s %s %s", k+1, rules[next.orphaned], states[next.instanceState],
			withdrawals[next.withdrawn]), func(t *state) []string {
			t.orphans[k] = next
			terminated := next.instanceState == stateTerminated && next.withdrawn == 0
			if ends && terminated && t.runtime == alive && t.uuid == uint8(k+1) {
				return []string{"ORP-4"}
			}
			if next.withdrawn == 1 && t.runtime != absent && t.uuid == uint8(k+1) {
				return []string{"ORP-4"}
			}
			return nil
		})
	}
}

// check is the result of the evaluator and of DecideCall right before the call, on the stored Replica.
func (b *builder) check(i uint8) {
	s := b.from
	read := s.replica
	if b.fault == evaluatedFromStaleCache {
		read = s.cached
	}
	for k, o := range s.orphans {
		if !o.exists || !o.deleting || s.fencingDelay {
			continue
		}
		call, ok := b.decideCall(read, k)
		switch {
		case !ok:
		case call.Allowed:
			b.add(false, fmt.Sprintf("im: all agrees to delete %d, cleanup %v", k+1, call.Cleanup), func(t *state) []string {
				t.monitors[i] = monitor{phase: checked, uuid: uint8(k + 1), cleanup: call.Cleanup}
				return b.wrongCall(o, call.Cleanup)
			})
		case call.Failure.Reason != "":
			b.work("im: cannot delete: "+call.Failure.Reason, func(t *state) { t.orphans[k].failed = index(failures, call.Failure.Reason) })
		}
	}
}

// decideCall calls the product for orphan k; mutants change its input or its result.
func (b *builder) decideCall(read replica, k int) (evaluate.Call, bool) {
	s := b.from
	asked := s.orphans[k]
	if b.fault == withdrawalExecuted {
		asked.withdrawn = 0
		if asked.orphaned == 0 {
			asked.orphaned = 1
		}
		asked.approval = approved
		if asked.instanceState == stateTerminated {
			asked.instanceState = 0
		}
	}
	l := b.observe(read)
	l.orphans = [2]orphan{}
	l.orphans[k] = asked
	w := b.world(l)
	if b.fault == deletionWithoutUUID && w.Inventory != nil && w.Inventory.Instance != nil {
		w.Inventory.Instance.UUID = uuidOf(uint8(k + 1))
	}
	v := evaluate.Evaluate(w)
	place := evaluate.Place{InstanceManager: "im-2", Node: "node-2", Needed: true, Known: s.reachable}
	if s.engine {
		place.MappedBy = "vol-e-9"
	}
	if !s.reachable && b.fault == unknownTakenForEmpty {
		place.Known, place.MappedBy = true, ""
	}
	healthy := 0
	if s.otherCopy {
		healthy = 1
	}
	call := evaluate.DecideCall(evaluate.CallWorld{World: w, Orphan: w.Orphans[0], Places: []evaluate.Place{place},
		Copies: evaluate.Copies{Volume: "vol", Exists: s.volume, Healthy: healthy}}, v)
	if b.fault == cleanupOnClaimedData {
		call.Cleanup = true
	}
	return call, call.Allowed || call.Failure.Reason != ""
}

// wrongCall compares the call with the true state at the time of the decision.
func (b *builder) wrongCall(o orphan, cleanup bool) (out []string) {
	s := b.from
	r := s.replica
	if r.exists && !r.deleting && r.wanted && r.running && r.manager == 1 && r.uuid == s.uuid {
		out = append(out, "ORP-1")
	}
	if b.v2 && cleanup && r.exists && r.node == 1 {
		out = append(out, "ORP-2")
	}
	if !o.asked {
		out = append(out, "ASKED")
	}
	return out
}

// execute is the call at the server, which compares the UUID.
func (b *builder) execute(t *state, i uint8) (out []string) {
	mon := t.monitors[i]
	t.monitors[i].phase = idle
	if t.window || t.runtime == absent || (t.uuid != mon.uuid && b.fault != deletionWithoutUUID) {
		return nil
	}
	if t.uuid != mon.uuid {
		out = append(out, "ORP-3")
	}
	if r := t.replica; r.running && r.manager == 1 && r.uuid == t.uuid && r.wanted && !r.deleting {
		out = append(out, "ORP-1")
	}
	if t.runtime = absent; b.v2 && !mon.cleanup {
		t.runtime = dataLeft
	}
	return out
}

// fail is a call that did not reach the server.
func (b *builder) fail(t *state, i uint8) {
	if o := &t.orphans[t.monitors[i].uuid-1]; o.exists && o.deleting && i == t.leader && o.withdrawn == 0 &&
		o.instanceState != stateTerminated {
		o.failed = index(failures, v1beta2.ReasonUnreachable)
	}
	t.monitors[i].phase = idle
}
