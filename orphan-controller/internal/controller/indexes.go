package controller

import (
	"strconv"
	"time"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
)

// The indexes. Each maps an event to the orphans that it is about, or a question of the core to its answer,
// without reading anything else.
const (
	// Orphans by what they name, beside their node and volume.
	byInstanceManager = "instance-manager"
	byInstance        = "instance"
	// byBurst is node and creation time in steps of the flood's window.
	byBurst = "burst"
	// byInFlight is the node of orphans whose deletion by policy is approved, not finished, and has not failed.
	byInFlight = "in-flight"
	// byWaiting is the node of orphans that wait for what other orphans of the node do.
	byWaiting = "waiting"
	// byCopies has the orphans whose policy depends on the health of other replicas.
	byCopies = "copies"
)

// indexes also find engines, replicas and PersistentVolumes by volume, instance managers by node. window is the flood's.
func indexes(window time.Duration) []kube.Index {
	orphans := func(field string, key func(*v1beta2.Orphan) string) kube.Index {
		return kube.IndexBy(&v1beta2.Orphan{}, field, key)
	}
	return []kube.Index{
		orphans(kube.FieldNode, func(o *v1beta2.Orphan) string { return o.Spec.NodeID }),
		orphans(kube.FieldVolume, orphan.VolumeOf),
		orphans(byInstanceManager, func(o *v1beta2.Orphan) string { return o.Spec.Parameters[v1beta2.OrphanParameterInstanceManager] }),
		orphans(byInstance, orphan.NameOf),
		orphans(byBurst, func(o *v1beta2.Orphan) string { return burstKey(o.Spec.NodeID, o.CreationTimestamp.Time, window, 0) }),
		orphans(byInFlight, nodeIf(inFlight)),
		orphans(byWaiting, nodeIf(waiting)),
		kube.IndexIf(&v1beta2.Orphan{}, byCopies, dependsOnCopies),
		kube.ByVolume(&v1beta2.Engine{}),
		kube.ByVolume(&v1beta2.Replica{}),
		kube.ByNode(&v1beta2.InstanceManager{}),
		kube.ByHandle(),
	}
}

func nodeIf(is func(*v1beta2.Orphan) bool) func(*v1beta2.Orphan) string {
	return func(o *v1beta2.Orphan) string {
		if is(o) {
			return o.Spec.NodeID
		}
		return ""
	}
}

// burstKey names the window of a creation time, or the one that lies offset windows later.
func burstKey(node string, created time.Time, window time.Duration, offset int64) string {
	return node + "/" + strconv.FormatInt(created.UnixNano()/int64(window)+offset, 10)
}

// inFlight excludes an orphan that waits after a failed attempt: it may wait for ever, and must not block the others.
func inFlight(o *v1beta2.Orphan) bool {
	list := o.Status.Conditions
	return conditions.IsTrue(list, v1beta2.OrphanDeletionReason) && conditions.IsTrue(list, v1beta2.OrphanCleanupApproved) &&
		!conditions.IsTrue(list, v1beta2.OrphanWithdrawn) && !conditions.IsFalse(list, v1beta2.OrphanInstanceState) &&
		!conditions.IsTrue(list, v1beta2.OrphanCleanupFailed)
}

func waiting(o *v1beta2.Orphan) bool {
	switch reason := conditions.Reason(o.Status.Conditions, v1beta2.OrphanCleanupApproved); reason {
	case v1beta2.ReasonRateLimited, v1beta2.ReasonFlood, v1beta2.ReasonAcknowledged:
		return true
	}
	return false
}

// dependsOnCopies picks the orphans that are held as a last copy, and those that policy is deleting and must hold once they
// become one.
func dependsOnCopies(o *v1beta2.Orphan) bool {
	list := o.Status.Conditions
	return o.Spec.OrphanType != v1beta2.OrphanTypeEngineInstance && orphan.VolumeOf(o) != "" &&
		(conditions.Reason(list, v1beta2.OrphanCleanupApproved) == v1beta2.ReasonLastCopy ||
			conditions.IsTrue(list, v1beta2.OrphanDeletionReason))
}

func floodHeld(o *v1beta2.Orphan) bool {
	return conditions.Reason(o.Status.Conditions, v1beta2.OrphanCleanupApproved) == v1beta2.ReasonFlood
}
