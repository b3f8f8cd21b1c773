package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// troubleSteps is how long a world is disturbed; one of three is for much longer.
	troubleSteps, longTrouble = 300, 800
	// settled is for how many rounds a settled quiet world must not change: longer than any pause of a controller.
	settled = 4
	// rounds is how long a quiet world may take.
	rounds = 300
)

// Outcome is the result of one world.
type Outcome struct {
	// Broken is the first invariant that did not hold; empty: all held.
	Broken string
	// Log is what happened, one entry each, if that was requested.
	Log []string
	// Rounds counts the rounds in which the quiet world settled. Reasons has the reason of each wait that remained.
	Rounds  int
	Reasons []string
}

// Play runs the world of a seed, and returns its outcome. The same seed always gives the same.
func Play(seed uint64, log bool) Outcome {
	w := newWorld(seed)
	w.keeps = log
	w.trouble()
	w.calm()
	return Outcome{Broken: w.broken, Log: w.log, Rounds: w.rounds, Reasons: w.reasons}
}

func (w *world) trouble() {
	w.staleness, w.crashes = 0.1, 0.05
	if w.chance(1.0 / 3) {
		w.staleness, w.crashes = 0, 0
	}
	w.pace()
	rarity := 4 + w.rng.IntN(40)
	steps := troubleSteps
	if w.chance(1.0 / 3) {
		steps = longTrouble
	}
	for range steps {
		if w.rng.IntN(rarity) == 0 {
			for range 1 + w.rng.IntN(2)*w.rng.IntN(4) { // failures seldom come alone
				w.disturb()
			}
		}
		w.one()
		if w.broken != "" {
			return
		}
	}
}

// actor is one simulated part of a world, and how often it acts.
type actor struct {
	act    func(*world)
	weight int
}

var actors = []actor{
	{(*world).decideHolder, 4}, {(*world).runVolume, 6}, {(*world).monitorSomething, 6}, {(*world).pollEngines, 2}, {(*world).ask, 2},
	{(*world).produce, 1}, {(*world).replenish, 1}, {(*world).work, 1}, {(*world).moveShare, 1}, {(*world).evaluateOrphans, 1},
	{(*world).io, 1},
}

// pace lets each actor be slower or faster in this world than in others.
func (w *world) pace() {
	w.actors = slices.Clone(actors)
	for i := range w.actors {
		w.actors[i].weight *= []int{1, 4, 4, 12}[w.rng.IntN(4)]
	}
}

// one is one step of one actor.
func (w *world) one() {
	w.advance()
	total := 0
	for _, a := range w.actors {
		total += a.weight
	}
	n := w.rng.IntN(total)
	for _, a := range w.actors {
		if n -= a.weight; n < 0 {
			a.act(w)
			break
		}
	}
	w.checkWriters()
}

func (w *world) advance() {
	w.step++
	w.now = w.now.Add(tick)
	w.forget()
}

func (w *world) monitorSomething() {
	n := len(w.engines) + len(w.frontends) + len(w.replicas)
	i := w.rng.IntN(n + len(w.nodes))
	if i < n {
		w.monitor(i)
		return
	}
	w.watchNode(w.nodes[i-n])
}

// monitor supervises one of the instances.
func (w *world) monitor(i int) {
	switch {
	case i < len(w.engines):
		w.superviseEngine(w.engines[i])
	case i < len(w.engines)+len(w.frontends):
		w.superviseFrontend(w.frontends[i-len(w.engines)])
	default:
		w.superviseReplica(w.replicas[i-len(w.engines)-len(w.frontends)])
	}
}

func (w *world) pollEngines() {
	for _, s := range w.engines {
		w.poll(s)
	}
}

// calm ends the failures: some nodes return, upgrades end, and nothing fails any more.
func (w *world) calm() {
	if w.broken != "" {
		return
	}
	w.staleness, w.crashes, w.quiet = 0, 0, true
	for _, n := range w.nodes {
		if !n.reachable && w.chance(0.5) {
			w.giveBack(n)
		}
		if n.now.Spec.UpgradeRequested {
			w.mark(n, "upgrading", func(o *v1beta2.Node) { o.Spec.UpgradeRequested = false })
		}
	}
	target := w.node(w.volume.now.Spec.TargetNodeID)
	if ends := w.chanceOf(w.moves, 0.5); ends || target != nil && !target.reachable {
		w.retarget("") // an upgrade leaves no target on a node that is down: it goes on, or back
	}
	w.trace("---- quiet: %s", w.text())
	still := 0
	for w.rounds = range rounds {
		w.dirty = false
		w.round()
		w.checkReasons()
		if w.broken != "" {
			return
		}
		if still++; w.dirty {
			still = 0
		}
		if still == settled {
			w.trace("---- settled: %s", w.text())
			w.reasons, _ = w.listReasons()
			w.checkEnd()
			return
		}
	}
	w.violated("LIVELOCK: the quiet world does not settle")
	w.trace("---- %s", w.text())
}

// round lets every actor do one step.
func (w *world) round() {
	for range w.users.jobs {
		w.ask()
	}
	w.ask()
	for _, act := range []func(){w.release, w.moveShare, w.produce, w.decideHolder, w.runVolume, w.pollEngines, w.replenish, w.work,
		w.evaluateOrphans, w.io} {
		w.advance()
		act()
		w.checkWriters()
	}
	for range w.turns() {
		for i := range len(w.engines) + len(w.frontends) + len(w.replicas) {
			w.monitor(i)
		}
	}
	for _, n := range w.nodes {
		w.watchNode(n)
	}
	for range 9 {
		w.advance()
	}
	w.checkWriters()
}

// text is the world as one string.
func (w *world) text() string {
	v := w.volume.now
	var out strings.Builder
	fmt.Fprintf(&out, "spec %q %q target %q off=%v, status %s %s %q %q off=%v", v.Spec.NodeID, v.Spec.MigrationNodeID, v.Spec.TargetNodeID,
		v.Spec.DisableFrontend,
		v.Status.State, v.Status.Robustness, v.Status.CurrentNodeID, v.Status.CurrentMigrationNodeID, v.Status.FrontendDisabled)
	for _, c := range v.Status.Conditions {
		fmt.Fprintf(&out, "; %s=%s %s %s", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, id := range slices.Sorted(maps.Keys(w.attachment.now.Spec.AttachmentTickets)) {
		t, a := w.attachment.now.Spec.AttachmentTickets[id], w.attachment.now.Status.AttachmentTicketStatuses[id]
		fmt.Fprintf(&out, "; ticket %s on %q off=%s satisfied=%v", id, t.NodeID, t.Parameters[v1beta2.TicketDisableFrontend], a.Satisfied)
	}
	for _, e := range current(w.engines) {
		fmt.Fprintf(&out, "; %+v %v %v", ofEngine(e), e.Spec.ReplicaAddressMap, e.Status.ReplicaModeMap)
	}
	for _, f := range current(w.frontends) {
		fmt.Fprintf(&out, "; %+v", ofFrontend(f))
	}
	for _, r := range current(w.replicas) {
		fmt.Fprintf(&out, "; %+v failed=%q healthy=%q", ofReplica(r), r.Spec.FailedAt, r.Spec.HealthyAt)
	}
	for _, n := range w.nodes {
		fmt.Fprintf(&out, "; %s reachable=%v down=%v cordoned=%v evicted=%v", n.name, n.reachable, v1beta2.IsNodeDown(n.now),
			cordoned(n.now), n.now.Spec.EvictionRequested)
	}
	return out.String()
}
