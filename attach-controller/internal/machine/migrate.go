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
	target := p.v.Spec.MigrationNodeID
	switch {
	case target == "" && p.migration == "" && p.movable(wanted):
		p.endOthers()
		p.moveTarget(wanted)
	case target == "" && p.migration == "":
		if p.second != nil || p.secondFront != nil {
			p.endSecond()
		}
	case target != "" && p.current == wanted:
		p.migration = target
		if p.v.Status.CurrentMigrationNodeID == target {
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
	if p.down(target) || !p.engineUp() {
		p.wait(v1beta2.ReasonMigrating, "The migration to "+target+" waits for both nodes.")
		return
	}
	if p.second == nil {
		if p.freshPoll() {
			p.add(Write{Kind: Create, Stage: StageMake, Object: p.secondEngine(target)})
		}
		p.wait(v1beta2.ReasonMigrating, "A second engine on "+target+" is about to be created.")
		return
	}
	if p.leftOver(target) || p.outrun() {
		p.endSecond() // another one is created
		return
	}
	if !p.running(ofEngine(p.second)) || !p.hasFrontend() {
		return
	}
	if p.secondFront == nil {
		p.add(Write{Kind: Create, Stage: StageMake, Object: p.newFrontend(p.second, target)})
		return
	}
	p.orderFrontend(p.secondFront, p.second, target)
}

// leftOver reports whether the second engine belongs to a migration that was rolled back or retargeted.
func (p *pass) leftOver(target string) bool {
	e, f := ofEngine(p.second), p.secondFront
	return p.second.DeletionTimestamp != nil || !e.wanted || e.node != target || f != nil && f.DeletionTimestamp != nil
}

// outrun reports whether the first engine dropped a replica that the second one was given, and the second one has not dropped it. Such a
// second engine must not be used: it would never start, or would serve stale data.
func (p *pass) outrun() bool {
	running := p.running(ofEngine(p.second))
	for name := range p.second.Spec.ReplicaAddressMap {
		_, given := p.engine.Spec.ReplicaAddressMap[name]
		gone := !given || p.mode(name) == v1beta2.ReplicaModeERR
		if gone && !(running && p.second.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeERR) {
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
		p.engine, p.second, p.frontend, p.secondFront = p.second, p.engine, p.secondFront, p.frontend
		first, second = second, first
	}
	broken := p.outrun() || p.down(first.node) && !p.stopped(first) || second.state == v1beta2.InstanceStateError || p.down(target) &&
		!p.stopped(first) ||
		ofFrontend(p.secondFront).wanted && ofFrontend(p.secondFront).state == v1beta2.InstanceStateError
	if broken {
		p.state = v1beta2.VolumeStateDetaching
		return
	}
	if !p.second.Spec.Active {
		p.patch(StageStop, p.second, "active", true)
	}
	if f := p.secondFront; f != nil && !f.Spec.Active {
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
	if !p.stopSide(p.secondFront, p.second) || !p.stopped(ofEngine(p.second)) || !p.stopped(ofFrontend(p.secondFront)) {
		return p.wait(v1beta2.ReasonMigrating, "The second engine stops.")
	}
	p.dropSecond()
	return true
}
