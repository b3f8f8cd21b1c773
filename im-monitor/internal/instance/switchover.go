package instance

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// The phases of a move, and the states of a path.
const (
	phasePreparing = "preparing"
	phaseSwitching = "switching"
	phasePromoting = "promoting"

	anaOptimized    = "optimized"
	anaInaccessible = "inaccessible"
)

// moving leads a running frontend to the target that its spec names. What the paths show decides the next phase, so that each is asked for until
// it is seen to be done, whoever asked before:
//
//	no path to the target                   → preparing
//	a path, another one still carries I/O   → switching
//	a path, the others inaccessible         → promoting
//	the path is optimized, alone            → done
func moving(w World, e *Entry, v Verdict) Verdict {
	target := w.Object.Target
	if !w.frontend() || target.Address() == "" {
		return v
	}
	done, next := progress(e, target)
	v.Status.SwitchoverPhase = done
	if next == "" {
		return v
	}
	return Verdict{
		Status: v.Status, Reason: ReasonCalling, Message: fmt.Sprintf("It moves to engine %s at %s: %s.", target.Engine, target.Address(), next),
		Call: Call{Op: OpSwitchOver, InstanceManager: w.Here.InstanceManager, Phase: next},
	}
}

// progress is the phase that the paths show to be done, and the next one; both empty at the target, and where no path is told.
func progress(e *Entry, target TargetSpec) (done, next string) {
	if len(e.Paths) == 0 {
		return "", ""
	}
	var own *v1beta2.NvmeTCPPath
	others := false
	for i := range e.Paths {
		switch p := &e.Paths[i]; {
		case address(p.TargetIP, p.TargetPort) == target.Address():
			own = p
		case p.ANAState != anaInaccessible:
			others = true
		}
	}
	switch {
	case own == nil:
		return "", phasePreparing
	case others:
		return phasePreparing, phaseSwitching
	case own.ANAState != anaOptimized:
		return phaseSwitching, phasePromoting
	}
	return "", ""
}

// optimized is the path that carries I/O; nil where none or several do.
func optimized(e *Entry) *v1beta2.NvmeTCPPath {
	var found *v1beta2.NvmeTCPPath
	for i := range e.Paths {
		if e.Paths[i].ANAState != anaOptimized {
			continue
		}
		if found != nil {
			return nil
		}
		found = &e.Paths[i]
	}
	return found
}
