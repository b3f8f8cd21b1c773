package instance

import (
	"fmt"
	"net"
	"slices"
	"strconv"

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
//
// A target whose engine does not serve is never asked for. One that stops to serve half-way, or whose server declines a phase, is left again: the
// same phases lead back to the path that carried I/O before, as long as its engine serves, and take the other path away. So does a path that an
// earlier move left inaccessible: with both of them inaccessible no I/O would find a way.
func moving(w World, e *Entry, v Verdict) Verdict {
	target := w.Object.Target
	if !w.frontend() || target.Address() == "" {
		return v
	}
	done, next := progress(e, target)
	v.Status.SwitchoverPhase = done
	old := w.wayBack(e)
	switch {
	case next == "":
		return v
	case w.mayMove(target) && !(old != nil && next == phaseSwitching && closed(e, target) && !w.tookAway(v, *old)):
		return w.move(v, target, next)
	case old != nil:
		if _, next = progress(e, *old); next == "" || next == phaseSwitching && closed(e, *old) {
			next = phasePromoting // it is opened before the other path is closed, or all that is left is to take that away
		}
		return w.move(v, *old, next)
	case w.MoveAfter.After(w.Now):
		v.Reason, v.At, v.Message = ReasonMoveRefused, w.MoveAfter, fmt.Sprintf("The move to engine %s was declined; it is tried again.", target.Engine)
	default:
		v.Reason = ReasonTargetNotServing
		v.Message = fmt.Sprintf("Engine %s does not serve at %s; the frontend stays where it is.", target.Engine, target.Address())
	}
	return v
}

// mayMove tells that the target's engine serves, and that no server just declined to go there.
func (w World) mayMove(target TargetSpec) bool {
	return slices.Contains(w.Serving, target.Address()) && !w.MoveAfter.After(w.Now)
}

// tookAway tells that the server agreed to take every path but one away already; some list them for a while.
func (w World) tookAway(v Verdict, but TargetSpec) bool {
	return w.Taken == w.move(v, but, phasePromoting).Call.Identity()
}

func (w World) move(v Verdict, target TargetSpec, phase string) Verdict {
	return Verdict{
		Status: v.Status, Reason: ReasonCalling, Message: fmt.Sprintf("It moves to engine %s at %s: %s.", target.Engine, target.Address(), phase),
		Call: Call{Op: OpSwitchOver, InstanceManager: w.Here.InstanceManager, Target: target, Phase: phase},
	}
}

// wayBack is the path beside the target's whose engine serves: the one that carries I/O before any other. Nil where the frontend has not both.
func (w World) wayBack(e *Entry) *TargetSpec {
	var found *TargetSpec
	both := false
	for _, p := range e.Paths {
		at := TargetSpec{Engine: p.EngineName, IP: p.TargetIP, Port: p.TargetPort}
		switch own := at.Address() == w.Object.Target.Address(); {
		case own:
			both = true
		case slices.Contains(w.Serving, at.Address()) && (found == nil || p.ANAState == anaOptimized):
			found = &at
		}
	}
	if !both {
		return nil
	}
	return found
}

// closed tells that the path to a target is inaccessible.
func closed(e *Entry, target TargetSpec) bool {
	return slices.ContainsFunc(e.Paths, func(p v1beta2.NvmeTCPPath) bool {
		return address(p.TargetIP, p.TargetPort) == target.Address() && p.ANAState == anaInaccessible
	})
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
	if found == nil && len(e.Paths) == 0 {
		return alone(e.ActivePath)
	}
	return found
}

// alone is the path of a server that tells only which one is active; nil where it tells none.
func alone(active string) *v1beta2.NvmeTCPPath {
	host, port, err := net.SplitHostPort(active)
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil
	}
	return &v1beta2.NvmeTCPPath{TargetIP: host, TargetPort: n, ANAState: anaOptimized}
}
