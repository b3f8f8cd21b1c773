package ticket

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// model simulates the peer controllers of this package in one step each: the decision table (rows D and A) and the volume machine.
type model struct{ World }

func (m *model) background(t v1beta2.AttachmentTicket) bool {
	return slices.Contains([]string{v1beta2.AttacherSnapshot, v1beta2.AttacherBackup, v1beta2.AttacherEviction, v1beta2.AttacherRebuilding},
		t.Type)
}

func (m *model) matches(t v1beta2.AttachmentTicket) bool {
	want := frontendOf(t)
	return want == v1beta2.TicketValueAny || want == strconv.FormatBool(m.Volume.Spec.DisableFrontend)
}

// table writes Volume.spec.
func (m *model) table() {
	spec, status := &m.Volume.Spec, m.Volume.Status
	tickets := sorted(m.tickets())
	if spec.NodeID == "" {
		if status.State != v1beta2.VolumeStateDetached || m.faulted() {
			return
		}
		able := slices.DeleteFunc(tickets, func(t v1beta2.AttachmentTicket) bool { return !m.selectable(t) })
		if len(able) > 0 {
			slices.SortStableFunc(able, func(a, b v1beta2.AttachmentTicket) int {
				return cmp.Or(cmp.Compare(v1beta2.TicketPriority(b.Type), v1beta2.TicketPriority(a.Type)),
					cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
			})
			spec.NodeID, spec.DisableFrontend = able[0].NodeID, frontendOf(able[0]) == v1beta2.TicketValueTrue
		}
		return
	}
	holders := slices.DeleteFunc(slices.Clone(tickets), func(t v1beta2.AttachmentTicket) bool {
		return t.NodeID != spec.NodeID || !m.matches(t)
	})
	down := v1beta2.IsNodeDown(m.Nodes[spec.NodeID])
	yields := slices.ContainsFunc(tickets, func(t v1beta2.AttachmentTicket) bool {
		urgent := isUsers(t) || v1beta2.TicketPriority(t.Type) == 2000
		elsewhere := t.NodeID != spec.NodeID || !m.matches(t)
		return urgent && elsewhere && m.selectable(t) &&
			(down || !slices.ContainsFunc(holders, func(h v1beta2.AttachmentTicket) bool { return !m.background(h) }))
	})
	if m.faulted() || len(holders) == 0 || down && status.CurrentNodeID == "" || yields {
		spec.NodeID = ""
	}
}

// hasData is the model's own: with the predicate of what it checks, a mistake there would go unnoticed.
func hasData(r v1beta2.Replica) bool {
	return r.Spec.HealthyAt != "" && r.Spec.FailedAt == "" && r.DeletionTimestamp == nil
}

// machine writes Volume.status and the replicas.
func (m *model) machine() {
	spec, status := m.Volume.Spec, &m.Volume.Status
	left := slices.ContainsFunc(m.Replicas, hasData)
	reachable := slices.ContainsFunc(m.Replicas,
		func(r v1beta2.Replica) bool {
			return hasData(r) && !v1beta2.IsNodeDown(m.Nodes[r.Spec.NodeID])
		})
	switch {
	case !left && status.Robustness != v1beta2.VolumeRobustnessFaulted:
		status.Robustness = v1beta2.VolumeRobustnessFaulted
	case spec.NodeID != status.CurrentNodeID && status.CurrentNodeID != "":
		status.CurrentNodeID, status.State = "", v1beta2.VolumeStateDetached
		if !m.faulted() {
			status.Robustness = v1beta2.VolumeRobustnessUnknown
		}
	case spec.NodeID == "" && m.faulted() && m.Settings.AutoSalvage:
		for i := range m.Replicas {
			if !v1beta2.IsNodeDown(m.Nodes[m.Replicas[i].Spec.NodeID]) {
				m.Replicas[i].Spec.FailedAt = ""
				status.Robustness = v1beta2.VolumeRobustnessUnknown
			}
		}
	case spec.NodeID != "" && status.CurrentNodeID == "" && reachable && !v1beta2.IsNodeDown(m.Nodes[spec.NodeID]):
		status.CurrentNodeID, status.State, status.Robustness = spec.NodeID, v1beta2.VolumeStateAttached, v1beta2.VolumeRobustnessDegraded
	case status.CurrentNodeID != "" && reachable:
		for i := range m.Replicas { // rebuilt, and moved from evicted nodes
			m.Replicas[i].Spec.FailedAt = ""
			if m.evicted(m.Replicas[i]) {
				m.Replicas[i].Spec.NodeID = "node-3"
			}
		}
		status.Robustness = v1beta2.VolumeRobustnessHealthy
	}
}

func (m *model) produce() { m.World = after(m.World, Decide(m.World).Changes) }

// disturb is one thing that the world does.
func (m *model) disturb(t *rapid.T) {
	node := rapid.SampledFrom([]string{"node-1", "node-2", "node-3"}).Draw(t, "node")
	switch rapid.IntRange(0, 6).Draw(t, "trouble") {
	case 0:
		down(node)(&m.World)
	case 1:
		ready(node, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)(&m.World)
	case 2:
		failed(node)(&m.World)
	case 3:
		for _, n := range []string{"node-1", "node-2", "node-3"} {
			delete(m.Attachment.Spec.AttachmentTickets, "csi-"+n)
		}
	case 4:
		ticket("csi-"+node, v1beta2.AttacherCSI, node)(&m.World)
	case 5:
		m.Nodes[node].Spec.EvictionRequested = node != "node-3" && !m.Nodes[node].Spec.EvictionRequested
	case 6:
		m.Volume.Spec.OfflineRebuilding = rapid.SampledFrom([]string{"enabled", "disabled"}).Draw(t, "offline")
	}
}

// However nodes, replicas and pods come and go: when they stop, everything settles, every pod that could have the volume
// has it (or another pod has), and no ticket of ours is left that nothing needs.
func TestPodsAreNeverStarvedByOurTickets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{basic()}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			rapid.SampledFrom([]func(){func() { m.disturb(t) }, m.produce, m.table, m.machine}).Draw(t, "step")()
		}
		var before, now string
		for range 40 {
			m.produce()
			m.table()
			m.machine()
			before, now = now, m.text()
		}
		require.Equal(t, before, now, "it settles")
		m.checkEnd(t)
	})
}

func (m *model) text() string {
	v := m.Volume
	out := v.Spec.NodeID + v.Status.CurrentNodeID + v.Status.State + v.Status.Robustness
	for _, t := range sorted(m.tickets()) {
		out += " " + t.ID + "@" + t.NodeID + " " + strconv.FormatInt(t.Generation, 10)
	}
	return out
}

func (m *model) checkEnd(t *rapid.T) {
	v := m.Volume
	salvageable := slices.ContainsFunc(m.Replicas, func(r v1beta2.Replica) bool { return !v1beta2.IsNodeDown(m.Nodes[r.Spec.NodeID]) })
	var pods []string
	for _, x := range sorted(m.tickets()) {
		if x.Type == v1beta2.AttacherCSI && m.selectable(x) {
			pods = append(pods, x.NodeID)
		}
	}
	if len(pods) > 0 && salvageable && m.usableSomewhere() {
		require.Contains(t, pods, v.Status.CurrentNodeID, "ATT-3: a pod that can have the volume has it: %s", m.text())
	}
	if len(pods) > 0 {
		require.False(t, m.has(v1beta2.AttacherSalvage, volumeName), "a pod that can have the volume needs no salvage: %s", m.text())
	}
	if m.has(v1beta2.AttacherSalvage, volumeName) {
		require.False(t, m.usableSomewhere(), "a salvage ends: %s", m.text())
	}
}

// usableSomewhere reports whether a replica that can be read is on a node that is up.
func (m *model) usableSomewhere() bool {
	return slices.ContainsFunc(m.Replicas, func(r v1beta2.Replica) bool {
		return hasData(r) && !v1beta2.IsNodeDown(m.Nodes[r.Spec.NodeID])
	})
}
