package orphan

import (
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// ends are the reasons with which this controller ends an orphan without execution. NotJudged is not among them: an
// orphan that waits for an evaluation may still get one.
var ends = []string{v1beta2.ReasonNodeGone, v1beta2.ReasonInstanceManagerGone, v1beta2.ReasonNoDataPath}

// concluded keeps an end that was stored. Without this rule, an orphan that was deleted because its node was down would be
// handled as a person's deletion once the node comes back, and be executed.
func concluded(w World) *ruleResult {
	c := conditions.Get(w.Orphan.Status.Conditions, v1beta2.OrphanCleanupApproved)
	if !deleting(w) || c == nil || c.Status != v1beta2.ConditionFalse || !slices.Contains(ends, c.Reason) {
		return nil
	}
	return &ruleResult{outcome: c.Reason, message: c.Message, finish: finishEnd}
}

// end gives the reason why there is nothing to execute; the deletion and the finalizer follow once the reason is stored.
func end(reason, message string) *ruleResult {
	return &ruleResult{
		outcome: reason, message: message, own: ownApproval, approval: v1beta2.ConditionFalse, reason: reason,
		finish: finishEnd, event: EventEnded, confirm: true,
	}
}

// nodeGone ends the orphans of a node that is down, deleted or unknown. No other node can reach what runs there; when
// the node comes back, im-monitor evaluates again.
func nodeGone(w World) *ruleResult {
	if !downOrDeleted(w.Node) {
		return nil
	}
	return end(v1beta2.ReasonNodeGone, fmt.Sprintf(
		"Node %s is down or deleted: the orphan ends without a call. If the node comes back with instance %s still orphaned, a new "+
			"orphan appears.",
		w.Orphan.Spec.NodeID, nameOf(w)))
}

// replicaData lets the CR of an orphaned replica directory end: nothing in this version can delete the directory.
func replicaData(w World) *ruleResult {
	switch {
	case w.Orphan.Spec.OrphanType != v1beta2.OrphanTypeReplicaData || isData(w):
		return nil
	case deleting(w):
		return end(v1beta2.ReasonNoDataPath, "The orphan ends; the replica directory stays on its disk, since this version deletes no "+
			"data of orphaned directories.")
	case w.Settings.ReplicaData != On:
		return leaveAlone(w)
	}
	if due := w.Orphan.CreationTimestamp.Add(w.Settings.GracePeriod); w.Now.Before(due) {
		return holdUntil(v1beta2.ReasonGracePeriod, fmt.Sprintf(
			"Auto deletion removes this CR at %s; the replica directory itself will stay.", due.UTC().Format(time.RFC3339)), due)
	}
	if w.Limits.DryRun {
		return dryRun(w)
	}
	r := end(v1beta2.ReasonNoDataPath, "Auto deletion ends the orphan; the replica directory stays on its disk, since this version "+
		"deletes no data of orphaned directories.")
	r.deletionReason = v1beta2.ReasonAutoDeletion
	return r
}

// instanceManagerGone ends the orphans of an instance manager that does not exist any more.
func instanceManagerGone(w World) *ruleResult {
	if w.InstanceManager != nil || !isInstance(w) {
		return nil
	}
	return end(v1beta2.ReasonInstanceManagerGone, fmt.Sprintf(
		"Instance manager %s does not exist any more: the orphan ends without a call.",
		parameter(w, v1beta2.OrphanParameterInstanceManager)))
}

// isData reports whether the orphan is the data of a v2 replica on a block disk, which im-monitor can destroy. Directories of v1 replicas
// have no data path: no controller reads the file systems of hosts.
func isData(w World) bool {
	return w.Orphan.Spec.OrphanType == v1beta2.OrphanTypeReplicaData &&
		parameter(w, v1beta2.OrphanParameterDiskType) == v1beta2.DiskTypeBlock
}

// notCleanable leaves an orphan of data alone until im-monitor reports that the data can be destroyed. If im-monitor reports that they
// cannot, it also withdraws the orphan.
func notCleanable(w World) *ruleResult {
	if !isData(w) || conditions.IsTrue(w.Orphan.Status.Conditions, v1beta2.OrphanDataCleanable) {
		return nil
	}
	if !deleting(w) {
		return leaveAlone(w)
	}
	return hold(v1beta2.ReasonNotJudged, "im-monitor does not report that the data can be destroyed on its disk (DataCleanable); nothing "+
		"is executed. Check that im-monitor runs.")
}

// foreignData holds policy back from data that was on its disk before the disk joined this cluster: it may belong to another cluster.
func foreignData(w World) *ruleResult {
	if evaluation(w) != v1beta2.ReasonForeignData || deleting(w) && !onPolicyAlone(w) {
		return nil
	}
	return hold(v1beta2.ReasonAcknowledged, fmt.Sprintf(
		"The data of %s was on its disk when that disk came to this cluster, so no policy deletes it.", nameOf(w))+
		byHand(w, "the data is not needed"))
}

func isInstance(w World) bool {
	return w.Orphan.Spec.OrphanType == v1beta2.OrphanTypeEngineInstance || w.Orphan.Spec.OrphanType == v1beta2.OrphanTypeReplicaInstance
}
