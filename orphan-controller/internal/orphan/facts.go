package orphan

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// ownTypes are the conditions that this controller writes.
var ownTypes = []string{v1beta2.OrphanCleanupApproved, v1beta2.OrphanDeletionReason}

func ownConditions(w World) []v1beta2.Condition {
	return conditions.Owned(w.Orphan.Status.Conditions, ownTypes...)
}

func deleting(w World) bool { return w.Orphan.DeletionTimestamp != nil }

func held(w World) bool { return slices.Contains(w.Orphan.Finalizers, v1beta2.Finalizer) }

// NameOf is the name of an orphan's instance, or of the replica whose data it is.
func NameOf(o *v1beta2.Orphan) string {
	if o.Spec.OrphanType == v1beta2.OrphanTypeReplicaData {
		return o.Spec.Parameters[v1beta2.OrphanParameterDataName]
	}
	return o.Spec.Parameters[v1beta2.OrphanParameterInstanceName]
}

func nameOf(w World) string { return NameOf(w.Orphan) }

func replicaOf(w World) string { return parameter(w, v1beta2.OrphanParameterDataName) }

func parameter(w World, key string) string { return w.Orphan.Spec.Parameters[key] }

// deletedByPolicy reports whether the reason of a deletion by policy is stored. An orphan that is being deleted without
// one was deleted by a person, or by a peer controller.
func deletedByPolicy(w World) bool {
	return conditions.Get(w.Orphan.Status.Conditions, v1beta2.OrphanDeletionReason) != nil
}

// onPolicyAlone reports whether the deletion rests on a policy: on no person's word for exactly this orphan.
func onPolicyAlone(w World) bool { return deletedByPolicy(w) && !v1beta2.DeletedByHand(w.Orphan) }

// byHand is how a person has the instance deleted that policy holds back, if something is so. An orphan that a policy deleted cannot be
// deleted again.
func byHand(w World, condition string) string {
	if deleting(w) {
		return fmt.Sprintf(" A policy has deleted the orphan already: if %s, release it with %s", condition,
			v1beta2.DeleteByHandCommand(w.Orphan))
	}
	return fmt.Sprintf(" Delete the orphan by hand if %s.", condition)
}

// approvedNow reports whether the stored approval is given.
func approvedNow(w World) bool {
	return conditions.IsTrue(w.Orphan.Status.Conditions, v1beta2.OrphanCleanupApproved)
}

// heldFor reports whether the stored approval is withheld for that reason.
func heldFor(w World, reason string) bool {
	c := conditions.Get(w.Orphan.Status.Conditions, v1beta2.OrphanCleanupApproved)
	return c != nil && c.Status == v1beta2.ConditionFalse && c.Reason == reason
}

// evaluation returns the rule by which im-monitor found the instance orphaned; "" while it has not.
func evaluation(w World) string {
	if !conditions.IsTrue(w.Orphan.Status.Conditions, v1beta2.OrphanOrphaned) {
		return ""
	}
	return conditions.Reason(w.Orphan.Status.Conditions, v1beta2.OrphanOrphaned)
}

// evaluations are the rules of im-monitor that this version knows.
var evaluations = []string{
	v1beta2.ReasonNoOwnerCR, v1beta2.ReasonOwnedByOtherInstanceManager, v1beta2.ReasonStoppedButPresent, v1beta2.ReasonDataOnly,
	v1beta2.ReasonForeignData,
}

// disowned reports whether the rule means that no CR of the instance's name exists.
func disowned(rule string) bool {
	return rule == v1beta2.ReasonNoOwnerCR || rule == v1beta2.ReasonDataOnly || rule == v1beta2.ReasonForeignData
}

// downOrDeleted reports whether a node is down, or is being deleted: nothing that runs there is reached from another node, or for long.
func downOrDeleted(node *v1beta2.Node) bool {
	return v1beta2.IsNodeDown(node) || node.DeletionTimestamp != nil
}

// VolumeOf is the volume of an orphan's engine or replica, by the form of its name; "" if the name contains none.
func VolumeOf(o *v1beta2.Orphan) string {
	if o.Spec.OrphanType == v1beta2.OrphanTypeEngineInstance {
		return v1beta2.VolumeOfEngineName(NameOf(o))
	}
	return v1beta2.VolumeOfReplicaName(NameOf(o))
}

// Claims reports whether the CR of the instance's name wants exactly this runtime: its desired state is running, and it runs, or is
// going to, in this instance manager.
func Claims(w World) bool {
	switch w.Orphan.Spec.OrphanType {
	case v1beta2.OrphanTypeEngineInstance:
		e := w.Engine
		return e != nil && claims(w, e.Spec.DesireState, e.Status.InstanceManagerName, e.Spec.NodeID)
	case v1beta2.OrphanTypeReplicaData:
		return w.Replica != nil
	case v1beta2.OrphanTypeReplicaInstance:
		r := w.Replica
		return r != nil && claims(w, r.Spec.DesireState, r.Status.InstanceManagerName, r.Spec.NodeID)
	}
	return false
}

func claims(w World, desireState, instanceManager, node string) bool {
	if desireState != v1beta2.InstanceStateRunning {
		return false
	}
	if instanceManager == "" {
		return node == w.Orphan.Spec.NodeID
	}
	return instanceManager == parameter(w, v1beta2.OrphanParameterInstanceManager)
}
