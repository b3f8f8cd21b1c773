package instance

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// lost creates a frontend again that a live upgrade took away: the server of the new instance manager did not find its record, or could not
// reach the target on record. Two whole lists lack it, the second of them of a settled epoch, so that no one is still recovering it. Its
// target serves elsewhere, so the volume need not be detached for it; the workload's device is another one now. One that was lost in the
// middle of a switch-over fails instead: the listeners of both engines may be closed, and only a new attachment opens them. [UPG-3]
func lost(w World) Verdict {
	v := start(w)
	if target := w.Object.Target; w.Engines[target.Engine].Address != target.Address() {
		v = Verdict{Message: fmt.Sprintf("engine %s does not serve at %s.", w.Object.Target.Engine, w.Object.Target.Address())}
	}
	if v.Call.Op != OpCreate {
		return keep(w, ReasonFrontendLost, fmt.Sprintf("%s lost it, and it cannot be created anew yet: %s", w.Here.InstanceManager,
			v.Message)).in(v1beta2.InstanceStateUnknown)
	}
	v.Call.Lost = fmt.Sprintf("Instance manager %s lost the frontend of volume %s while node %s was upgraded. It is created anew; the "+
		"device that pods had is gone.",
		w.Here.InstanceManager, w.Object.Volume, w.Node.Name)
	return v
}
