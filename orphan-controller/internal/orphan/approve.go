package orphan

import (
	"cmp"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// approveDeletion approves the deletion of exactly what the spec names. For a person's deletion the message warns only [UPG-1].
func approveDeletion(w World) *ruleResult {
	message := approvalMessage(w)
	if !onPolicyAlone(w) {
		if last, why := lastCopy(w); last {
			message += " Warning: " + why
		}
	}
	return approved(w, message)
}

// deleteByPolicy stores the reason together with the approval; the deletion follows once both are stored.
func deleteByPolicy(w World) *ruleResult {
	r := approved(w, approvalMessage(w))
	r.deletionReason, r.finish, r.confirm = policyOf(w), finishEnd, true
	return r
}

func approved(w World, message string) *ruleResult {
	return &ruleResult{
		outcome: v1beta2.ReasonApproved, message: message, own: ownApproval,
		approval: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved, event: EventApproved,
		// A person's deletion does not wait; a policy's is decided again on uncached reads.
		confirm: deletedByPolicy(w),
	}
}

func approvalMessage(w World) string {
	if isData(w) {
		return fmt.Sprintf("im-monitor may destroy the data of %s on disk %s (UUID %s) of node %s.", replicaOf(w),
			parameter(w, v1beta2.OrphanParameterDiskName), parameter(w, v1beta2.OrphanParameterDiskUUID), w.Orphan.Spec.NodeID)
	}
	return fmt.Sprintf("im-monitor may delete instance %s with UUID %s from %s.",
		parameter(w, v1beta2.OrphanParameterInstanceName), parameter(w, v1beta2.OrphanParameterInstanceUUID),
		parameter(w, v1beta2.OrphanParameterInstanceManager))
}

func deletionMessage(w World, reason string) string {
	by := ""
	if v1beta2.GivenUp(w.Orphan) {
		by = fmt.Sprintf(" A person gave it up: %s.", cmp.Or(w.Orphan.Annotations[v1beta2.AnnotationGivenUpBy], "unknown"))
	}
	if reason == v1beta2.ReasonEviction {
		return fmt.Sprintf("Node %s is being evicted.", w.Orphan.Spec.NodeID) + by
	}
	return "The setting orphan-resource-auto-deletion asks for it." + by
}
