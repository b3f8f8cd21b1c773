package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// pollAge is how old the request of an engine poll may be when a decision relies on its answer, such as a second engine over the same
// replicas.
const pollAge = 10 * time.Second

// migrate starts a second engine beside the first, then switches the volume over to it or removes it again.
func (p *pass) migrate(wanted string) {
	target := p.Volume.Spec.MigrationNodeID
	switch {
	case target == "" && p.migration == "" && p.targetMovable(wanted):
		p.endOthers()
		p.moveTarget(wanted)
	case target == "" && p.migration == "":
		if p.second != nil || p.secondFrontend != nil {
			p.endSecond()
		}
	case target != "" && p.current == wanted:
		p.migration = target
		if p.Volume.Status.CurrentMigrationNodeID == target {
			p.startSecond(target)
		}
	case target == "" && p.current == wanted:
		if p.endSecond() {
			p.migration = ""
		}
	case target == "" && wanted == p.migration:
		p.handOver(wanted)
	default:
		p.state = v1beta2.VolumeStateDetaching
	}
}

// startSecond creates the second engine over the replicas that are RW in a fresh poll, and for v2 its frontend.
func (p *pass) startSecond(target string) {
	if p.nodeDown(target) || !p.engineRuns() {
		p.wait(v1beta2.ReasonMigrating, "The migration to "+target+" waits for both nodes.")
		return
	}
	if p.second == nil {
		if p.freshPoll() {
			p.add(Write{Kind: Create, Stage: StageMake, Object: p.newSecondEngine(target)})
		}
		p.wait(v1beta2.ReasonMigrating, "A second engine on "+target+" is about to be created.")
		return
	}
	if p.secondUnwanted(target) || p.secondOutdated() {
		p.endSecond() // another one is created
		return
	}
	if !p.running(ofEngine(p.second)) || !p.hasFrontend() {
		return
	}
	if p.secondFrontend == nil {
		p.add(Write{Kind: Create, Stage: StageMake, Object: p.newFrontend(p.second, target)})
		return
	}
	p.orderFrontend(p.secondFrontend, p.second, target)
}

// secondUnwanted reports whether the second engine belongs to a migration that was rolled back or retargeted.
func (f Facts) secondUnwanted(target string) bool {
	e, frontend := ofEngine(f.second), f.secondFrontend
	return f.second.DeletionTimestamp != nil || !e.wanted || e.node != target || frontend != nil && frontend.DeletionTimestamp != nil
}

// secondOutdated reports whether the first engine dropped a replica that the second one was given, and the second one has not dropped it. Such a
// second engine must not be used: it would never start, or would serve stale data.
func (f Facts) secondOutdated() bool {
	running := f.running(ofEngine(f.second))
	for name := range f.second.Spec.ReplicaAddressMap {
		_, given := f.engine.Spec.ReplicaAddressMap[name]
		gone := !given || f.mode(name) == v1beta2.ReplicaModeERR
		if gone && !(running && f.second.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeERR) {
			return true
		}
	}
	return false
}

// freshPoll requests an engine poll if the last one is too old. Times are those of this clock: the answer repeats the request.
func (p *pass) freshPoll() bool {
	asked, errAsked := time.Parse(time.RFC3339Nano, p.engine.Spec.LookRequestedAt)
	polled, errPolled := time.Parse(time.RFC3339Nano, p.engine.Status.LookedAt)
	age := p.Now.Sub(asked)
	recent := errAsked == nil && age >= 0 && age < pollAge // a request in the future comes from another clock
	if recent && errPolled == nil && !polled.Before(asked) {
		return true
	}
	if !recent {
		p.patch(StageStop, p.engine, "lookRequestedAt", p.Now.UTC().Format(time.RFC3339Nano))
	}
	return false
}

// handOver stops the first engine and makes the second one the volume's. If that is impossible, it detaches everything, and the volume is
// attached again at the target.
func (p *pass) handOver(target string) {
	first, second := ofEngine(p.engine), ofEngine(p.second)
	if p.second == nil { // the first is gone already
		if first.node == target && p.running(first) {
			p.current, p.migration = target, ""
		} else {
			p.state = v1beta2.VolumeStateDetaching
		}
		return
	}
	if first.node == target {
		p.engine, p.second, p.frontend, p.secondFrontend = p.second, p.engine, p.secondFrontend, p.frontend
		first, second = second, first
	}
	broken := p.secondOutdated() || p.nodeDown(first.node) && !p.stopped(first) || second.state == v1beta2.InstanceStateError || p.nodeDown(target) &&
		!p.stopped(first) ||
		ofFrontend(p.secondFrontend).wanted && ofFrontend(p.secondFrontend).state == v1beta2.InstanceStateError
	if broken {
		p.state = v1beta2.VolumeStateDetaching
		return
	}
	if !p.second.Spec.Active {
		p.patch(StageStop, p.second, "active", true)
	}
	if f := p.secondFrontend; f != nil && !f.Spec.Active {
		p.patch(StageStop, f, "active", true)
	}
	if !p.stopSide(p.frontend, p.engine) || !p.stopped(first) || !p.stopped(ofFrontend(p.frontend)) {
		p.wait(v1beta2.ReasonMigrating, fmt.Sprintf("The engine on %s stops; the engine on %s takes over.", first.node, target))
		return
	}
	if p.second.Spec.Active {
		p.drop(p.engine)
		if p.frontend != nil {
			p.drop(p.frontend)
		}
		p.current, p.migration = target, ""
		p.say(Event{Reason: EventMigrated, Note: "The volume has moved to " + target + "."})
	}
}

// endSecond stops and deletes the second engine: the migration was rolled back.
func (p *pass) endSecond() bool {
	if !p.stopSide(p.secondFrontend, p.second) || !p.stopped(ofEngine(p.second)) || !p.stopped(ofFrontend(p.secondFrontend)) {
		return p.wait(v1beta2.ReasonMigrating, "The second engine stops.")
	}
	p.dropSecond()
	return true
}
