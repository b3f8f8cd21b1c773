package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// clock is the time that ages are relative to.
type clock = time.Time

// Explain returns what is known about the one volume in the objects, which hold nothing of other volumes but nodes and instance managers.
func Explain(w *world.World) Report {
	v := &w.Volumes.Items[0]
	e := explanation{world: w, volume: v, seen: map[finding.Ref]bool{}}
	causes := e.causes()
	report := Report{
		Volume: v.Name, Namespace: w.Namespace, State: v.Status.State, Robustness: v.Status.Robustness,
		DataEngine: world.DataEngine(v.Spec.DataEngine), SizeBytes: v.Spec.Size, WantedOn: v.Spec.NodeID,
		AttachedTo: v.Status.CurrentNodeID,
		Tickets:    Tickets(w), Causes: causes, Next: steps(causes), Severity: worst(causes), Unread: w.Unread, now: w.Now,
	}
	if report.calm() {
		report.Next = []Step{}
	}
	report.Summary = summary(&report)
	return report
}

// summary is one sentence: where the volume is, where it is wanted, and the most basic cause if it is not there.
func summary(r *Report) string {
	place := "is " + cmp.Or(r.State, "not known to any controller yet")
	if r.AttachedTo != "" {
		place += " to node " + r.AttachedTo
	}
	switch {
	case r.WantedOn == r.AttachedTo && r.WantedOn != "":
		place += " as wanted"
	case r.WantedOn != "":
		place += " and wanted on node " + r.WantedOn
	case len(r.Tickets) == 0:
		place += ", and no one wants it: it has no ticket"
	}
	if r.Robustness != "" && r.Robustness != v1beta2.VolumeRobustnessUnknown {
		place += ", and " + r.Robustness
	}
	if basic := deepest(r.Causes); len(basic) > 0 && !r.calm() {
		what := basic[0].Object.String()
		if basic[0].Part != "" {
			what += ", " + basic[0].Part
		}
		leads := "It comes down to"
		if r.served() && r.whole() {
			leads = "But there is"
		}
		return fmt.Sprintf("%s %s. %s %s: %s.", r.Volume, place, leads, what, basic[0].Reason)
	}
	return r.Volume + " " + place + "."
}

// calm reports whether the volume is as wanted, and what else there is about it continues by itself.
func (r *Report) calm() bool {
	return r.served() && r.whole() && r.Severity < finding.Warning
}

// served reports whether the volume is where it is wanted.
func (r *Report) served() bool {
	return r.WantedOn == r.AttachedTo && (r.WantedOn != "" || len(r.Tickets) == 0)
}

// whole reports whether the volume has all its copies, as far as that is known of one that is not attached.
func (r *Report) whole() bool {
	return r.Robustness == v1beta2.VolumeRobustnessHealthy || r.Robustness == v1beta2.VolumeRobustnessUnknown && r.AttachedTo == ""
}

// candidate is a cause with how far it is from the volume.
type candidate struct {
	finding.Finding
	depth int
}

// deepest returns all causes, the most basic first: those that wait for a person before those that continue, then by depth, then by
// severity.
func deepest(causes []Cause) []candidate {
	var all []candidate
	var walk func([]Cause, int)
	walk = func(causes []Cause, depth int) {
		for _, c := range causes {
			all = append(all, candidate{c.Finding, depth})
			walk(c.Causes, depth+1)
		}
	}
	walk(causes, 0)
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(waits(b), waits(a)), cmp.Compare(b.depth, a.depth), cmp.Compare(b.Severity, a.Severity))
	})
	return all
}

// waits is 1 for a cause that waits for a person.
func waits(c candidate) int {
	if c.Severity >= finding.Warning {
		return 1
	}
	return 0
}

// below is the worst severity of a cause and of what is behind it.
func below(c Cause) finding.Severity { return max(c.Severity, worst(c.Causes)) }

func worst(causes []Cause) finding.Severity {
	out := finding.Well
	for _, c := range causes {
		out = max(out, below(c))
	}
	return out
}

// mostSteps is how many commands are named.
const mostSteps = 4

// steps returns the commands of the causes, the most basic first; of those that continue by themselves only where nothing waits for a
// person.
func steps(causes []Cause) []Step {
	out, seen, all := []Step{}, map[string]bool{}, deepest(causes)
	for _, c := range all {
		if c.Command == "" || seen[c.Command] || len(out) == mostSteps || waits(all[0]) > waits(c) {
			continue
		}
		seen[c.Command] = true
		out = append(out, Step{Command: c.Command, For: c.Object.String() + ", " + c.Reason, Guide: c.Guide})
	}
	return out
}

// Tickets returns who wants the volume: the holder first, then by priority.
func Tickets(w *world.World) []Ticket {
	out := []Ticket{}
	for i := range w.Attachments.Items {
		a := &w.Attachments.Items[i]
		for id, ticket := range a.Spec.AttachmentTickets {
			answer := a.Status.AttachmentTicketStatuses[id]
			one := Ticket{ID: id, Type: ticket.Type, Node: ticket.NodeID, For: wanter(w, ticket),
				Priority: v1beta2.TicketPriority(ticket.Type),
				Holds:    a.Status.Holder == id, Satisfied: answer.Satisfied}
			for _, c := range answer.Conditions {
				if c.Type == v1beta2.TicketSatisfied {
					one.Reason, one.Message, one.Since = c.Reason, c.Message, c.LastTransitionTime
				}
			}
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Ticket) int {
		if a.Holds != b.Holds {
			if a.Holds {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// wanter returns for whom a ticket is: pods by name where they are known, the owner of the volume's own work, or a person.
func wanter(w *world.World, ticket v1beta2.AttachmentTicket) string {
	if kind, name := ticket.Parameters[v1beta2.TicketOwnerKind], ticket.Parameters[v1beta2.TicketOwnerName]; name != "" {
		return strings.TrimSpace(kind + " " + name)
	}
	switch ticket.Type {
	case v1beta2.AttacherCSI:
		if pods := podsOn(w, ticket.NodeID); pods != "" {
			return pods
		}
		return "Kubernetes"
	case v1beta2.AttacherLonghornAPI:
		return "a person"
	}
	return strings.TrimSuffix(ticket.Type, "-controller")
}

// podsOn names the pods of a node that mount the volume's claim.
func podsOn(w *world.World, node string) string {
	var names []string
	for i := range w.Pods.Items {
		pod := &w.Pods.Items[i]
		if pod.Spec.NodeName != node {
			continue
		}
		for _, pv := range w.PersistentVolumes.Items {
			if pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.Namespace != pod.Namespace {
				continue
			}
			for _, mounted := range pod.Spec.Volumes {
				if c := mounted.PersistentVolumeClaim; c != nil && c.ClaimName == pv.Spec.ClaimRef.Name {
					names = append(names, "pod "+pod.Namespace+"/"+pod.Name)
				}
			}
		}
	}
	return strings.Join(names, ", ")
}
