package instance

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// holding lets a frontend hold its I/O as long as that is asked for, so that nothing is acknowledged by a target that was given up:
//
//	asked, it runs               → suspend; then the request is answered
//	asked and held               → it moves where its spec reports, and holds on; once it is there, or cannot go there, that is answered
//	asked, held, runs all the same → the answer stands, so that whoever asked sees that it holds no more, and asks again
//	not asked any more           → it moves first, and resumes where its spec reports that I/O goes
//
// Servers suspend block devices only. Any other frontend that must hold its I/O answers nothing and stays where it is.
//
// One that must hold and does not never moves: what it moves to would lack what is acknowledged meanwhile. [UPG-1]
func holding(w World, e *Entry, v Verdict) Verdict {
	s := &v.Status
	held := e.State == v1beta2.InstanceStateSuspended
	switch asked := w.Object.Suspend; {
	case !w.frontend():
		return v
	case asked == "":
		s.Suspended = ""
		if v = moving(w, e, v); held && v.Reason == ReasonDone {
			return w.turn(v, OpResume, "At its target, its I/O goes on.")
		}
		return v
	case held:
		if v = moving(w, e, v); v.Call.Op == OpNone && !w.Unsettled { // else it may lead elsewhere soon, or by now
			v.Status.Suspended = asked
		}
		return v
	case !w.suspendable():
		v.Reason, v.Message = ReasonSuspendUnsupported,
			fmt.Sprintf("It shall hold its I/O, and frontend %q cannot: it stays where it is until its target answers again.",
				w.Object.Frontend)
		return v
	case s.Suspended == asked:
		v.Reason, v.Message = ReasonSuspensionLost,
			"It shall hold its I/O, did, and does not any more: it stays where it is until that is asked anew."
		return v
	}
	return w.turn(v, OpSuspend, "Its I/O is to be held: its target is given up.")
}

func (w World) turn(v Verdict, op Op, why string) Verdict {
	return Verdict{Status: v.Status, Reason: ReasonCalling,
		Message: fmt.Sprintf("%s is asked to %s it. %s", w.Here.InstanceManager, op, why),
		Call:    Call{Op: op, InstanceManager: w.Here.InstanceManager}}
}
