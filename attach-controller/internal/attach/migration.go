package attach

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// migration is D2: for a volume that migrates live only the rows M apply. One that is rolled back is on its original node again, and
// follows the ordinary rows.
func (t table) migration() (Spec, Row) {
	v := t.Volume
	switch {
	case v.NodeID == "":
		return Spec{}, ""
	case v.MigrationNodeID != "":
		return t.moves()
	case v.confirming():
		return v.Spec, RowKeep
	}
	return Spec{}, ""
}

// moves is M3 to M5.
func (t table) moves() (Spec, Row) {
	v := t.Volume
	source, target := t.podOn(v.NodeID), t.podOn(v.MigrationNodeID)
	switch {
	case !target, source && t.down(v.MigrationNodeID): // M3
		return t.to(v.NodeID, ""), RowRollBack
	case t.down(v.NodeID), !source && t.down(v.MigrationNodeID): // M4
		return t.specReleased(), RowAbandon
	case source:
		return v.Spec, RowKeep
	case v.CurrentMigrationNodeID == v.MigrationNodeID && t.running(v.MigrationNodeID):
		if !t.sameSnapshots(v.MigrationNodeID) {
			return v.Spec, RowKeep
		}
		return t.to(v.MigrationNodeID, ""), RowConfirm // M5
	case t.engineOn(v.MigrationNodeID).State == v1beta2.InstanceStateError, v.MigrationFailed != "": // M4
		return t.specReleased(), RowAbandon
	}
	return v.Spec, RowKeep
}

// migrates is M1. M2, the same with a source that is down, is D4's. A relocated target comes back first: the second frontend would leave it
// no way to the first.
func (t table) migrates() (Spec, Row) {
	v := t.Volume
	ready := v.Migratable && v.onWantedNode() && !v.Relocated && !v.Migrating() && !v.DisableFrontend && !v.FrontendDisabled
	if !ready || !t.podOn(v.NodeID) || t.down(v.NodeID) {
		return Spec{}, ""
	}
	if second := t.second(v.NodeID); second != nil {
		return t.to(v.NodeID, second.NodeID), RowMigrate
	}
	return Spec{}, ""
}

// second returns the pod's ticket to which an attached volume would migrate, or nil. Its node can serve now.
func (t table) second(source string) *v1beta2.AttachmentTicket {
	i := slices.IndexFunc(t.tickets, func(x v1beta2.AttachmentTicket) bool {
		return x.Type == v1beta2.AttacherCSI && x.NodeID != source && Matches(x, false) && t.selectable(x) && t.serves(x.NodeID)
	})
	if i < 0 {
		return nil
	}
	return &t.tickets[i]
}

// podOn reports whether a pod on the node wants the volume.
func (t table) podOn(node string) bool {
	return slices.ContainsFunc(t.tickets, func(x v1beta2.AttachmentTicket) bool {
		return x.Type == v1beta2.AttacherCSI && x.NodeID == node && Matches(x, false) && t.counted(x)
	})
}
