package machine

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// pass is one evaluation under way. It remembers its own writes, so that later steps of the same pass count on them.
type pass struct {
	World
	collect
	out Verdict
	v   *v1beta2.Volume

	engine, second        *v1beta2.Engine
	frontend, secondFront *v1beta2.EngineFrontend

	// Values for the status.
	state, current, migration string
	faulted                   bool
	// because is why the volume is faulted, if this pass found out, or what must end for that to change.
	because string
	// failed are replicas that this pass found to have failed.
	failed map[string]bool
	// rebuiltNow are replicas that this pass found to be rebuilt.
	rebuiltNow map[string]bool
	// givenUp reports whether the volume fails over from its engine, or is about to.
	givenUp bool
	// makes reports whether this pass creates an engine to take over.
	makes bool
	// why is the reason for which the wanted state is not reached.
	why waiting
	// reverted is the condition on the revert that a user requested; nil: nothing new.
	reverted *v1beta2.Condition
}

// waiting is what a volume waits for, as a reason and a sentence.
type waiting struct{ reason, message string }

func (p *pass) wait(reason, message string) bool {
	if p.why.reason == "" {
		p.why = waiting{reason, message}
	}
	return false
}

// Decide is total and deterministic; deciding again on a world in which its writes were done changes nothing until another writer changes
// the world.
func Decide(w World) Verdict {
	p := &pass{World: w, v: w.Volume, failed: map[string]bool{}, rebuiltNow: map[string]bool{}}
	p.state, p.current, p.migration = p.v.Status.State, p.v.Status.CurrentNodeID, p.v.Status.CurrentMigrationNodeID
	p.faulted = p.v.Status.Robustness == v1beta2.VolumeRobustnessFaulted
	p.pick()
	p.endAllPrevious()
	switch {
	case p.v.DeletionTimestamp != nil:
		p.remove()
	default:
		p.defaults()
		p.findFaults()
		p.failReplicas()
		p.move()
		p.resumeIO()
		p.salvage()
		p.progress()
		p.revert()
		p.newImage()
	}
	p.status()
	p.out.Writes = p.list()
	marks := func(w Write) bool { return w.Stage == StageFail }
	p.out.Fresh = p.out.Fresh || slices.ContainsFunc(p.out.Writes, marks)
	return p.out
}

// pick finds the volume's engine, and the second one that starts or stops.
func (p *pass) pick() {
	for _, e := range p.Engines {
		if e.Spec.Active && (p.engine == nil || p.betterEngine(e)) {
			p.engine = e
		}
	}
	if served := p.served(); served != nil {
		p.engine = served
	}
	for _, e := range p.Engines {
		if e != p.engine && p.engine == nil {
			p.engine = e
		} else if e != p.engine && (p.second == nil || ofEngine(e).wanted || !ofEngine(p.second).wanted) {
			p.second = e
		}
	}
	for _, f := range p.Frontends {
		if p.frontend == nil || p.engine != nil && f.Spec.EngineName == p.engine.Name {
			p.frontend = f
		}
	}
	for _, f := range p.Frontends {
		if f != p.frontend {
			p.secondFront = f
		}
	}
}

// betterEngine prefers, of two active engines, the one on the volume's node: after a crash during a hand-over both are active.
func (p *pass) betterEngine(e *v1beta2.Engine) bool {
	if p.current == "" || p.engine.Spec.NodeID == p.current {
		return false
	}
	return e.Spec.NodeID == p.current
}
