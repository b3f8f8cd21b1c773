package attach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// S1 and S2. Each world is one in which nothing is left to be done but to answer.
func TestATicketIsSatisfiedByWhatIsStored(t *testing.T) {
	off, anyFrontend := ticket("a", v1beta2.AttacherLonghornAPI, here, offFrontend()...),
		ticket("a", v1beta2.AttacherSnapshot, here, v1beta2.TicketDisableFrontend, v1beta2.TicketValueAny)
	plain := ticket("a", v1beta2.AttacherCSI, here)
	share := ticket("m", v1beta2.AttacherShareManager, there)
	for name, w := range map[string]World{
		"S1: attached to its node":       basic(attached(here), plain),
		"S1: without frontend, as asked": basic(attached(here), frontendOff, off),
		"S1: either way":                 basic(attached(here), anyFrontend),
		"S1: either way, and the frontend is off": basic(attached(here), frontendOff, anyFrontend,
			ticket("b", v1beta2.AttacherLonghornAPI, here, offFrontend()...)),
		"S1: beside another that is":                                   basic(attached(here), plain, pod(here)),
		"S1: although its node went down: the detach is not confirmed": basic(attached(here), plain, down(here)),
		"S1: although its node is being upgraded":                      basic(attached(here), plain, node(here, Node{Upgrading: true})),
		"S1: although the volume begins to run elsewhere, too":         moving(plain),
		"S1: although the target leaves again": basic(attached(here), plain,
			volume(func(v *Volume) { v.CurrentMigrationNodeID = there })),
		"S2: the target runs": moving(running, ticket("a", v1beta2.AttacherCSI, there)),
		"S2: the target runs, with the frontend of v2": moving(running, ticket("a", v1beta2.AttacherCSI, there),
			volume(func(v *Volume) { v.V2 = true }), frontendOn(there, v1beta2.InstanceStateRunning)),
		"S2: the move was confirmed and the source leaves":    confirming(ticket("a", v1beta2.AttacherCSI, there)),
		"the share of a shared volume runs, wherever it does": basic(attached(there), shared, plain, share),
	} {
		t.Run(name, func(t *testing.T) {
			satisfied, reason, message := reported(w, "a")
			require.True(t, satisfied, reason)
			require.Equal(t, v1beta2.ReasonSatisfied, reason)
			require.NotEmpty(t, message)
		})
	}
}

// What the API server refuses today may be stored from before.
func TestATicketThatCannotBeReadIsReported(t *testing.T) {
	until := func(at string, more ...string) change {
		return ticket("a", v1beta2.AttacherLonghornAPI, here, append(more, v1beta2.TicketExpiresAt, at)...)
	}
	for name, c := range map[string]struct {
		world   World
		reason  string
		message string
	}{
		"all can be read":         {basic(attached(here), until("2026-09-02T12:00:00Z")), "", ""},
		"its end is no time":      {basic(attached(here), until("tomorrow")), v1beta2.ReasonExpiresAtUnreadable, `Its expiresAt "tomorrow"`},
		"its owner ends it":       {basic(attached(here), until("tomorrow", v1beta2.TicketOwnerKind, "Snapshot")), "", ""},
		"its type is unknown":     {basic(ticket("a", "csi-atacher", here)), v1beta2.ReasonTypeUnknown, `Its type "csi-atacher" is unknown`},
		"it has no type":          {basic(ticket("a", "", here)), "", ""},
		"an upgrade left it":      {basic(ticket("a", v1beta2.AttacherLonghornUpgrader, here)), "", ""},
		"neither is":              {basic(ticket("a", "x", here, v1beta2.TicketExpiresAt, "y")), v1beta2.ReasonTypeUnknown, `Its expiresAt "y"`},
		"there is no such volume": {basic(until("tomorrow"), func(w *World) { w.Volume = nil }), v1beta2.ReasonExpiresAtUnreadable, "tomorrow"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := Decide(c.world).Status.AttachmentTicketStatuses["a"]
			require.NotNil(t, conditions.Get(answer.Conditions, v1beta2.TicketSatisfied))
			require.Equal(t, c.reason, conditions.Reason(answer.Conditions, v1beta2.TicketValid))
			if c.reason == "" {
				return
			}
			valid := conditions.Get(answer.Conditions, v1beta2.TicketValid)
			require.Equal(t, v1beta2.ConditionFalse, valid.Status)
			require.Contains(t, valid.Message, c.message)
			mended := with(c.world, ticket("a", v1beta2.AttacherLonghornAPI, here), func(w *World) {
				w.Attachment.Stored = v1beta2.VolumeAttachmentStatus{
					AttachmentTicketStatuses: map[string]v1beta2.AttachmentTicketStatus{"a": answer}}
			})
			require.Nil(t, conditions.Get(Decide(mended).Status.AttachmentTicketStatuses["a"].Conditions, v1beta2.TicketValid))
		})
	}
	first, last := ticket("b", v1beta2.AttacherLonghornAPI, there), ticket("a", "csi-atacher", here)
	_, reason, message := reported(basic(first, last), "a")
	require.Equal(t, v1beta2.ReasonLowerPriority, reason)
	require.Contains(t, message, `Its type "csi-atacher" is unknown, so that every other ticket comes first`)
}

// S3.
func TestATicketThatIsNotSatisfiedReportsWhyAndWhatToDo(t *testing.T) {
	plain := ticket("a", v1beta2.AttacherCSI, here)
	other := ticket("b", v1beta2.AttacherLonghornAPI, there)
	blocked := volume(func(v *Volume) { v.Blocker = "No disk has 10 GiB." })
	cases := map[string]struct {
		world  World
		reason string
		says   []string
	}{
		"the volume is being created": {basic(plain, state(v1beta2.VolumeStateCreating)), v1beta2.ReasonAttaching,
			[]string{"created"}},
		"the volume was just given to it": {basic(plain), v1beta2.ReasonAttaching, []string{here}},
		"the volume comes up": {basic(plain, wanted(here), state(v1beta2.VolumeStateAttaching)),
			v1beta2.ReasonAttaching, []string{here}},
		"the volume cannot come up": {basic(plain, wanted(here), state(v1beta2.VolumeStateAttaching), blocked),
			v1beta2.ReasonAttaching, []string{here, "No disk has 10 GiB."}},
		"the volume is up, and its node is unknown": {basic(plain, wanted(here), state(v1beta2.VolumeStateAttached)),
			v1beta2.ReasonAttaching, nil},
		"the volume runs elsewhere still": {basic(plain, wanted(here), state(v1beta2.VolumeStateAttached),
			volume(func(v *Volume) { v.CurrentNodeID = there })), v1beta2.ReasonAttaching, nil},
		"the frontend is not on yet": {basic(plain, attached(here),
			volume(func(v *Volume) { v.FrontendDisabled = true })), v1beta2.ReasonAttaching, nil},
		"the volume comes back by itself": {basic(plain, attached(here), state(v1beta2.VolumeStateDetaching)),
			v1beta2.ReasonWaitingForDetach, []string{here}},
		"the volume would come back, but its node is down": {basic(plain, attached(here), state(v1beta2.VolumeStateDetaching), down(here)),
			v1beta2.ReasonNodeNotReady, []string{here}},
		"the volume leaves its former node": {basic(plain, state(v1beta2.VolumeStateDetaching),
			volume(func(v *Volume) { v.CurrentNodeID = there })), v1beta2.ReasonWaitingForDetach, []string{there}},
		"the volume is half way down": {basic(plain, state(v1beta2.VolumeStateDetaching)),
			v1beta2.ReasonWaitingForDetach, []string{"still being detached"}},
		"the volume is taken from somebody": {basic(plain, attached(there), ticket("b", v1beta2.AttacherBackup, there)),
			v1beta2.ReasonWaitingForDetach, []string{there}},
		"the volume is being deleted": {basic(plain, attached(here), volume(func(v *Volume) { v.Deleting = true })),
			v1beta2.ReasonWaitingForDetach, []string{"deleted"}},
		"the volume is faulted":                      {basic(plain, faulted), v1beta2.ReasonVolumeFaulted, []string{"salvaged"}},
		"it is faulted, on a node that is down, too": {basic(plain, faulted, down(here)), v1beta2.ReasonVolumeFaulted, nil},
		"a ticket of higher priority has it, on its way": {basic(plain, other), v1beta2.ReasonLowerPriority,
			[]string{`longhorn-api "b"`, there}},
		"a ticket of higher priority comes next": {
			basic(plain, other, state(v1beta2.VolumeStateDetaching), volume(func(v *Volume) { v.CurrentNodeID = third })),
			v1beta2.ReasonLowerPriority, []string{`longhorn-api "b"`, there},
		},
		"a ticket of higher priority wants this node without frontend": {
			basic(plain, ticket("b", v1beta2.AttacherLonghornAPI, here, offFrontend()...), state(v1beta2.VolumeStateDetaching)),
			v1beta2.ReasonLowerPriority, []string{`longhorn-api "b"`},
		},
		"another node has it": {basic(plain, attached(there), other), v1beta2.ReasonAttachedElsewhere,
			[]string{there, `longhorn-api "b"`, "remove that ticket"}},
		"another node has it for several": {basic(plain, attached(there), other, pod(there), ticket("c", v1beta2.AttacherSnapshot, there),
			ticket("d", v1beta2.AttacherSnapshot, there)), v1beta2.ReasonAttachedElsewhere,
			[]string{`"b"`, `"csi-node-2"`, `"c"`, "and 1 more"}},
		"a later ticket has it, on its way": {basic(plain, wanted(there), state(v1beta2.VolumeStateAttaching),
			ticket("bb", v1beta2.AttacherCSI, there)), v1beta2.ReasonAttachedElsewhere, []string{there}},
		"the node has it without frontend": {
			basic(plain, attached(here), frontendOff, ticket("b", v1beta2.AttacherLonghornAPI, here, offFrontend()...)),
			v1beta2.ReasonAttachedWithIncompatibleParameters, []string{"frontend off", `longhorn-api "b"`},
		},
		"the node has it with its frontend": {
			basic(pod(here), attached(here), ticket("a", v1beta2.AttacherLonghornAPI, here, offFrontend()...)),
			v1beta2.ReasonAttachedWithIncompatibleParameters, []string{"frontend on", `csi-attacher "csi-node-1"`},
		},
		"the ticket names no node": {basic(ticket("a", v1beta2.AttacherCSI, "")), v1beta2.ReasonNoNode, []string{"nodeID"}},
		"the ticket names no node that is known": {basic(ticket("a", v1beta2.AttacherCSI, gone)), v1beta2.ReasonNodeUnknown,
			[]string{gone}},
		"the ticket's node is down": {basic(plain, down(here)), v1beta2.ReasonNodeNotReady, []string{here}},
		"the ticket's node is cordoned": {basic(ticket("a", v1beta2.AttacherLonghornAPI, here), node(here, Node{Cordoned: true})),
			v1beta2.ReasonNodeCordoned, []string{here}},
		"the ticket's node is being upgraded": {basic(plain, node(here, Node{Upgrading: true})), v1beta2.ReasonNodeUpgrading,
			[]string{here}},
		"the data is on another node": {
			basic(plain, func(w *World) { w.Volume.StrictLocal, w.ReplicaNodes = true, []string{there} }), v1beta2.ReasonDataLocality,
			[]string{there},
		},
		"the share does not run": {basic(plain, shared, attached(here), ticket("b", v1beta2.AttacherSnapshot, here)),
			v1beta2.ReasonWaitingForShare, []string{"share"}},
		"the share comes up": {basic(plain, shared, wanted(there), state(v1beta2.VolumeStateAttaching),
			ticket("m", v1beta2.AttacherShareManager, there)), v1beta2.ReasonWaitingForShare, nil},
		"the target comes up": {moving(ticket("a", v1beta2.AttacherCSI, there)), v1beta2.ReasonMigrating,
			[]string{there, here}},
		"the target runs, not its frontend": {moving(running, volume(func(v *Volume) { v.V2 = true }),
			ticket("a", v1beta2.AttacherCSI, there)), v1beta2.ReasonMigrating, nil},
		"the confirmed target fails": {confirming(ticket("a", v1beta2.AttacherCSI, there),
			func(w *World) { w.Engines[1].State = v1beta2.InstanceStateError }), v1beta2.ReasonMigrating, []string{there}},
		"the third pod of a migration": {moving(running, ticket("a", v1beta2.AttacherCSI, third)), v1beta2.ReasonTooManyTickets,
			[]string{here}},
		"the third pod before the move": {
			basic(migratable, wanted(here), state(v1beta2.VolumeStateAttaching), pod(here), ticket("", v1beta2.AttacherCSI, there),
				ticket("a", v1beta2.AttacherCSI, third)),
			v1beta2.ReasonTooManyTickets, []string{here},
		},
		"a person beside a migration": {moving(running, ticket("a", v1beta2.AttacherLonghornAPI, third)), v1beta2.ReasonAttachedElsewhere,
			nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			satisfied, reason, message := reported(c.world, "a")
			require.False(t, satisfied)
			require.Equal(t, c.reason, reason, message)
			require.Equal(t, ".", message[len(message)-1:], "a sentence: %s", message)
			for _, word := range c.says {
				require.Contains(t, message, word)
			}
		})
	}
}

func TestAnAnswerRepeatsTheGenerationAndItsTicketsId(t *testing.T) {
	w := basic(pod(here), attached(here), func(w *World) {
		x := w.Attachment.Tickets["csi-"+here]
		x.Generation, x.ID = 7, "something else"
		w.Attachment.Tickets["csi-"+here] = x
	})
	a := Decide(w).Status.AttachmentTicketStatuses["csi-"+here]
	require.Equal(t, "csi-"+here, a.ID, "the key is the id")
	require.EqualValues(t, 7, a.Generation)
	require.True(t, a.Satisfied)
}

func TestAnAnswerKeepsTheTimeOfItsLastTransition(t *testing.T) {
	w := settled(basic(pod(here), pod(there)))
	first := w.Attachment.Stored.AttachmentTicketStatuses["csi-"+here].Conditions[0]
	later := with(w, func(w *World) { w.Now = now.Add(3600e9) }, state(v1beta2.VolumeStateDetaching))
	second := Decide(later).Status.AttachmentTicketStatuses["csi-"+here].Conditions[0]
	require.NotEqual(t, first.Reason, second.Reason)
	require.Equal(t, first.LastTransitionTime, second.LastTransitionTime, "it was not satisfied all the time")
}

func TestAPodOfASharedVolumeReportsWhatItsShareWaitsFor(t *testing.T) {
	maintenance := ticket("ui", v1beta2.AttacherLonghornAPI, here, offFrontend()...)
	share := ticket("m", v1beta2.AttacherShareManager, there)
	satisfied, reason, message := reported(basic(attached(here), frontendOff, shared, maintenance, share, pod(third)), "csi-"+third)
	require.False(t, satisfied)
	require.Equal(t, v1beta2.ReasonWaitingForShare, reason)
	require.Contains(t, message, "its share, which does not run yet. The volume is attached to node "+here+
		" for longhorn-api \"ui\": remove that ticket")
	_, _, message = reported(basic(shared, pod(third)), "csi-"+third)
	require.Equal(t, "Pods reach this volume by its share, which does not run yet.", message)
}
