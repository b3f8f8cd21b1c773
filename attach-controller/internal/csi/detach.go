package csi

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// detach removes the ticket, waits until the volume has left the node, reports attached=false, and drops the finalizer. Without the
// finalizer the end is already reported; a leftover ticket is still removed.
func detach(w World) Verdict {
	if steps := removals(w); len(steps) > 0 {
		return Verdict{Outcome: OutcomeDetaching, Steps: steps}
	}
	if !w.Attachment.HasFinalizer {
		return Verdict{Outcome: OutcomeDetached}
	}
	if !left(w) {
		stuck := stuck(w)
		outcome := OutcomeDetaching
		if stuck != "" {
			outcome = OutcomeStuck
		}
		reported := w.reported()
		reported.DetachError = stuck
		return Verdict{Outcome: outcome, Steps: status(w, reported)}
	}
	return Verdict{Outcome: OutcomeDetached, Steps: release(w), Confirm: true}
}

// removals returns the steps that remove the ticket from every Longhorn VolumeAttachment.
func removals(w World) []Step {
	var steps []Step
	if _, asked := w.ticket(); asked {
		steps = append(steps, Step{Kind: StepRemoveTicket, Volume: w.Tickets.Volume})
	}
	for _, volume := range w.Strays {
		steps = append(steps, Step{Kind: StepRemoveTicket, Volume: volume})
	}
	return steps
}

// release first reports that the volume is detached, and drops the finalizer once that is stored.
func release(w World) []Step {
	reported := w.reported()
	reported.Attached, reported.Metadata, reported.DetachError = false, nil, ""
	if steps := status(w, reported); len(steps) > 0 {
		return steps
	}
	return []Step{{Kind: StepRelease}}
}

// reported returns the stored status.
func (w World) reported() Status {
	a := w.Attachment
	return Status{Attached: a.Attached, Metadata: a.Metadata, AttachError: a.AttachError, DetachError: a.DetachError}
}

// left reports whether the volume has left the node as far as this attachment is concerned. For Kubernetes, a node that is gone or out of
// service holds no volume; the rules of the volume itself prevent that another node gets it too early.
func left(w World) bool {
	switch {
	case w.Volume == nil, w.Host == nil, w.Host.OutOfService, w.Volume.shared():
		return true
	}
	node := w.NodeID()
	return !w.Volume.on(node) || heldByOthers(w, node)
}

// on reports whether the volume is on the node, attaches to it, or may still be leaving it.
func (v *Volume) on(node string) bool {
	if v.CurrentNodeID == node || v.CurrentMigrationNodeID == node || v.NodeID == node || v.MigrationNodeID == node {
		return true
	}
	if v.CurrentNodeID != "" || v.NodeID != "" {
		return false
	}
	// Attaching was cancelled before its node was recorded.
	return v.State == v1beta2.VolumeStateAttaching || v.State == v1beta2.VolumeStateDetaching
}

// heldByOthers reports whether the volume stays on the node for another ticket.
func heldByOthers(w World, node string) bool {
	if w.Tickets == nil || w.Volume.CurrentNodeID != node || w.Volume.NodeID != node {
		return false
	}
	for id, ticket := range w.Tickets.Wanted {
		if id != w.Attachment.Name && ticket.NodeID == node {
			return true
		}
	}
	return false
}

// stuck returns why the volume does not leave; empty while it is leaving.
func stuck(w World) string {
	node := w.NodeID()
	switch {
	case w.Node == nil || w.Node.Down:
		return fmt.Sprintf("volume %s is still recorded on node %s, which is down: it leaves when the node's state is concluded; "+
			"start the node again, or, if it is dead for good, taint it with node.kubernetes.io/out-of-service or delete it",
			w.Volume.Name, node)
	case w.Tickets != nil && w.Tickets.Blocked != "":
		return fmt.Sprintf("volume %s does not leave node %s: %s", w.Volume.Name, node, w.Tickets.Blocked)
	}
	return ""
}
