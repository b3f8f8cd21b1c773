package machine

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// Facts are what a concern knows: the World, what follows from it, and what the concerns before it decided. They are passed by value, and
// none of their methods has an effect.
type Facts struct {
	// World has in Replicas only those that are copies of the data.
	*World
	// seconds are the second processes over the directories of v1 replicas (second_process.go).
	seconds []*v1beta2.Replica
	// phase is that of the volume as it is stored; it never changes in an evaluation, as what was decided does.
	phase phase
	decided
}

// roles are the volume's objects by what they do. Each may be nil.
type roles struct {
	// engine is the volume's engine; second is another one, which takes over or stops.
	engine, second *v1beta2.Engine
	// frontend leads to the volume's engine, secondFrontend to the second one in a migration.
	frontend, secondFrontend *v1beta2.EngineFrontend
}

// decided is what the concerns of an evaluation decided so far, on which the later ones build.
type decided struct {
	roles
	// state, current and migration are the values for Volume.status.
	state, current, migration string
	faulted                   bool
	// faultReason is why the volume is faulted, if that was found now, or what must end for that to change; empty: as stored.
	faultReason string
	// failed and rebuilt are the replicas that were found to have failed, and to be rebuilt.
	failed, rebuilt names
	// failsOver reports whether the volume fails over from its engine, or is about to.
	failsOver bool
	// createsEngine reports whether an engine is created that takes over.
	createsEngine bool
	// waitingFor is the reason for which the wanted state is not reached.
	waitingFor waiting
	// reverted is the condition on the revert that a user requested; nil: nothing new.
	reverted *v1beta2.Condition
}

// names is a set of names of objects.
type names map[string]bool

// with returns a set that contains the name, too.
func (n names) with(name string) names {
	out := names{name: true}
	for one := range n {
		out[one] = true
	}
	return out
}

// factsOf derives the facts of a World, before anything is decided.
func factsOf(read *World) Facts {
	w, s := *read, read.Volume.Status
	copies, seconds := v1beta2.SplitCopies(read.Replicas)
	w.Replicas = copies
	f := Facts{World: &w, seconds: seconds, decided: decided{state: s.State, current: s.CurrentNodeID, migration: s.CurrentMigrationNodeID,
		faulted: s.Robustness == v1beta2.VolumeRobustnessFaulted}}
	f.engine = f.volumeEngine()
	f.second = f.secondEngine()
	f.frontend = f.volumeFrontend()
	f.secondFrontend = f.otherFrontend()
	f.phase = f.phaseNow()
	return f
}

// volumeEngine returns the engine that serves the volume, else the active one, else the first.
func (f Facts) volumeEngine() *v1beta2.Engine {
	if serving := f.servingEngine(); serving != nil {
		return serving
	}
	var active *v1beta2.Engine
	for _, e := range f.Engines {
		if e.Spec.Active && (active == nil || f.preferred(e, active)) {
			active = e
		}
	}
	if active == nil && len(f.Engines) > 0 {
		return f.Engines[0]
	}
	return active
}

// preferred prefers, of two active engines, the one on the volume's node: after a crash during a hand-over both are active.
func (f Facts) preferred(e, active *v1beta2.Engine) bool {
	return f.current != "" && active.Spec.NodeID != f.current && e.Spec.NodeID == f.current
}

// secondEngine returns the last engine beside the volume's that must run, else the last one.
func (f Facts) secondEngine() (second *v1beta2.Engine) {
	for _, e := range f.Engines {
		if e != f.engine && (second == nil || ofEngine(e).wanted || !ofEngine(second).wanted) {
			second = e
		}
	}
	return second
}

// volumeFrontend returns the last frontend that is meant to lead to the volume's engine, else the first.
func (f Facts) volumeFrontend() (frontend *v1beta2.EngineFrontend) {
	for _, one := range f.Frontends {
		if frontend == nil || f.engine != nil && one.Spec.EngineName == f.engine.Name {
			frontend = one
		}
	}
	return frontend
}

// otherFrontend returns the last frontend beside the volume's.
func (f Facts) otherFrontend() (other *v1beta2.EngineFrontend) {
	for _, one := range f.Frontends {
		if one != f.frontend {
			other = one
		}
	}
	return other
}

func (f Facts) anyReplica(is func(*v1beta2.Replica) bool) bool {
	return slices.ContainsFunc(f.Replicas, is)
}
