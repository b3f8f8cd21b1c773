package orphan

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// claimed refuses the cleanup of an instance that a CR wants [ORP-1]. It also withdraws an earlier approval. The
// orphan stays until im-monitor withdraws it, or the claim ends.
func claimed(w World) *ruleResult {
	if !Claims(w) {
		return nil
	}
	if isData(w) {
		return hold(v1beta2.ReasonClaimed, fmt.Sprintf("Replica %s exists: its data is not destroyed. im-monitor withdraws the orphan "+
			"once it sees the same.", replicaOf(w)))
	}
	kind := "Engine"
	if w.Orphan.Spec.OrphanType == v1beta2.OrphanTypeReplicaInstance {
		kind = "Replica"
	}
	return hold(v1beta2.ReasonClaimed, fmt.Sprintf(
		"%s %s wants this instance to run in %s: it is not deleted. im-monitor withdraws the orphan once it sees the same.",
		kind, parameter(w, v1beta2.OrphanParameterInstanceName), parameter(w, v1beta2.OrphanParameterInstanceManager)))
}
