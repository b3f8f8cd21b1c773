package snapshotcontroller

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
)

// The indexes. Each maps an event to the snapshots that it is about, without reading anything else.
const (
	// byBusy finds those snapshots of a volume that are under way: to be taken, to be removed, or not seen.
	byBusy = "snapshotcontroller.busy"
	// byReason finds snapshots by why they wait.
	byReason = "snapshotcontroller.reason"
	// byApproved is the one key of snapshots whose removal is approved.
	byApproved = "snapshotcontroller.approved"
)

var indexes = []kube.Index{
	kube.IndexBy(&v1beta2.Snapshot{}, byBusy, busyVolume),
	kube.IndexBy(&v1beta2.Snapshot{}, byReason, waitsFor),
	kube.IndexIf(&v1beta2.Snapshot{}, byApproved, isLeaving),
	kube.ByNode(&v1beta2.Engine{}),
	kube.ByNode(&v1beta2.Replica{}),
}

func busyVolume(s *v1beta2.Snapshot) string {
	if busy(s) {
		return s.Spec.Volume
	}
	return ""
}

// busy reports whether what happens to the volume may matter to the snapshot.
func busy(s *v1beta2.Snapshot) bool {
	if s.DeletionTimestamp != nil || s.Status.CreationTime == "" {
		return true
	}
	reason := conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady)
	return reason != v1beta2.ReasonReady && reason != v1beta2.ReasonMarkedRemoved
}

// waitsFor is the reason of the condition that a setting can change.
func waitsFor(s *v1beta2.Snapshot) string {
	if s.DeletionTimestamp != nil {
		return conditions.Reason(s.Status.Conditions, v1beta2.SnapshotRemovalApproved)
	}
	if reason := conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady); reason == v1beta2.ReasonLimitReached {
		return reason
	}
	return ""
}
