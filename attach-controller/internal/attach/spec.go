package attach

import (
	"cmp"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// Row is the row of the decision table that applied.
type Row string

// The rows.
const (
	// RowDeleting takes the volume back because it is being deleted.
	RowDeleting Row = "Deleting"
	// RowFaulted is D1.
	RowFaulted Row = "D1"
	// RowUnwanted is D3.
	RowUnwanted Row = "D3"
	// RowDown is D4, and with it M2.
	RowDown Row = "D4"
	// RowInterrupt is D5.
	RowInterrupt Row = "D5"
	// RowKeep is D6, and what the rows M leave as it is.
	RowKeep Row = "D6"
	// RowClear is A1.
	RowClear Row = "A1"
	// RowWait is A2.
	RowWait Row = "A2"
	// RowChoose is A3.
	RowChoose Row = "A3"
	// RowIdle is A3 with nothing to choose.
	RowIdle Row = "Idle"
	// RowMigrate is M1.
	RowMigrate Row = "M1"
	// RowRollBack is M3.
	RowRollBack Row = "M3"
	// RowAbandon is M4.
	RowAbandon Row = "M4"
	// RowConfirm is M5.
	RowConfirm Row = "M5"
)

// table is a World with its tickets in order.
type table struct {
	World
	tickets []v1beta2.AttachmentTicket
}

// rows are tried in this order; the first that applies wins.
var rows = []func(table) (Spec, Row){
	table.deleting, table.faulted, table.migration, table.unwanted, table.yields, table.migrates, table.keep,
	table.clear, table.awaitsRelease, table.choose,
}

// spec returns the wanted Volume.spec.
func (t table) spec() (Spec, Row) {
	for _, row := range rows {
		if spec, name := row(t); name != "" {
			return spec, name
		}
	}
	return t.Volume.Spec, RowIdle
}

// specReleased is the spec of a volume that is taken back from every node. The frontend field stays: it has no effect without a node, and a
// salvage uses it.
func (t table) specReleased() Spec {
	spec := t.Volume.Spec
	spec.NodeID, spec.MigrationNodeID = "", ""
	return spec
}

func (t table) to(node, migration string) Spec {
	spec := t.Volume.Spec
	spec.NodeID, spec.MigrationNodeID = node, migration
	return spec
}

// deleting: a volume that is being deleted has no holder.
func (t table) deleting() (Spec, Row) {
	if !t.Volume.Deleting {
		return Spec{}, ""
	}
	return t.specReleased(), RowDeleting
}

// faulted is D1: with no replica left there is nothing to hold; it is detached, salvaged, and attached again.
func (t table) faulted() (Spec, Row) {
	if t.Volume.NodeID == "" || !t.Volume.Faulted {
		return Spec{}, ""
	}
	return t.specReleased(), RowFaulted
}

// unwanted is D3. A volume that was on its way when the upgrade of its node began waits as all others do, detached: the upgrade waits for
// what is on its node, and the volume would wait for the upgrade.
func (t table) unwanted() (Spec, Row) {
	v := t.Volume
	if v.NodeID == "" {
		return Spec{}, ""
	}
	lost := v.CurrentNodeID == "" && (t.down(v.NodeID) || v.Upgrading && t.Nodes[v.NodeID].Upgrading)
	if lost || len(t.holders(v.Spec)) == 0 {
		return t.specReleased(), RowUnwanted
	}
	return Spec{}, ""
}

// yields is D4 and D5.
func (t table) yields() (Spec, Row) {
	v := t.Volume
	if v.NodeID == "" || !slices.ContainsFunc(t.tickets, t.interrupts) {
		return Spec{}, ""
	}
	if t.down(v.NodeID) || t.stranded() {
		return t.specReleased(), RowDown
	}
	useful := func(h v1beta2.AttachmentTicket) bool { return !Background(h.Type) }
	if !slices.ContainsFunc(t.holders(v.Spec), useful) {
		return t.specReleased(), RowInterrupt
	}
	return Spec{}, ""
}

// stranded reports whether the volume is on its way to a node that cannot serve it, while a ticket that may interrupt is for a node that
// can.
func (t table) stranded() bool {
	return t.Volume.CurrentNodeID == "" && !t.serves(t.Volume.NodeID) &&
		slices.ContainsFunc(t.tickets, func(x v1beta2.AttachmentTicket) bool {
			return t.interrupts(x) && t.serves(x.NodeID)
		})
}

// interrupts reports whether a ticket needs the volume elsewhere than its holders have it, and may take it from background work. A ticket
// for a node that is not ready takes the volume from no ready node: that node is the last choice, and the volume would come back. A ticket
// for the volume's own data takes the volume from no user: the user's node may be back in a moment, and the mount there would be dead.
func (t table) interrupts(x v1beta2.AttachmentTicket) bool {
	v := t.Volume
	elsewhere := x.NodeID != v.NodeID || !Matches(x, v.DisableFrontend)
	may := v1beta2.IsUserTicket(x.Type) || data(x.Type) && !t.inUse()
	lasts := t.serves(x.NodeID) || !t.serves(v.NodeID)
	return elsewhere && may && lasts && t.counted(x) && t.selectable(x)
}

// inUse reports whether a user's ticket holds the volume, even if its node is down.
func (t table) inUse() bool { return len(t.users()) > 0 }

// users returns the tickets of users that hold the volume.
func (t table) users() []v1beta2.AttachmentTicket {
	return slices.DeleteFunc(t.holders(t.Volume.Spec), func(h v1beta2.AttachmentTicket) bool { return !v1beta2.IsUserTicket(h.Type) })
}

// keep is D6.
func (t table) keep() (Spec, Row) {
	if t.Volume.NodeID == "" {
		return Spec{}, ""
	}
	return t.Volume.Spec, RowKeep
}

// clear is A1.
func (t table) clear() (Spec, Row) {
	if t.Volume.MigrationNodeID == "" {
		return Spec{}, ""
	}
	return t.to("", ""), RowClear
}

// awaitsRelease is A2: two nodes must never hold the volume, so that the previous one releases it first.
func (t table) awaitsRelease() (Spec, Row) {
	if t.Volume.attachableAnywhere() {
		return Spec{}, ""
	}
	return t.Volume.Spec, RowWait
}

// choose is A3.
func (t table) choose() (Spec, Row) {
	first := t.first()
	if first == nil {
		return Spec{}, ""
	}
	return Spec{
		NodeID:          first.NodeID,
		DisableFrontend: t.withoutFrontend(*first),
		LastAttachedBy:  cmp.Or(first.Parameters[v1beta2.TicketLastAttachedBy], first.Type),
	}, RowChoose
}

// first returns the ticket that is served next, or nil. A ticket whose node can serve now comes before those that would wait for their
// node.
func (t table) first() *v1beta2.AttachmentTicket {
	now := func(x v1beta2.AttachmentTicket) bool { return t.selectable(x) && t.serves(x.NodeID) }
	for _, fits := range []func(v1beta2.AttachmentTicket) bool{now, t.selectable} {
		if i := slices.IndexFunc(t.tickets, fits); i >= 0 {
			return &t.tickets[i]
		}
	}
	return nil
}

func (t table) selectable(x v1beta2.AttachmentTicket) bool {
	reason, _ := t.refusal(x)
	return reason == ""
}

// withoutFrontend reports whether the volume is attached without its frontend for a ticket. A ticket that accepts either gets the
// frontend, unless the volume still waits for its data.
func (t table) withoutFrontend(x v1beta2.AttachmentTicket) bool {
	return t.Volume.Unfilled || x.Parameters[v1beta2.TicketDisableFrontend] == v1beta2.TicketValueTrue
}

// holders returns the tickets, in order, that want the volume as a spec has it, selectable or not. A ticket that wants the frontend does
// not hold a volume that still waits for its data.
func (t table) holders(spec Spec) []v1beta2.AttachmentTicket {
	var out []v1beta2.AttachmentTicket
	for _, x := range t.tickets {
		if spec.NodeID != "" && x.NodeID == spec.NodeID && Matches(x, spec.DisableFrontend) && t.counted(x) && !t.waitsForData(x) {
			out = append(out, x)
		}
	}
	return out
}
