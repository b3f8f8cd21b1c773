package attach

import (
	"cmp"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// answers returns the answer to each ticket, by id, once the wanted spec is stored.
func (t table) answers(wanted Spec) map[string]v1beta2.AttachmentTicketStatus {
	out := make(map[string]v1beta2.AttachmentTicketStatus, len(t.tickets))
	share := t.shareRuns(wanted)
	for _, x := range t.tickets {
		satisfied := t.satisfied(wanted, x) || share && !t.counted(x)
		c := v1beta2.Condition{Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSatisfied, Message: t.success(x)}
		if !satisfied {
			c.Status = v1beta2.ConditionFalse
			c.Reason, c.Message = t.why(wanted, x)
			if kind := unknownType(x); kind != "" {
				c.Message += " " + kind
			}
		}
		out[x.ID] = t.answer(x, c)
	}
	return out
}

// answer returns the answer to a ticket.
func (t table) answer(x v1beta2.AttachmentTicket, c v1beta2.Condition) v1beta2.AttachmentTicketStatus {
	c.Type = v1beta2.TicketSatisfied
	stored := t.Attachment.Stored.AttachmentTicketStatuses[x.ID]
	list := conditions.Set(conditions.Owned(stored.Conditions, c.Type, v1beta2.TicketValid), c, t.Now)
	if bad := invalid(x); bad != nil {
		list = conditions.Set(list, *bad, t.Now)
	} else {
		list = conditions.Remove(list, v1beta2.TicketValid)
	}
	return v1beta2.AttachmentTicketStatus{ID: x.ID, Generation: x.Generation, Satisfied: c.Status == v1beta2.ConditionTrue, Conditions: list}
}

// satisfied is S1 and S2: it reports whether the stored state satisfies a ticket, and will stay.
func (t table) satisfied(wanted Spec, x v1beta2.AttachmentTicket) bool {
	v := t.Volume
	if x.NodeID == "" || v.State != v1beta2.VolumeStateAttached || !t.counted(x) || t.waitsForData(x) {
		return false
	}
	if x.NodeID == v.NodeID && v.CurrentNodeID == v.NodeID { // S1
		unchanged := wanted.NodeID == v.NodeID && Matches(x, wanted.DisableFrontend)
		return unchanged && Matches(x, v.DisableFrontend) && Matches(x, v.FrontendDisabled)
	}
	return t.migratedTo(wanted, x)
}

// migratedTo is S2: it reports whether the volume runs on the node of a ticket because it migrates there, and will stay. The target keeps
// its answer while the migration is confirmed: the volume never stops running there.
func (t table) migratedTo(wanted Spec, x v1beta2.AttachmentTicket) bool {
	v := t.Volume
	if x.Type != v1beta2.AttacherCSI || x.NodeID != v.CurrentMigrationNodeID || !Matches(x, v.DisableFrontend) || !t.running(x.NodeID) {
		return false
	}
	stays := wanted.MigrationNodeID == x.NodeID || wanted.NodeID == x.NodeID
	return stays && (x.NodeID == v.MigrationNodeID || x.NodeID == v.NodeID && v.confirming())
}

// shareRuns reports whether the ticket of the volume's share manager is satisfied: then so are those of the pods.
func (t table) shareRuns(wanted Spec) bool {
	for _, x := range t.tickets {
		if x.Type == v1beta2.AttacherShareManager && t.satisfied(wanted, x) {
			return true
		}
	}
	return false
}

func (t table) success(x v1beta2.AttachmentTicket) string {
	if !t.counted(x) {
		return "The volume is attached for its share, which pods on every node use."
	}
	return fmt.Sprintf("The volume is attached to node %s as asked.", x.NodeID)
}

// why is S3: the reason why a ticket is not satisfied, and what must happen first.
func (t table) why(wanted Spec, x v1beta2.AttachmentTicket) (reason, message string) {
	v := t.Volume
	refused, said := t.refusal(x)
	holds := wanted.NodeID != "" && x.NodeID == wanted.NodeID && Matches(x, wanted.DisableFrontend) && !t.waitsForData(x)
	switch {
	case refused == v1beta2.ReasonWaitingForShare:
		return refused, said + t.whyNoShare(wanted)
	case v.Deleting:
		return v1beta2.ReasonWaitingForDetach, "The volume is being deleted and attaches to no node. Remove this ticket."
	case v.Faulted:
		return v1beta2.ReasonVolumeFaulted, cmp.Or(v.Fault,
			"No replica of the volume can be used: it attaches when one is salvaged or its node returns.")
	case refused != "" && (!holds || t.down(x.NodeID)):
		return refused, said
	case holds:
		return t.whyHolder(wanted, x)
	case wanted.NodeID == "":
		return t.whyNobody(x)
	}
	return t.whyOther(wanted, x)
}

// whyHolder is for a ticket that holds the volume, which is not attached yet.
func (t table) whyHolder(wanted Spec, x v1beta2.AttachmentTicket) (reason, message string) {
	switch {
	case t.Volume.State == v1beta2.VolumeStateDetaching && wanted.MigrationNodeID == "":
		return v1beta2.ReasonWaitingForDetach, t.leaving()
	case t.Volume.confirming():
		return v1beta2.ReasonMigrating, fmt.Sprintf("The volume is completing its move to node %s.", x.NodeID)
	}
	return v1beta2.ReasonAttaching, t.attaching(wanted)
}

// whyNoShare returns what the ticket of the volume's share waits for; empty if the share has none.
func (t table) whyNoShare(wanted Spec) string {
	for _, x := range t.tickets {
		if x.Type == v1beta2.AttacherShareManager {
			_, message := t.why(wanted, x)
			return " " + message
		}
	}
	return ""
}

// whyNobody is for a volume that no ticket may hold yet: it is still being detached or created.
func (t table) whyNobody(x v1beta2.AttachmentTicket) (reason, message string) {
	first := t.first()
	switch {
	case first != nil && (first.NodeID != x.NodeID || !Matches(x, t.withoutFrontend(*first))):
		return v1beta2.ReasonLowerPriority, fmt.Sprintf("Ticket %s for node %s comes first: remove it, or wait until it ends.",
			called(*first), first.NodeID)
	case t.Volume.State == v1beta2.VolumeStateCreating || t.Volume.State == "":
		return v1beta2.ReasonAttaching, "The volume is being created: it attaches when that is done."
	}
	return v1beta2.ReasonWaitingForDetach, t.leaving()
}

// whyOther is for a ticket that conflicts with the volume's holders.
func (t table) whyOther(wanted Spec, x v1beta2.AttachmentTicket) (reason, message string) {
	v := t.Volume
	holders := t.holders(wanted)
	by := list(holders)
	switch {
	case x.NodeID == wanted.MigrationNodeID && x.Type == v1beta2.AttacherCSI:
		return t.whyMigrating(wanted, x)
	case t.tooMany(wanted, x):
		return v1beta2.ReasonTooManyTickets, fmt.Sprintf("Two nodes have tickets of this migratable volume already, and it is attached to "+
			"node %s for %s: remove one of them.", wanted.NodeID, by)
	case v.Migratable && x.Type == v1beta2.AttacherCSI && x.NodeID != wanted.NodeID && !t.serves(x.NodeID) && t.podOn(wanted.NodeID):
		return v1beta2.ReasonNodeNotReady, fmt.Sprintf("Node %s is not ready, see its condition Ready: the volume moves there from node "+
			"%s when it is.", x.NodeID, wanted.NodeID)
	case t.waitsForTarget(wanted, x):
		return t.whyTarget(wanted, x)
	case x.NodeID == wanted.NodeID:
		return v1beta2.ReasonAttachedWithIncompatibleParameters,
			fmt.Sprintf("The volume is on node %s with its frontend %s, for %s: remove that ticket, or ask for the same frontend.",
				wanted.NodeID, frontend(wanted.DisableFrontend), by)
	case v.CurrentNodeID == "" && len(holders) > 0 && Compare(holders[0], x) < 0:
		return v1beta2.ReasonLowerPriority, fmt.Sprintf("The volume is being attached to node %s for %s, which comes first: remove that "+
			"ticket, or wait until it ends.", wanted.NodeID, by)
	}
	return v1beta2.ReasonAttachedElsewhere, fmt.Sprintf("The volume is attached to node %s for %s: remove that ticket, or wait until it "+
		"ends.",
		wanted.NodeID, by)
}

// whyTarget is for the ticket to whose node the volume migrates once its target is back. Only the upgrade of the volume's node relocates a
// target, and brings it back: what Longhorn or a person requested lasts until a person clears it.
func (t table) whyTarget(wanted Spec, x v1beta2.AttachmentTicket) (reason, message string) {
	to := t.Volume.TargetNodeID
	switch {
	case t.Nodes[wanted.NodeID].Upgrading:
		return v1beta2.ReasonNodeUpgrading, fmt.Sprintf("The data engine of node %s is being upgraded, and the volume's target is on another "+
			"node meanwhile: the volume moves to node %s when it is back.", wanted.NodeID, x.NodeID)
	case to != "":
		return v1beta2.ReasonTargetElsewhere, fmt.Sprintf("spec.targetNodeID of Volume %s names node %s, and no upgrade of node %s is "+
			"under way, which would clear it: clear it, and the volume moves to node %s.", t.Volume.Name, to, wanted.NodeID, x.NodeID)
	}
	return v1beta2.ReasonMigrating, fmt.Sprintf("The volume's target returns to node %s: then the volume moves to node %s.", wanted.NodeID,
		x.NodeID)
}

// whyMigrating is for the ticket to whose node the volume migrates.
func (t table) whyMigrating(wanted Spec, x v1beta2.AttachmentTicket) (reason, message string) {
	message = fmt.Sprintf("The volume is coming up on node %s while it runs on node %s.", x.NodeID, wanted.NodeID)
	switch v := t.Volume; {
	case v.MigrationFailed != "":
		return v1beta2.ReasonMigrationFailed, message + " " + v.MigrationFailed
	case v.MigrationWaits != "":
		return v1beta2.ReasonMigrating, message + " " + v.MigrationWaits
	}
	return v1beta2.ReasonMigrating, message
}

// waitsForTarget reports whether a pod's ticket is that to which the volume migrates once its target is back on its node.
func (t table) waitsForTarget(wanted Spec, x v1beta2.AttachmentTicket) bool {
	if !t.Volume.Migratable || !t.Volume.Relocated || !t.podOn(wanted.NodeID) {
		return false
	}
	second := t.second(wanted.NodeID)
	return second != nil && second.ID == x.ID
}

// tooMany reports whether a pod's ticket is the third of a migratable volume.
func (t table) tooMany(wanted Spec, x v1beta2.AttachmentTicket) bool {
	if !t.Volume.Migratable || x.Type != v1beta2.AttacherCSI || x.NodeID == wanted.NodeID || !t.podOn(wanted.NodeID) {
		return false
	}
	if wanted.MigrationNodeID != "" {
		return true
	}
	second := t.second(wanted.NodeID)
	return second != nil && second.NodeID != x.NodeID
}

func (t table) leaving() string {
	if at := t.Volume.CurrentNodeID; at != "" {
		return fmt.Sprintf("The volume is still being detached from node %s: it attaches when that is done.", at)
	}
	return "The volume is still being detached: it attaches when that is done."
}

func (t table) attaching(wanted Spec) string {
	if t.Volume.Blocker != "" {
		return fmt.Sprintf("The volume is being attached to node %s, but cannot be yet: %s", wanted.NodeID, t.Volume.Blocker)
	}
	return fmt.Sprintf("The volume is being attached to node %s: see the condition Attached of Volume %s.",
		wanted.NodeID, t.Volume.Name)
}
