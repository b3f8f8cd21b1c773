package attach

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var (
	places = []string{"", here, there, third, gone}
	states = []string{
		"", v1beta2.VolumeStateCreating, v1beta2.VolumeStateDetached, v1beta2.VolumeStateAttaching, v1beta2.VolumeStateAttached,
		v1beta2.VolumeStateDetaching, v1beta2.VolumeStateDeleting, "unheard",
	}
	instances = []string{
		"", v1beta2.InstanceStateStarting, v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped, v1beta2.InstanceStateError,
	}
)

func one(t *rapid.T, label string, of []string) string { return rapid.SampledFrom(of).Draw(t, label) }

func rarely(t *rapid.T, label string) bool { return rapid.IntRange(0, 7).Draw(t, label) == 0 }

// anyWorld is any volume, also such as should never be, with any tickets and answers.
func anyWorld(t *rapid.T) World {
	w := World{Now: now, Nodes: map[string]Node{}}
	for _, name := range []string{here, there, third} {
		if !rarely(t, "no "+name) {
			w.Nodes[name] = Node{Down: rarely(t, "down"), NotReady: rarely(t, "not ready"), Cordoned: rarely(t, "cordoned"),
				Upgrading: rarely(t, "upgrading")}
		}
	}
	if !rarely(t, "no volume") {
		w.Volume = anyVolume(t)
	}
	if !rarely(t, "no tickets' object") {
		w.Attachment = anyAttachment(t)
	}
	for range rapid.IntRange(0, 3).Draw(t, "engines") {
		w.Engines = append(w.Engines, Engine{one(t, "engine on", places), one(t, "engine is", instances),
			uint64(rapid.IntRange(0, 1).Draw(t, "snapshots"))})
		w.Frontends = append(w.Frontends, Frontend{one(t, "frontend on", places), one(t, "frontend is", instances)})
	}
	w.ReplicaNodes = rapid.SampledFrom([][]string{nil, {here}, {there, third}}).Draw(t, "replicas")
	return w
}

func anyVolume(t *rapid.T) *Volume {
	flag := func(label string) bool { return rapid.Bool().Draw(t, label) }
	v := &Volume{
		Name: "vol-1", Deleting: rarely(t, "deleting"), State: one(t, "state", states),
		Spec:      Spec{NodeID: one(t, "wanted", places), DisableFrontend: flag("off"), LastAttachedBy: one(t, "by", []string{"", "somebody"})},
		V2:        flag("v2"),
		Relocated: flag("relocated"), TargetNodeID: one(t, "target's node", places), Upgrading: flag("upgrading"),
		StrictLocal: rarely(t, "local"), Unfilled: rarely(t, "unfilled"), FrontendDisabled: flag("is off"),
		Faulted:       rarely(t, "faulted"),
		CurrentNodeID: one(t, "current", places), Blocker: one(t, "blocker", []string{"", "No room."}),
	}
	if v.Migratable = flag("migratable"); v.Migratable {
		v.MigrationNodeID, v.CurrentMigrationNodeID = one(t, "target", places), one(t, "current target", places)
	} else {
		v.Shared = rarely(t, "shared")
	}
	if flag("on the original node") {
		v.CurrentNodeID, v.State, v.FrontendDisabled = v.NodeID, v1beta2.VolumeStateAttached, v.DisableFrontend
	}
	return v
}

func anyAttachment(t *rapid.T) *Attachment {
	a := &Attachment{Generation: 3, Tickets: map[string]v1beta2.AttachmentTicket{}}
	a.Stored.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{}
	for _, id := range []string{"", "a", "b", "cc", "dd"} {
		if rapid.Bool().Draw(t, "ticket") {
			x := v1beta2.AttachmentTicket{ID: id, Type: one(t, "type", attachers), NodeID: one(t, "node", places),
				Generation: int64(rapid.IntRange(0, 2).Draw(t, "generation"))}
			if rapid.Bool().Draw(t, "reports") {
				x.Parameters = map[string]string{v1beta2.TicketDisableFrontend: one(t, "frontend",
					[]string{"", "true", "false", "any", "x"})}
			}
			a.Tickets[id] = x
		}
		if rapid.Bool().Draw(t, "answer") {
			satisfied := rapid.Bool().Draw(t, "satisfied")
			a.Stored.AttachmentTicketStatuses[id] = v1beta2.AttachmentTicketStatus{ID: id, Generation: 1, Satisfied: satisfied}
		}
	}
	return a
}

func TestEveryWorldHasOneVerdictAndComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for range 4 {
			v := Decide(w)
			require.Equal(t, v, Decide(copied(w)), "deterministic")
			checkVerdict(t, w, v)
			if len(v.Steps) == 0 {
				return
			}
			w = after(w, v, v.Steps...)
		}
		require.Empty(t, Decide(w).Steps, "without other writers there is nothing left to do")
	})
}

// ALL-2: whichever write of a pass is the last that arrives, the next passes come to the same end.
func TestAPassThatDiesComesToTheSameEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := Decide(w)
		for n := range v.Steps {
			cut := after(w, v, v.Steps[:n]...)
			checkVerdict(t, cut, Decide(cut))
			require.Equal(t, final(w), final(cut))
		}
	})
}

// final is the end state of a world: the volume's holder, and every ticket's answer.
func final(w World) any {
	w = settled(w)
	type end struct {
		spec    Spec
		answers string
		ready   []v1beta2.Condition
	}
	out := end{}
	if w.Volume != nil {
		out.spec = w.Volume.Spec
	}
	if w.Attachment == nil {
		return out
	}
	for _, id := range slices.Sorted(maps.Keys(w.Attachment.Stored.AttachmentTicketStatuses)) {
		c := w.Attachment.Stored.AttachmentTicketStatuses[id].Conditions
		out.answers += id + " " + conditions.Reason(c, v1beta2.TicketSatisfied) + ", "
	}
	out.ready = w.Attachment.Stored.Conditions
	return out
}

func TestTicketsHaveATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() v1beta2.AttachmentTicket {
			return v1beta2.AttachmentTicket{Type: one(t, "type", attachers), ID: one(t, "id", []string{"", "a", "b", "aa", "ab"})}
		}
		a, b, c := draw(), draw(), draw()
		require.Equal(t, -Compare(b, a), Compare(a, b))
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 {
			require.LessOrEqual(t, Compare(a, c), 0)
		}
		if Compare(a, b) == 0 {
			require.Equal(t, a.ID, b.ID, "no two tickets of one volume are equal")
		}
	})
}
