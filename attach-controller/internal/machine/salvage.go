package machine

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// retryAfter is how long a volume stays detached after its engine or frontend failed over healthy replicas, so that one that fails every
// time is not started without a pause.
const retryAfter = 5 * time.Second

// latest is the longest time between failures of replicas that count as failed together.
const latest = time.Second

// salvage ends the fault of a detached volume, if something usable is left.
func (p *pass) salvage() {
	if !p.faulted || p.state != v1beta2.VolumeStateDetached || p.current != "" || p.Volume.Spec.NodeID != "" {
		return
	}
	defer func() { p.because = p.why.message }()
	switch {
	case p.otherHealthyReachable(""):
		p.retry()
	case p.waitsForHealthy():
	case !p.Settings.AutoSalvage:
		p.wait(v1beta2.ReasonNoUsableReplica, "All replicas have failed, and the setting auto-salvage is false: clear spec.failedAt of "+
			"the replica to use.")
	default:
		p.salvageLatest()
	}
}

// retry attaches a volume with healthy replicas again, after a pause.
func (p *pass) retry() {
	pause, why := retryAfter, ""
	if p.engine != nil {
		if why = p.restoreFailure(p.engine.Spec.RequestedBackupRestore); why != "" {
			pause, why = restoreAgain, why+" "
		}
	}
	faulted := conditions.Get(p.Volume.Status.Conditions, v1beta2.VolumeFaulted)
	if faulted != nil && faulted.Status == v1beta2.ConditionTrue {
		since, err := time.Parse(time.RFC3339, faulted.LastTransitionTime)
		if due := since.Add(pause); err == nil && p.Now.Before(due) {
			p.requeueAt(due)
			p.wait(v1beta2.ReasonFaulted, why+"The volume is attached again at "+stamp(due)+".")
			return
		}
	}
	p.faulted = false
	p.remount()
}

// waitsForHealthy reports whether a healthy replica is on a down node: it has newer data than those that failed.
func (p *pass) waitsForHealthy() bool {
	if p.Rules.off(RuleSalvageWaits) {
		return false
	}
	var names []string
	for _, r := range p.Replicas {
		if p.healthy(r) {
			names = append(names, r.Name+" on "+r.Spec.NodeID)
		}
	}
	if len(names) > 0 {
		p.wait(v1beta2.ReasonNoUsableReplica, fmt.Sprintf("The healthy replica %s is on a node that is down: bring it back. If it is "+
			"lost for ever, delete that replica; then one that failed earlier is used.", strings.Join(names, ", ")))
	}
	return len(names) > 0
}

// salvageLatest takes the replicas that failed last: those that failed earlier have older data.
func (p *pass) salvageLatest() {
	var newest time.Time
	at := map[string]time.Time{}
	for _, r := range p.Replicas {
		if r.DeletionTimestamp != nil || p.everHealthy() && r.Spec.HealthyAt == "" { // its data was being rebuilt, or never was there
			continue
		}
		failed, err := time.Parse(time.RFC3339, r.Spec.FailedAt)
		if err != nil {
			continue
		}
		at[r.Name] = failed
		if failed.After(newest) {
			newest = failed
		}
	}
	var taken []string
	var last *v1beta2.Replica
	for _, r := range p.Replicas {
		failed, ok := at[r.Name]
		if !ok || newest.Sub(failed) > latest {
			continue
		}
		if p.nodeDown(r.Spec.NodeID) || !p.stopped(ofReplica(r)) {
			continue
		}
		p.patch(StageFail, r, "failedAt", "")
		p.patch(StageFail, r, "salvageRequested", true)
		taken, last = append(taken, r.Name), r
	}
	if len(taken) == 0 {
		p.wait(v1beta2.ReasonNoUsableReplica, "All replicas have failed, and none of those that failed last can be reached and is "+
			"stopped: bring their nodes back.")
		return
	}
	p.faulted = false
	p.remount()
	p.set("lastAutoSalvagedAt", p.Volume.Status.LastAutoSalvagedAt, stamp(p.Now))
	p.report(last, Event{Reason: EventSalvaged, Warning: true, Note: "All replicas had failed; the volume continues from " +
		strings.Join(taken, ", ") + "."})
}

// remount requests new mounts in the pods of the volume, which package podrecovery handles: the old mounts lost their device.
func (p *pass) remount() {
	p.set("remountRequestedAt", p.Volume.Status.RemountRequestedAt, stamp(p.Now))
}
