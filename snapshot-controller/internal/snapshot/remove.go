package snapshot

import (
	"fmt"
	"maps"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// remove decides about a Snapshot that is being deleted.
func (w World) remove() Verdict {
	switch {
	case w.Volume == nil:
		return w.end(EndVolumeGone, true)
	case w.Snapshot.Name == v1beta2.VolumeHead || w.neverTaken():
		return w.end(EndNeverTaken, false)
	case w.seen() && w.known() && w.info() == nil && w.isTrue(v1beta2.SnapshotRemovalApproved):
		// im-monitor keeps it in Engine.status until two polls lacked it, so that its absence here is proven.
		return w.end(EndRemoved, false)
	}
	if reason, message := w.blocker(); reason != "" {
		return w.report(w.mirrored(w.info()), approval(reason, message), nil)
	}
	if v, waits := w.unremoved(); waits {
		return v
	}
	return w.approve()
}

// neverTaken reports whether no call can have made the snapshot: none was approved, or im-monitor reports that none took place.
// One that the engine has of this name then belongs to somebody else.
func (w World) neverTaken() bool {
	if !w.Snapshot.Spec.CreateSnapshot || w.seen() || w.info() != nil && w.Snapshot.Status.RequestedTime != "" {
		return false
	}
	return w.Snapshot.Status.RequestedTime == "" || w.cancelled()
}

// blocker returns what stands against removing that attaching the volume would not change; no ticket is held for it.
func (w World) blocker() (reason, message string) {
	volume := w.Volume
	children, marked := w.chain()
	switch {
	case len(w.Clones) > 0:
		return v1beta2.ReasonLinkedClone, "Linked clones share its data, or it is being copied: " + strings.Join(w.Clones, ", ") +
			"; it can go once linked clones are gone and copies are whole."
	case len(w.Backups) > 0:
		return v1beta2.ReasonBackingUp, "It is being backed up: " + strings.Join(w.Backups, ", ") +
			"; it continues when that has ended."
	case w.Settings.PurgeDisabled:
		return v1beta2.ReasonPurgeDisabled, "The setting disable-snapshot-purge is true; it continues once that is false."
	case volume.Spec.MigrationNodeID != "" || volume.Status.CurrentMigrationNodeID != "":
		return v1beta2.ReasonMigrating, "Volume " + volume.Name + " moves to another node; it continues when that is done."
	case w.upgrading():
		return v1beta2.ReasonUpgrading, "The data engine under volume " + volume.Name +
			" is being upgraded: " + Upgrading(w.Volume, w.Nodes...) + "; it continues when that is done."
	case w.rebuilding():
		return v1beta2.ReasonRebuilding, "A replica of volume " + volume.Name + " is being rebuilt; it continues when that is done."
	case marked && children[v1beta2.VolumeHead]:
		return v1beta2.ReasonParentOfVolumeHead, "The head of volume " + volume.Name +
			" builds on it, and an engine merges a snapshot only into a newer one: create another Snapshot of the volume, and its data " +
			"goes."
	case (marked || volume.Spec.DataEngine == v1beta2.DataEngineV2) && len(children) > 1:
		return v1beta2.ReasonHasMultipleChildren,
			fmt.Sprintf("%d parts of the volume build on it; it can be merged when one is left.", len(children))
	}
	return "", ""
}

// chain is what builds on the snapshot, and whether the engine has it marked removed, which v2 engines never do. Of a
// volume that is detached it is what its Snapshots report, and what was stored with a refusal: attaching it would not change that.
func (w World) chain() (children map[string]bool, marked bool) {
	switch info := w.info(); {
	case info != nil:
		return info.Children, info.Removed
	case w.known():
		return nil, false
	}
	children = v1beta2.ChildrenOf(w.Snapshot, w.Above)
	if conditions.Reason(w.Snapshot.Status.Conditions, v1beta2.SnapshotRemovalApproved) == v1beta2.ReasonHasMultipleChildren {
		maps.Copy(children, w.Snapshot.Status.Children)
	}
	return children, w.Snapshot.Status.MarkRemoved
}

func (w World) upgrading() bool { return Upgrading(w.Volume, w.Nodes...) != "" }

// Upgrading states what of a volume is being upgraded: its target is relocated, or the data engine of one of these nodes is replaced, of
// which any may be nil. Empty: nothing.
func Upgrading(v *v1beta2.Volume, nodes ...*v1beta2.Node) string {
	if v.Spec.TargetNodeID != "" {
		return "its target is relocated to node " + v.Spec.TargetNodeID + " (if no upgrade is under way, clear spec.targetNodeID)"
	}
	for _, n := range nodes {
		if n != nil && n.Spec.UpgradeRequested {
			return "it uses node " + n.Name + ", which is under upgrade"
		}
	}
	return ""
}

// rebuilding reports whether a replica of the running engine is being filled.
func (w World) rebuilding() bool {
	if !w.running() {
		return false
	}
	for _, mode := range w.Engine.Status.ReplicaModeMap {
		if mode == v1beta2.ReplicaModeWO {
			return true
		}
	}
	return false
}

// approve leads a removal to its approval: a place among the purges of the node first, then the attached volume. The
// place is kept until the data is gone.
func (w World) approve() Verdict {
	switch {
	case !w.Attached() && w.wanted() == nil:
		return w.report(w.mirrored(w.info()), approval(v1beta2.ReasonWaitingForAttach, w.attachProblem()), nil)
	case w.Place == PlaceUnknown:
		return Verdict{Step: StepNone, Holds: true, NeedsPlace: true}
	case w.Place == PlaceRefused:
		v := w.report(w.mirrored(w.info()), approval(v1beta2.ReasonPurgeLimited,
			"The node has as many purges as snapshot-heavy-task-concurrent-limit allows; this one follows those before it in the queue."),
			nil)
		v.Holds = true
		return v
	}
	reason, message, ticket := v1beta2.ReasonRequested, "Nothing stands against removing its data.", w.kept()
	if !w.Attached() {
		reason, message, ticket = v1beta2.ReasonWaitingForAttach, w.attachProblem(), w.wanted()
	}
	status := w.mirrored(w.info())
	if reason == v1beta2.ReasonRequested && w.isTrue(v1beta2.SnapshotRemovalApproved) && w.seen() {
		status = own(w.Snapshot.Status) // what the engine makes of it on the way out is not copied
	}
	v := w.report(status, approval(reason, message), ticket)
	v.Holds = true
	return v
}
