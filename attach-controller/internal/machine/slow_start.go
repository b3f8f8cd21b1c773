package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// startTimeout is how long a replica may take to start while another healthy one runs; then the volume continues without it. Its node
	// may be ready while its instance manager cannot run.
	startTimeout = 2 * time.Minute
	// startSlow is the time after which a replica that does not start is reported as what blocks the volume.
	startSlow = 10 * time.Second
)

// Starts reports whether a replica must run on a node in service, neither runs nor has failed, and so delays the volume.
func (w *World) Starts(r *v1beta2.Replica) bool {
	i := ofReplica(r)
	runs := w.running(i) && r.Status.Port != 0
	return i.wanted && !runs && i.state != v1beta2.InstanceStateError && r.DeletionTimestamp == nil && r.Spec.FailedAt == "" &&
		!w.nodeDown(i.node)
}

// checkStartTimeout reports whether the time to wait for a replica is over; until then it requests an evaluation for that moment.
func (d *draft) checkStartTimeout(r *v1beta2.Replica) bool {
	since, known := d.StartsSince[r.Name]
	if !known || !d.Starts(r) {
		return false
	}
	due := since.Add(startTimeout)
	if d.Now.Before(due) {
		d.requeueAt(due)
	}
	return !d.Now.Before(due)
}

// tooLate returns why a replica is marked whose time is over.
func tooLate() string { return "it did not start within " + startTimeout.String() }

// reportSlow reports a replica that does not start as what blocks the volume; false if it is too early.
func (d *draft) reportSlow(r *v1beta2.Replica, last bool) bool {
	since, known := d.StartsSince[r.Name]
	if !known || !d.Starts(r) {
		return false
	}
	if at := since.Add(startSlow); d.Now.Before(at) {
		d.requeueAt(at)
		return false
	}
	then := "the volume continues without it at " + stamp(since.Add(startTimeout)) + "."
	if last {
		then = "no other healthy replica runs: check the instance manager of that node."
	}
	d.wait(v1beta2.ReasonReplicaNotStarting, fmt.Sprintf("Replica %s on %s is %s and does not start; %s", r.Name, r.Spec.NodeID,
		d.stateOf(ofReplica(r)), then))
	return true
}

// anotherRuns reports whether another one of these replicas runs.
func (f Facts) anotherRuns(except *v1beta2.Replica, of []*v1beta2.Replica) bool {
	for _, r := range of {
		if i := ofReplica(r); r != except && i.wanted && f.running(i) && r.Status.Port != 0 && f.healthy(r) {
			return true
		}
	}
	return false
}
