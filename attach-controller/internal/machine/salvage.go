package machine

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/retry"
)

// A volume stays detached for faultPause after its engine or frontend failed over healthy replicas, and for restorePause after a restore
// failed on all its replicas.
var (
	faultPause   = retry.Pause{First: 5 * time.Second, Longest: 5 * time.Minute}
	restorePause = retry.Pause{First: 5 * time.Minute, Longest: time.Hour}
)

// After worksAfter without a failure, counted from the end of its last pause, a volume works: its next failure is the first again.
const worksAfter = 10 * time.Minute

// failedTogether is the longest time between failures of replicas that count as failed together.
const failedTogether = time.Second

// salvage ends the fault of a detached volume, if something usable is left.
type salvage struct{ *draft }

func (s salvage) decide() {
	if !s.faulted || s.state != v1beta2.VolumeStateDetached || s.current != "" || s.Volume.Spec.NodeID != "" {
		return
	}
	blocked := s.endFault()
	s.faultReason = blocked.message
	if blocked.reason != "" {
		s.wait(blocked.reason, blocked.message)
	}
}

// endFault ends the fault, or returns what must end before that.
func (s salvage) endFault() waiting {
	healthy := s.unreachableHealthy()
	switch {
	case s.otherHealthyReachable(""):
		return s.retry()
	case len(healthy) > 0: // it has newer data than those that failed
		return waiting{v1beta2.ReasonNoUsableReplica, fmt.Sprintf("The healthy replica %s is on a node that is down: bring it back. If it is "+
			"lost for ever, delete that replica; then one that failed earlier is used.", strings.Join(healthy, ", "))}
	case !s.Settings.AutoSalvage:
		return waiting{v1beta2.ReasonNoUsableReplica, "All replicas have failed, and the setting auto-salvage is false: clear " +
			"spec.failedAt of the replica to use."}
	}
	if blocked := s.pause(faultPause.After(s.faultsInARow()-1), ""); blocked.reason != "" { // the first salvage has none
		return blocked
	}
	return s.useLatest()
}

// retry attaches a volume with healthy replicas again, after a pause.
func (s salvage) retry() waiting {
	length, why := faultPause.After(s.faultsInARow()), ""
	if s.engine != nil {
		if why = s.restoreFailure(s.engine.Spec.RequestedBackupRestore); why != "" {
			length, why = restorePause.After(s.faultsInARow()), why+" "
		}
	}
	if blocked := s.pause(length, why); blocked.reason != "" {
		return blocked
	}
	s.faulted = false
	s.requestRemount()
	return waiting{}
}

// faultsInARow returns how often the volume failed in a row.
func (f Facts) faultsInARow() int {
	if s := f.Volume.Status.Faults; s != nil {
		return max(s.Count, 1)
	}
	return 1
}

// pause returns the reason to wait while the pause after the volume's failure lasts.
func (s salvage) pause(length time.Duration, why string) waiting {
	faulted := conditions.Get(s.Volume.Status.Conditions, v1beta2.VolumeFaulted)
	if faulted == nil || faulted.Status != v1beta2.ConditionTrue {
		return waiting{}
	}
	since, err := time.Parse(time.RFC3339, faulted.LastTransitionTime)
	due := since.Add(length)
	if err != nil || !s.Now.Before(due) {
		return waiting{}
	}
	s.requeueAt(due)
	if n := s.faultsInARow(); n > 1 {
		why = fmt.Sprintf("The volume failed %d times in a row. %s", n, why)
	}
	return waiting{v1beta2.ReasonFaulted, why + "The volume is attached again at " + stamp(due) + "."}
}

// countFault counts a failure of the volume. The count is stored with the failure itself, so that neither a new engine nor a new leader
// begins it again.
func (f Facts) countFault() *v1beta2.VolumeFaults {
	out := &v1beta2.VolumeFaults{Count: 1, LastFailedAt: stamp(f.Now)}
	before := f.Volume.Status.Faults
	if before == nil {
		return out
	}
	last, err := time.Parse(time.RFC3339, before.LastFailedAt)
	if err == nil && f.Now.Before(last.Add(f.pauseAfterFault(before.Count)+worksAfter)) {
		out.Count = before.Count + 1
	}
	return out
}

// pauseAfterFault returns the pause that follows so many failures.
func (f Facts) pauseAfterFault(failures int) time.Duration {
	if f.Volume.Status.RestoreRequired {
		return restorePause.After(failures)
	}
	return faultPause.After(failures)
}

// unreachableHealthy returns the healthy replicas on nodes that are down, as sentences have them.
func (s salvage) unreachableHealthy() (names []string) {
	for _, r := range s.Replicas {
		if s.healthy(r) && s.nodeDown(r.Spec.NodeID) {
			names = append(names, r.Name+" on "+r.Spec.NodeID)
		}
	}
	return names
}

// failures are when replicas that have data failed, by their names. Those that are being deleted count only where no other is left.
func (s salvage) failures() (at map[string]time.Time, newest time.Time) {
	for _, deleted := range []bool{false, true} {
		at = map[string]time.Time{}
		for _, r := range s.Replicas {
			failed, err := time.Parse(time.RFC3339, r.Spec.FailedAt)
			rebuilt := s.everHealthy() && r.Spec.HealthyAt == "" // its data was being rebuilt, or never was there
			if err != nil || rebuilt || deleted != (r.DeletionTimestamp != nil) {
				continue
			}
			at[r.Name] = failed
			if failed.After(newest) {
				newest = failed
			}
		}
		if len(at) > 0 {
			break
		}
	}
	return at, newest
}

// latest returns the replicas that failed last and can be used: replicas that failed earlier have older data.
func (s salvage) latest() (replicas []*v1beta2.Replica) {
	at, newest := s.failures()
	for _, r := range s.Replicas {
		failed, ok := at[r.Name]
		if ok && newest.Sub(failed) <= failedTogether && !s.nodeDown(r.Spec.NodeID) && s.stopped(ofReplica(r)) {
			replicas = append(replicas, r)
		}
	}
	return replicas
}

// giveUp records that the replicas that were deleted on nodes that are down are not used any more, and returns their names. An older
// replica is used only after that: if such a node returned in between, an engine would open over both. The nodes are read again.
func (s salvage) giveUp() (names []string) {
	for _, r := range s.Replicas {
		if r.Spec.FailedAt == "" && s.leaveBehind(r) {
			s.out.FreshNodes = true
			names = append(names, r.Name+" on "+r.Spec.NodeID)
		}
	}
	return names
}

// useLatest takes the replicas that failed last.
func (s salvage) useLatest() waiting {
	latest := s.latest()
	if len(latest) == 0 {
		return waiting{v1beta2.ReasonNoUsableReplica, "All replicas have failed, and none of those that failed last can be reached and is " +
			"stopped: bring their nodes back."}
	}
	if names := s.giveUp(); len(names) > 0 {
		return waiting{v1beta2.ReasonNoUsableReplica, fmt.Sprintf("The replica %s was deleted while its node is down, and is given up: one "+
			"that failed earlier is used next.", strings.Join(names, ", "))}
	}
	var taken []string
	for _, r := range latest {
		s.patch(StageMark, r, "failedAt", "")
		s.patch(StageMark, r, "salvageRequested", true)
		taken = append(taken, r.Name)
	}
	s.faulted = false
	s.requestRemount()
	s.setStatus("lastAutoSalvagedAt", s.Volume.Status.LastAutoSalvagedAt, stamp(s.Now))
	s.emitWith(latest[len(latest)-1], Event{Reason: EventSalvaged, Warning: true, Note: "All replicas had failed; the volume continues from " +
		strings.Join(taken, ", ") + "."})
	return waiting{}
}
