package instance

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// lost creates a frontend again that was lost in a live upgrade: the server of the new instance manager did not find its record, or could
// not reach the target on record. Two complete lists lack it, the second one in a settled epoch, so that the server is no longer
// recovering it. Its target serves elsewhere, so the volume need not be detached; the workload's device is a new one. A frontend that was
// lost in the middle of a switch-over fails instead: the listeners of both engines may be closed, and only a new attachment opens them.
// [UPG-3]
func lost(w World) Verdict {
	v := start(w)
	if target := w.Object.Target; w.Engines[target.Engine].Address != target.Address() {
		v = Verdict{Message: fmt.Sprintf("engine %s does not serve at %s.", w.Object.Target.Engine, w.Object.Target.Address())}
	}
	if v.Call.Op != OpCreate {
		return keep(w, ReasonFrontendLost, fmt.Sprintf("%s lost it, and it cannot be created again yet: %s", w.Here.InstanceManager,
			v.Message)).in(v1beta2.InstanceStateUnknown)
	}
	v.Call.Lost = fmt.Sprintf("Instance manager %s lost the frontend of volume %s while node %s was upgraded. It is created again; the "+
		"device that pods had is gone.",
		w.Here.InstanceManager, w.Object.Volume, w.Node.Name)
	return v
}
