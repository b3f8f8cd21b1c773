package attach

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// A strict-local volume is filled where a workload waits for it.
func TestTheNodeOfAWorkload(t *testing.T) {
	unfilled := volume(func(v *Volume) { v.Unfilled, v.StrictLocal = true, true })
	pod, user := ticket("b", v1beta2.AttacherCSI, there), ticket("person", v1beta2.AttacherLonghornAPI, here)
	for name, c := range map[string]struct {
		world World
		want  string
	}{
		"there is none":                         {basic(unfilled), ""},
		"a pod's":                               {basic(unfilled, pod), there},
		"the first in order":                    {basic(unfilled, pod, ticket("a", v1beta2.AttacherCSI, third)), third},
		"not one that is down":                  {basic(unfilled, pod, user, down(there)), here},
		"not a cordoned one of a person":        {basic(unfilled, user, node(here, Node{Cordoned: true})), ""},
		"not one that is named by nobody":       {basic(unfilled, ticket("a", v1beta2.AttacherCSI, "")), ""},
		"not of background work":                {basic(unfilled, ticket("a", v1beta2.AttacherSnapshot, here)), ""},
		"a pod's ticket for a share is no wish": {basic(unfilled, pod, volume(func(v *Volume) { v.Shared = true })), ""},
		"without tickets":                       {basic(unfilled, func(w *World) { w.Attachment = nil }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, WorkloadNode(c.world))
			require.True(t, c.world.Volume.Unfilled, "the world stays as it is")
		})
	}
}

// rowCase is a world, the row that decides it, and the resulting Volume.spec.
type rowCase struct {
	world World
	row   Row
	want  Spec
}

func checkRows(t *testing.T, cases map[string]rowCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.row, v.Row)
			if c.want.LastAttachedBy == "" {
				v.Spec.LastAttachedBy = ""
			}
			require.Equal(t, c.want, v.Spec)
		})
	}
}

func TestADetachedVolumeGoesToTheFirstTicketThatCanBeServed(t *testing.T) {
	checkRows(t, map[string]rowCase{
		"A1: a target that is left over of a migration is cleared before anything else": {
			basic(pod(here), volume(func(v *Volume) { v.MigrationNodeID = there })), RowClear, Spec{},
		},
		"A2: a volume that is being created waits":  {basic(pod(here), state(v1beta2.VolumeStateCreating)), RowWait, Spec{}},
		"A2: a volume without a state waits":        {basic(pod(here), state("")), RowWait, Spec{}},
		"A2: a volume that is being detached waits": {basic(pod(here), state(v1beta2.VolumeStateDetaching)), RowWait, Spec{}},
		"A2: a volume that is detached in name only waits": {basic(pod(here), volume(func(v *Volume) { v.CurrentNodeID = there })), RowWait,
			Spec{}},
		"A2: a volume whose target has not let go waits": {basic(pod(here), volume(func(v *Volume) { v.CurrentMigrationNodeID = there })),
			RowWait, Spec{}},
		"A2: a faulted volume waits until it was salvaged": {basic(pod(here), faulted), RowWait, Spec{}},
		"A3: a ticket is served":                           {basic(pod(here)), RowChoose, Spec{NodeID: here}},
		"A3: with no ticket nothing is chosen":             {basic(), RowIdle, Spec{}},
		"A3: with no ticket that can be served neither is": {basic(pod(gone)), RowIdle, Spec{}},
		"A3: the frontend follows the chosen ticket": {
			basic(ticket("a", v1beta2.AttacherLonghornAPI, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueTrue,
				v1beta2.TicketLastAttachedBy, "somebody")),
			RowChoose, Spec{NodeID: here, DisableFrontend: true, LastAttachedBy: "somebody"},
		},
		"A3: a ticket that does not care gets the frontend": {
			basic(frontendOff, ticket("a", v1beta2.AttacherSnapshot, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueAny)),
			RowChoose, Spec{NodeID: here},
		},
	})
}

func TestAVolumeNamesWhoAttachedItLast(t *testing.T) {
	require.Equal(t, v1beta2.AttacherCSI, Decide(basic(pod(here))).Spec.LastAttachedBy, "by the type of the ticket")
	named := ticket("a", v1beta2.AttacherLonghornAPI, here, v1beta2.TicketLastAttachedBy, "somebody")
	require.Equal(t, "somebody", Decide(basic(named)).Spec.LastAttachedBy, "or by the name that it gives")
}

func TestTheOrderOfTicketsIsPriorityThenShorterThenSmaller(t *testing.T) {
	cases := map[string]struct {
		tickets []change
		node    string
	}{
		"data before people": {[]change{ticket("b", v1beta2.AttacherLonghornAPI, here),
			ticket("bb", v1beta2.AttacherRestore, there)}, there},
		"expansion is data, too": {[]change{ticket("b", v1beta2.AttacherLonghornAPI, here),
			ticket("bb", v1beta2.AttacherExpansion, there)}, there},
		"people before pods": {[]change{ticket("b", v1beta2.AttacherCSI, here),
			ticket("bb", v1beta2.AttacherLonghornAPI, there)}, there},
		"pods before background": {[]change{ticket("b", v1beta2.AttacherBackup, here),
			ticket("bb", v1beta2.AttacherCSI, there)}, there},
		"background before unknown types": {[]change{ticket("b", "unheard", here), ticket("bb", v1beta2.AttacherSnapshot, there)},
			there},
		"the shorter of equals": {[]change{ticket("aa", v1beta2.AttacherCSI, here),
			ticket("b", v1beta2.AttacherSalvage, there)}, there},
		"the empty id is the shortest": {[]change{ticket("a", v1beta2.AttacherCSI, here), ticket("", v1beta2.AttacherCSI, there)},
			there},
		"the smaller of equally short ones": {[]change{ticket("b", v1beta2.AttacherCSI, here), ticket("a", v1beta2.AttacherCSI, there)},
			there},
		"a ticket on a node that is ready before those that wait for theirs": {
			[]change{ticket("a", v1beta2.AttacherRestore, here), ticket("b", v1beta2.AttacherSnapshot, there),
				node(here, Node{NotReady: true})}, there,
		},
		"where no node is ready, the order is as ever": {
			[]change{ticket("a", v1beta2.AttacherRestore, here), ticket("b", v1beta2.AttacherSnapshot, there),
				node(here, Node{NotReady: true}), node(there, Node{NotReady: true})}, here,
		},
		"one that cannot be served never starves another": {
			[]change{ticket("a", v1beta2.AttacherRestore, gone), ticket("b", v1beta2.AttacherSnapshot, there)}, there,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.node, Decide(basic(c.tickets...)).Spec.NodeID)
			slices.Reverse(c.tickets)
			require.Equal(t, c.node, Decide(basic(c.tickets...)).Spec.NodeID, "whichever came first")
		})
	}
}

func TestNoTicketGetsAVolumeBeforeItsData(t *testing.T) {
	unfilled := volume(func(v *Volume) { v.Unfilled = true })
	snapshot := ticket("s", v1beta2.AttacherSnapshot, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueAny)
	expansion := ticket("e", v1beta2.AttacherExpansion, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueAny)
	restore := ticket("r", v1beta2.AttacherRestore, there, offFrontend()...)
	off := Spec{NodeID: here, DisableFrontend: true}
	checkRows(t, map[string]rowCase{
		"a snapshot attaches it without its frontend":    {basic(unfilled, snapshot), RowChoose, off},
		"so does an expansion, whatever pod waits there": {basic(unfilled, expansion, pod(here)), RowChoose, off},
		"without data to wait for it has its frontend":   {basic(expansion, pod(here)), RowChoose, Spec{NodeID: here}},
		"a pod does not keep it: it is taken back":       {basic(unfilled, attached(here), pod(here)), RowUnwanted, Spec{}},
		"with its frontend on, the restore takes it": {basic(unfilled, attached(here), pod(here), snapshot, restore),
			RowInterrupt, Spec{}},
		"without its frontend, background work keeps it": {basic(unfilled, attached(here), frontendOff, snapshot), RowKeep, off},
		"a pod that waits interrupts no ticket before the data": {basic(unfilled, attached(here), frontendOff, snapshot, pod(there)),
			RowKeep, off},
		"once the data is there the pod gets it from a holder": {basic(attached(here), frontendOff, snapshot, pod(there)), RowInterrupt,
			Spec{DisableFrontend: true}},
	})
	for name, w := range map[string]World{
		"attached with its frontend, for background work": basic(unfilled, attached(here), pod(here), snapshot),
		"attached without its frontend":                   basic(unfilled, attached(here), frontendOff, pod(here), snapshot),
		"detached":                                        basic(unfilled, pod(here), snapshot),
	} {
		satisfied, reason, message := reported(w, "csi-"+here)
		require.False(t, satisfied, name)
		require.Equal(t, v1beta2.ReasonWaitingForData, reason, name)
		require.Contains(t, message, "still waits for data", name)
	}
	satisfied, _, _ := reported(basic(unfilled, attached(here), frontendOff, snapshot), "s")
	require.True(t, satisfied)
}

// The data comes no further on a node that is down: whoever waits for it learns of the node, and of the user who keeps the volume there.
func TestAPodThatWaitsForDataReportsANodeThatIsDown(t *testing.T) {
	unfilled := volume(func(v *Volume) { v.Unfilled = true })
	restore := ticket("r", v1beta2.AttacherRestore, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueTrue)
	person := ticket("ui", v1beta2.AttacherLonghornAPI, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueTrue)
	held := []change{unfilled, attached(here), frontendOff, restore, pod(there)}
	_, reason, _ := reported(basic(held...), "csi-"+there)
	require.Equal(t, v1beta2.ReasonWaitingForData, reason, "the node is there")
	_, reason, message := reported(basic(append(held, down(here))...), "csi-"+there)
	require.Equal(t, v1beta2.ReasonDataNodeDown, reason)
	require.Contains(t, message, "on node "+here+", which is down: start the node.")
	_, reason, message = reported(basic(append(held, person, down(here))...), "csi-"+there)
	require.Equal(t, v1beta2.ReasonDataNodeDown, reason)
	require.Contains(t, message, `or remove what holds the volume there (longhorn-api "ui").`)
	_, reason, _ = reported(basic(unfilled, restore, pod(there), down(here)), "csi-"+there)
	require.Equal(t, v1beta2.ReasonWaitingForData, reason, "it is on no node")
}

// Row V.
func TestATicketIsPassedOverWithAReason(t *testing.T) {
	local := volume(func(v *Volume) { v.StrictLocal = true })
	replicaOn := func(nodes ...string) change { return func(w *World) { w.ReplicaNodes = nodes } }
	person := ticket("a", v1beta2.AttacherLonghornAPI, here)
	cases := map[string]struct {
		world  World
		reason string
		says   string
	}{
		"it names no node":    {basic(ticket("a", v1beta2.AttacherCSI, "")), v1beta2.ReasonNoNode, "set its nodeID"},
		"the node is unknown": {basic(ticket("a", v1beta2.AttacherCSI, gone)), v1beta2.ReasonNodeUnknown, gone},
		"the node is down":    {basic(ticket("a", v1beta2.AttacherCSI, here), down(here)), v1beta2.ReasonNodeNotReady, here},
		"the node is being upgraded": {basic(ticket("a", v1beta2.AttacherCSI, here), node(here, Node{Upgrading: true})),
			v1beta2.ReasonNodeUpgrading, here},
		"a person's node is cordoned": {basic(person, node(here, Node{Cordoned: true})), v1beta2.ReasonNodeCordoned, "uncordon it"},
		"the data is on another node": {basic(person, local, replicaOn(there)), v1beta2.ReasonDataLocality, there},
		"the pod waits for the share": {basic(ticket("a", v1beta2.AttacherCSI, here), shared), v1beta2.ReasonWaitingForShare, "share"},
		"the data is still to come": {basic(ticket("a", v1beta2.AttacherCSI, here), volume(func(v *Volume) { v.Unfilled = true })),
			v1beta2.ReasonWaitingForData, "backup"},
		"who brings the data is served": {
			basic(ticket("a", v1beta2.AttacherRestore, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueTrue),
				volume(func(v *Volume) { v.Unfilled = true })), "", "",
		},
		"a cordoned node still serves pods": {
			basic(ticket("a", v1beta2.AttacherCSI, here), node(here, Node{Cordoned: true})), "", "",
		},
		"a cordoned node still serves background work": {
			basic(ticket("a", v1beta2.AttacherSnapshot, here), node(here, Node{Cordoned: true})), "", "",
		},
		"the data is on that node":                {basic(person, local, replicaOn(there, here)), "", ""},
		"the data is nowhere yet":                 {basic(person, local), "", ""},
		"a person may attach a shared volume":     {basic(person, shared), "", ""},
		"a pod of a migratable volume is counted": {basic(ticket("a", v1beta2.AttacherCSI, here), migratable), "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			x := c.world.Attachment.Tickets["a"]
			require.Equal(t, c.reason == "", Selectable(c.world, x))
			if c.reason == "" {
				require.Equal(t, RowChoose, Decide(c.world).Row)
				return
			}
			require.Equal(t, RowIdle, Decide(c.world).Row)
			satisfied, reason, message := reported(c.world, "a")
			require.False(t, satisfied)
			require.Equal(t, c.reason, reason)
			require.Contains(t, message, c.says)
			ready := Decide(c.world).Status.Conditions[0]
			require.Equal(t, v1beta2.ReasonNoCandidate, ready.Reason)
			require.Contains(t, ready.Message, c.reason, "the volume's condition has the same reason")
		})
	}
}

func TestEveryKindOfTicketIsWorkloadOrBackgroundOrNeither(t *testing.T) {
	of := map[string]func(string) bool{"workload": v1beta2.IsUserTicket, "background": Background, "data": data}
	want := map[string][]string{
		"workload": {v1beta2.AttacherCSI, v1beta2.AttacherLonghornAPI, v1beta2.AttacherShareManager},
		"background": {v1beta2.AttacherSnapshot, v1beta2.AttacherBackup, v1beta2.AttacherEviction, v1beta2.AttacherRebuilding,
			v1beta2.AttacherBackingImageData},
		"data": {v1beta2.AttacherRestore, v1beta2.AttacherExpansion},
	}
	for _, attacher := range attachers {
		for kind, is := range of {
			require.Equal(t, slices.Contains(want[kind], attacher), is(attacher), "%s is %s", attacher, kind)
		}
	}
}

var attachers = []string{
	v1beta2.AttacherCSI, v1beta2.AttacherLonghornAPI, v1beta2.AttacherSnapshot, v1beta2.AttacherBackup, v1beta2.AttacherClone,
	v1beta2.AttacherSalvage, v1beta2.AttacherShareManager, v1beta2.AttacherRestore, v1beta2.AttacherEviction,
	v1beta2.AttacherExpansion, v1beta2.AttacherBackingImageData, v1beta2.AttacherRebuilding, "", "unheard",
}

// A2: for tickets that are there when the volume becomes detached, the order of arrival does not matter.
func TestEveryOrderOfTheMapGivesTheSameVerdict(t *testing.T) {
	tickets := map[string]v1beta2.AttachmentTicket{}
	for _, attacher := range attachers {
		for _, on := range []string{here, there, gone} {
			id := attacher + "@" + on
			tickets[id] = v1beta2.AttachmentTicket{ID: id, Type: attacher, NodeID: on}
		}
	}
	w := basic()
	w.Attachment.Tickets = tickets
	want := Decide(w)
	for range 50 {
		again := map[string]v1beta2.AttachmentTicket{}
		for id, x := range maps.All(tickets) {
			again[id] = x
		}
		w.Attachment.Tickets = again
		require.Equal(t, want, Decide(w))
	}
	require.Equal(t, here, want.Spec.NodeID)
	require.Equal(t, v1beta2.AttacherRestore+"@"+here, want.Status.Holder, "the shorter of the two of highest priority")
}
