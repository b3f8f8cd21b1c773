package model

import "fmt"

func changes(b *budget)   { b.changes-- }
func restarts(b *budget)  { b.restarts-- }
func mishaps(b *budget)   { b.faults-- }
func flips(b *budget)     { b.flips-- }
func elections(b *budget) { b.elections-- }
func deletions(b *budget) { b.deletions-- }

// people has the steps of users, of attach-controller's policy, and the faults.
func (b *builder) people() {
	s, left := b.from, &b.from.left
	r := s.replica
	switch {
	case !r.exists:
		for _, wanted := range []bool{false, true} {
			b.environment(&left.changes, changes, fmt.Sprintf("user: creates the Replica again, wanted %v", wanted), func(t *state) {
				t.replica = replica{exists: true, wanted: wanted, node: 1}
			})
		}
	case !r.deleting:
		b.environment(&left.changes, changes, "attach: changes the desired state", func(t *state) { t.replica.wanted = !t.replica.wanted })
		b.environment(&left.changes, changes, "attach: moves the Replica to the other node",
			func(t *state) { t.replica.node = 3 - t.replica.node })
		b.environment(&left.changes, changes, "user: deletes the Replica", func(t *state) { t.replica.deleting = true })
		b.environment(&left.changes, changes, "user: strips the Replica's finalizer", func(t *state) { t.replica.exists = false })
	}
	for k := range s.orphans {
		if s.orphans[k].exists && !s.orphans[k].deleting {
			b.environment(&left.deletions, deletions, fmt.Sprintf("user: deletes orphan %d", k+1),
				func(t *state) { t.orphans[k].deleting, t.orphans[k].asked = true, true })
		}
	}
	b.environment(&left.flips, flips, "user: switches auto deletion on or off", func(t *state) { t.auto = !t.auto })
	b.environment(&left.faults, mishaps, "fault: the other copy fails", func(t *state) { t.otherCopy = false })
	b.environment(&left.faults, mishaps, "user: the Volume is gone", func(t *state) { t.volume = false })
	if b.mapping && s.runtime == alive {
		b.environment(&left.faults, mishaps, "a forgotten engine on node 2 maps the replica", func(t *state) { t.engine = true })
	}
	if b.mapping {
		b.environment(&left.faults, mishaps, "fault: node 2 is unreachable", func(t *state) { t.reachable = false })
	}
	if s.monitors[1-s.leader].phase == idle {
		b.environment(&left.elections, elections, "fault: the leader pauses or crashes, another leads", func(t *state) {
			t.leader, t.fencingDelay = 1-t.leader, true
		})
	}
	if !s.window {
		b.environment(&left.restarts, restarts, "fault: manager 1 restarts", func(t *state) { b.restart(t) })
	}
}

// restart ends processes; lvols exist again after the window.
func (b *builder) restart(t *state) {
	t.window = true
	switch {
	case !b.v2:
		t.runtime = absent
	case t.runtime == alive:
		t.runtime = dataLeft
	}
	if t.replica.manager == 1 {
		t.replica.running, t.replica.manager, t.replica.uuid = false, 0, 0
	}
}

// dataPlane has the recoveries without a person, and the starts and stops that Replicas request.
func (b *builder) dataPlane() {
	s := b.from
	r := s.replica
	b.work("manager 1 is back", func(t *state) { t.window = false })
	b.work("the other copy is rebuilt", func(t *state) { t.otherCopy = true })
	b.work("node 2 is reachable again", func(t *state) { t.reachable = true })
	if s.reachable {
		b.work("the forgotten engine ends", func(t *state) { t.engine = false })
	}
	if !r.exists {
		return
	}
	if r.running && r.manager == 1 && (r.node == 2 || !r.wanted) {
		b.work("node 1 is fenced: its Replica is reported stopped, the runtime stays", func(t *state) {
			t.replica.running, t.replica.manager, t.replica.uuid = false, 0, 0
		})
	}
	if r.node == 2 && r.wanted && !r.running {
		b.work("im: starts the replica on node 2", func(t *state) { t.replica.running, t.replica.manager = true, 2 })
	}
	if r.running && r.manager == 2 && (!r.wanted || r.node == 1) {
		b.work("im: stops the replica on node 2", func(t *state) { t.replica.running, t.replica.manager = false, 0 })
	}
	if r.deleting {
		b.work("attach: records the instance, then removes the Replica; its data stays",
			func(t *state) { t.replica.exists, t.abandoned = false, t.uuid })
		if s.runtime != absent && r.node == 1 && !s.window && s.monitors[s.leader].phase < checked {
			b.work("the Replica's deletion ends, its data is destroyed", func(t *state) { t.replica.exists, t.runtime = false, absent })
		}
	}
}

// caching updates each cache independently.
func (b *builder) caching() {
	if !b.caches {
		return
	}
	b.work("the caches see the Replica", func(t *state) { t.cached = t.replica })
	b.work("orphan-controller's cache sees the orphans", func(t *state) { t.seen = t.orphans })
}
