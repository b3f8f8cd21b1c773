package attach

import (
	"maps"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	here  = "node-1"
	there = "node-2"
	third = "node-3"
	gone  = "node-9"
)

var now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// change is one difference from the world that basic returns.
type change func(*World)

// basic is a detached volume without tickets, with three nodes that are up.
func basic(changes ...change) World {
	w := World{
		Now:        now,
		Volume:     &Volume{Name: "vol-1", State: v1beta2.VolumeStateDetached},
		Attachment: &Attachment{Generation: 1, Tickets: map[string]v1beta2.AttachmentTicket{}},
		Nodes:      map[string]Node{here: {}, there: {}, third: {}},
	}
	return with(w, changes...)
}

// with returns the world after the changes; the world itself stays as it is.
func with(w World, changes ...change) World {
	w = copied(w)
	for _, c := range changes {
		c(&w)
	}
	return w
}

func copied(w World) World {
	if w.Volume != nil {
		v := *w.Volume
		w.Volume = &v
	}
	if w.Attachment != nil {
		a := *w.Attachment
		a.Tickets = maps.Clone(a.Tickets)
		a.Stored.AttachmentTicketStatuses = maps.Clone(a.Stored.AttachmentTicketStatuses)
		w.Attachment = &a
	}
	w.Nodes, w.Engines, w.Frontends = maps.Clone(w.Nodes), slices.Clone(w.Engines), slices.Clone(w.Frontends)
	return w
}

// ticket puts a ticket; parameters come in pairs.
func ticket(id, attacher, node string, parameters ...string) change {
	t := v1beta2.AttachmentTicket{ID: id, Type: attacher, NodeID: node, Generation: 1}
	for i := 0; i < len(parameters); i += 2 {
		if t.Parameters == nil {
			t.Parameters = map[string]string{}
		}
		t.Parameters[parameters[i]] = parameters[i+1]
	}
	return func(w *World) { w.Attachment.Tickets[id] = t }
}

// pod puts the ticket of a pod on a node.
func pod(node string) change { return ticket("csi-"+node, v1beta2.AttacherCSI, node) }

func offFrontend() []string {
	return []string{v1beta2.TicketDisableFrontend, v1beta2.TicketValueTrue}
}

func withdrawn(id string) change { return func(w *World) { delete(w.Attachment.Tickets, id) } }

// wanted sets a node in the spec; attached also sets the status as running there.
func wanted(node string) change { return func(w *World) { w.Volume.NodeID = node } }

func attached(node string) change {
	return func(w *World) {
		w.Volume.NodeID, w.Volume.CurrentNodeID, w.Volume.State = node, node, v1beta2.VolumeStateAttached
	}
}

func volume(change func(*Volume)) change { return func(w *World) { change(w.Volume) } }

func state(name string) change { return volume(func(v *Volume) { v.State = name }) }

func faulted(w *World) { w.Volume.Faulted = true }

func frontendOff(w *World) { w.Volume.DisableFrontend, w.Volume.FrontendDisabled = true, true }

func migratable(w *World) { w.Volume.Migratable = true }

func shared(w *World) { w.Volume.Shared = true }

func node(name string, n Node) change { return func(w *World) { w.Nodes[name] = n } }

func down(name string) change { return node(name, Node{Down: true}) }

// engine puts an engine that lists no snapshots.
func engine(node, state string) change {
	return func(w *World) { w.Engines = append(w.Engines, Engine{Node: node, State: state}) }
}

func frontendOn(node, state string) change {
	return func(w *World) { w.Frontends = append(w.Frontends, Frontend{Node: node, State: state}) }
}

// moving is an attached volume with pods on both nodes that starts on the other; running sets that it has started.
func moving(changes ...change) World {
	w := basic(migratable, attached(here), pod(here), pod(there), engine(here, v1beta2.InstanceStateRunning))
	w.Volume.MigrationNodeID = there
	return with(w, changes...)
}

func running(w *World) {
	w.Volume.CurrentMigrationNodeID = there
	w.Engines = append(w.Engines, Engine{Node: there, State: v1beta2.InstanceStateRunning})
}

// confirming is the volume once the target is its node and the source has not left yet.
func confirming(changes ...change) World {
	w := moving(running, withdrawn("csi-"+here))
	w.Volume.NodeID, w.Volume.MigrationNodeID = there, ""
	return with(w, changes...)
}

// answers stores an answer for a ticket that was satisfied, or was not.
func answered(id string, satisfied bool, reason string) change {
	return func(w *World) {
		status := v1beta2.ConditionFalse
		if satisfied {
			status = v1beta2.ConditionTrue
		}
		if w.Attachment.Stored.AttachmentTicketStatuses == nil {
			w.Attachment.Stored.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{}
		}
		w.Attachment.Stored.AttachmentTicketStatuses[id] = v1beta2.AttachmentTicketStatus{ID: id, Generation: 1, Satisfied: satisfied,
			Conditions: []v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Status: status, Reason: reason}}}
	}
}

// after is the world once some steps are done and no other writer has acted.
func after(w World, v Verdict, steps ...Step) World {
	w = copied(w)
	for _, step := range steps {
		if step.Kind == StepSpec {
			w.Volume.Spec = v.Spec
			continue
		}
		stored := maps.Clone(w.Attachment.Stored.AttachmentTicketStatuses)
		if stored == nil {
			stored = map[string]v1beta2.AttachmentTicketStatus{}
		}
		for id, answer := range step.Answers {
			delete(stored, id)
			if answer != nil {
				stored[id] = *answer
			}
		}
		w.Attachment.Stored = v.Status
		w.Attachment.Stored.AttachmentTicketStatuses = stored
	}
	return w
}

// settled is the world once nothing is left to do in it.
func settled(w World) World {
	for range 4 {
		v := Decide(w)
		w = after(w, v, v.Steps...)
	}
	return w
}

// reported is what a ticket is answered once nothing is left to do: satisfied or not, reason, message.
func reported(w World, id string) (bool, string, string) {
	a := settled(w).Attachment.Stored.AttachmentTicketStatuses[id]
	c := conditions.Get(a.Conditions, v1beta2.TicketSatisfied)
	if c == nil {
		return a.Satisfied, "", ""
	}
	return a.Satisfied, c.Reason, c.Message
}
