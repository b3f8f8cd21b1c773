package instance

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// holding keeps the I/O of a frontend suspended as long as that is requested, so that a target from which the volume fails over
// acknowledges no write:
//
//	requested, it runs               → suspend; then the request is answered
//	requested and suspended          → it switches over to its spec's target, suspended; then, or if it cannot, it answers
//	requested, suspended, runs again → the answer stays, so that the requester sees the lost suspension, and requests it again
//	no longer requested              → it switches over first, and resumes at its spec's target
//
// Servers suspend block devices only. For any other frontend the request is not answered, and the frontend stays at its target.
//
// A frontend that must be suspended and is not never switches over: the new target would lack writes that are acknowledged meanwhile.
// [UPG-1]
func holding(w World, e *Entry, v Verdict) Verdict {
	s := &v.Status
	held := e.State == v1beta2.InstanceStateSuspended
	switch asked := w.Object.Suspend; {
	case !w.frontend():
		return v
	case asked == "":
		s.Suspended = ""
		if v = moving(w, e, v); held && v.Reason == ReasonDone {
			return w.turn(v, OpResume, "It is at its target, so its I/O resumes.")
		}
		return v
	case held:
		if v = moving(w, e, v); v.Call.Op == OpNone && !w.Unsettled { // else a switch-over may be in progress, or done
			v.Status.Suspended = asked
		}
		return v
	case !w.suspendable():
		v.Reason, v.Message = ReasonSuspendUnsupported,
			fmt.Sprintf("Its I/O is to be suspended, and frontend %q does not support that: it stays until its target answers.",
				w.Object.Frontend)
		return v
	case s.Suspended == asked:
		v.Reason, v.Message = ReasonSuspensionLost,
			"Its I/O was suspended on request and is no longer suspended: it stays at its target until a new request."
		return v
	}
	return w.turn(v, OpSuspend, "Its I/O is suspended before it fails over to another target.")
}

func (w World) turn(v Verdict, op Op, why string) Verdict {
	return Verdict{Status: v.Status, Reason: ReasonCalling,
		Message: fmt.Sprintf("%s is asked to %s it. %s", w.Here.InstanceManager, op, why),
		Call:    Call{Op: op, InstanceManager: w.Here.InstanceManager}}
}
