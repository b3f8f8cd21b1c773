package model

import (
	"maps"
	"slices"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
)

// ends are what must hold of a world that has settled; the first violation is reported.
var ends = []func(*world) string{
	(*world).endsAnswered, (*world).endsMoved, (*world).endsDetached, (*world).endsSalvaged, (*world).endsServed,
	(*world).endsWithoutLeftovers, (*world).endsWorked, (*world).endsReported,
}

func (w *world) checkEnd() {
	for _, end := range ends {
		if what := end(w); what != "" {
			w.violated("%s", what)
			return
		}
	}
}

// tickets are those that ask for an attachment, in order of their ids.
func (w *world) tickets() []v1beta2.AttachmentTicket {
	var out []v1beta2.AttachmentTicket
	stored := w.attachment.now.Spec.AttachmentTickets
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if t := stored[id]; !w.shared() || t.Type != v1beta2.AttacherCSI {
			out = append(out, t)
		}
	}
	return out
}

// selectable reports whether a ticket could be served, were the volume detached.
func (w *world) selectable(t v1beta2.AttachmentTicket) bool {
	n := w.node(t.NodeID)
	if attach.VolumeOf(w.volume.now).Unfilled && !attach.Matches(t, true) {
		return false // incomplete data must not be used
	}
	return n != nil && n.reachable && !n.now.Spec.UpgradeRequested && !(cordoned(n.now) && t.Type == v1beta2.AttacherLonghornAPI)
}

func (w *world) satisfied(t v1beta2.AttachmentTicket) bool {
	answer := w.attachment.now.Status.AttachmentTicketStatuses[t.ID]
	return answer.Satisfied && answer.Generation == t.Generation
}

// usable reports whether a replica with the volume's data can be reached.
func (w *world) usable() bool {
	return slices.ContainsFunc(current(w.replicas), func(r *v1beta2.Replica) bool { return w.reachable(r.Spec.NodeID) && w.holdsData(r) })
}

// endsAnswered is ATT-2 of a settled world: a ticket that is satisfied on an existing node has the volume there.
func (w *world) endsAnswered() string {
	v := w.volume.now
	for _, t := range w.tickets() {
		switch {
		case !w.satisfied(t):
		case t.NodeID != v.Status.CurrentNodeID && t.NodeID != v.Status.CurrentMigrationNodeID:
			return "ATT-2: a ticket is satisfied, and the volume is elsewhere"
		case !attach.Matches(t, v.Status.FrontendDisabled):
			return "ATT-2: a ticket is satisfied, and the frontend is the other one"
		case w.reachable(t.NodeID) && !w.runs(t.NodeID) && !w.successorLost():
			return "ATT-2: a ticket is satisfied, and nothing runs there"
		}
	}
	return ""
}

// successorLost reports whether the engine that was to replace a failed target is on a node that is down, and may have started: no other
// one replaces it before that node is back (docs/limits.md).
func (w *world) successorLost() bool {
	return w.moves && slices.ContainsFunc(current(w.engines), func(e *v1beta2.Engine) bool {
		return !e.Spec.Active && !w.reachable(e.Spec.NodeID) && ofEngine(e).begun()
	})
}

// runs reports whether an engine, and for v2 its frontend, runs on the node.
func (w *world) runs(node string) bool {
	if !w.v2() || w.volume.now.Spec.DisableFrontend {
		return slices.ContainsFunc(w.live(), func(x *process) bool { return x.node == node })
	}
	return slices.ContainsFunc(w.live(), func(x *process) bool { return slices.Contains(w.leading(x), node) })
}

// endsDetached is one half of ATT-3: a volume without tickets is detached.
func (w *world) endsDetached() string {
	v := w.volume.now
	away := v.Spec.NodeID == "" && v.Spec.MigrationNodeID == "" && v.Status.State == v1beta2.VolumeStateDetached &&
		v.Status.CurrentNodeID == ""
	if len(w.tickets()) == 0 && !away {
		return "ATT-3: no ticket wants the volume, and it is " + v.Status.State
	}
	return ""
}

// endsSalvaged: if nothing usable is left, the replicas that failed last are used, unless a better one is on a down node. Those that are
// being deleted count where no other has data.
func (w *world) endsSalvaged() string {
	v := w.volume.now
	if w.usable() {
		return ""
	}
	if v.Status.State == v1beta2.VolumeStateDetaching {
		return "STUCK: detaching"
	}
	if v.Status.State == v1beta2.VolumeStateDetached && v.Spec.NodeID == "" && v.Status.Robustness == v1beta2.VolumeRobustnessFaulted &&
		w.salvageable() {
		return "STUCK: a salvage is possible, and is not done"
	}
	return ""
}

// salvageable reports whether every replica has failed, and one of those that failed last can be reached.
func (w *world) salvageable() bool {
	newest, reachable := "", false
	staysAny := slices.ContainsFunc(current(w.replicas), func(r *v1beta2.Replica) bool {
		return r.DeletionTimestamp == nil && r.Spec.HealthyAt != ""
	})
	for _, r := range current(w.replicas) {
		switch {
		case r.Spec.FailedAt == "":
			return false
		case r.Spec.HealthyAt == "" && w.opened(), r.DeletionTimestamp != nil && staysAny:
		case r.Spec.FailedAt > newest:
			newest, reachable = r.Spec.FailedAt, w.reachable(r.Spec.NodeID)
		case r.Spec.FailedAt == newest:
			reachable = reachable || w.reachable(r.Spec.NodeID)
		}
	}
	return reachable
}

// endsServed is the other half of ATT-3, and that no workload starves.
func (w *world) endsServed() string {
	if !w.usable() {
		return ""
	}
	selectable, satisfied, workload, served := false, false, false, false
	for _, t := range w.tickets() {
		can, has := w.selectable(t), w.satisfied(t)
		selectable, satisfied = selectable || can, satisfied || has
		workload = workload || can && v1beta2.IsUserTicket(t.Type)
		served = served || has && v1beta2.IsUserTicket(t.Type) && w.reachable(t.NodeID)
	}
	switch v := w.volume.now; {
	case selectable && !satisfied:
		return "ATT-3: tickets could be served, and none is; the volume is " + v.Status.State
	case workload && !served && !w.busy():
		return "STARVED: a workload"
	}
	return ""
}

// busy reports whether there is work on the volume's own data, which comes first.
func (w *world) busy() bool {
	for _, t := range w.tickets() {
		if w.satisfied(t) && !attach.Background(t.Type) && w.reachable(t.NodeID) {
			return true
		}
	}
	return false
}

// endsWithoutLeftovers is ATT-4: no ticket outlives its owner.
func (w *world) endsWithoutLeftovers() string {
	stored := w.attachment.now.Spec.AttachmentTickets
	for _, j := range w.users.jobs {
		if _, exists := stored[j.id()]; exists && (j.gone || j.left == 0) {
			return "ATT-4: the ticket of a " + j.kind + " outlives it"
		}
	}
	for _, c := range w.users.clones {
		if _, exists := stored[v1beta2.TicketID(v1beta2.AttacherClone, c.Name)]; exists &&
			c.Status.CloneStatus.State == v1beta2.CloneCompleted {
			return "ATT-4: the ticket of a clone outlives it"
		}
	}
	_, restores := stored[v1beta2.TicketID(v1beta2.AttacherRestore, volumeName)]
	if restores && !w.volume.now.Status.RestoreRequired {
		return "ATT-4: the ticket of a restore outlives it"
	}
	return ""
}

// endsWorked: no background work starves, unless a workload that cannot be interrupted blocks it, or a migration that is never ended.
func (w *world) endsWorked() string {
	free := func(n *node) bool { return n.reachable && w.candidate(n.name) }
	if !w.usable() || w.migrating() || w.successorLost() || !slices.ContainsFunc(w.nodes, free) {
		return ""
	}
	for _, t := range w.tickets() {
		if t.Type == v1beta2.AttacherEviction || t.Type == v1beta2.AttacherRebuilding || v1beta2.IsUserTicket(t.Type) || w.blocked(t) {
			continue
		}
		if !w.satisfied(t) {
			return "STARVED: " + t.Type
		}
		if t.Type != v1beta2.AttacherClone {
			return "STUCK: the work of " + t.Type + " does not end"
		}
	}
	return ""
}

// blocked reports whether a ticket without end holds the volume in a way that the background ticket cannot use, or on a down node. A clone
// does not interrupt: it waits for an eviction, however long that takes.
func (w *world) blocked(t v1beta2.AttachmentTicket) bool {
	v := w.volume.now
	for _, x := range w.tickets() {
		lasts := v1beta2.IsUserTicket(x.Type) || t.Type == v1beta2.AttacherClone && attach.Background(x.Type)
		holds := lasts && x.NodeID == v.Spec.NodeID && attach.Matches(x, v.Spec.DisableFrontend)
		if holds && (!attach.Matches(t, v.Spec.DisableFrontend) || w.down(x.NodeID)) {
			return true
		}
	}
	return false
}
