package orphan

import (
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// flood holds auto deletion back when so many instances of a node lost their CRs at once that the CRs are probably
// missing, as after restoring an old backup of the cluster. It counts only instances that have no CR at all: a node that
// comes back after its volumes moved is no flood. Orphans that a person gave up, and acknowledged
// orphans, do not count.
func flood(w World) *ruleResult {
	if policyOf(w) != v1beta2.ReasonAutoDeletion || approvedNow(w) || acknowledged(w) || v1beta2.GivenUp(w.Orphan) ||
		!disowned(evaluation(w)) {
		return nil
	}
	count := largestBurst(w)
	if count < w.Limits.FloodCount || count*100 <= w.NodeInstances*w.Limits.FloodPercent {
		return nil
	}
	what, lost := "instances", "Engine or Replica CRs"
	if isData(w) {
		what, lost = "replicas' data on disks", "Replica CRs"
	}
	return hold(v1beta2.ReasonFlood, fmt.Sprintf(
		"At least %d %s, and more than %d %% as many as node %s has instances, lost their %s within %s: the CRs may be missing rather "+
			"than the %s stale. Check that; then remove the item %s from the setting orphan-resource-auto-deletion and add it again to "+
			"let the deletion continue.",
		w.Limits.FloodCount, what, w.Limits.FloodPercent, w.Orphan.Spec.NodeID, lost, w.Limits.FloodWindow, what, item(w)))
}

// largestBurst counts the disowned orphans of the fullest window that this orphan's creation lies in.
func largestBurst(w World) int {
	mine := w.Orphan.CreationTimestamp.Time
	times := []time.Time{mine}
	for _, s := range w.Siblings {
		counts := s.Data == isData(w) && disowned(s.Rule) && !s.Withdrawn && !s.GivenUp && s.Approval != v1beta2.ReasonAcknowledged
		if counts && s.UID != w.Orphan.UID {
			times = append(times, s.Created)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	best, first := 0, 0
	for last := range times {
		for times[last].Sub(times[first]) > w.Limits.FloodWindow {
			first++
		}
		if !mine.Before(times[first]) && !mine.After(times[last]) {
			best = max(best, last-first+1)
		}
	}
	return best
}
