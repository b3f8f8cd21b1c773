package attach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// A17: one condition answers which ticket holds the volume, on which node, and what blocks it.
func TestOneConditionReportsTheHolderAndWhatBlocks(t *testing.T) {
	up, deleting := attached(here), volume(func(v *Volume) { v.Deleting = true })
	blocked := volume(func(v *Volume) { v.Blocker = "No disk has 10 GiB." })
	attaching := state(v1beta2.VolumeStateAttaching)
	cases := map[string]struct {
		world  World
		ready  bool
		reason string
		says   []string
	}{
		"no ticket": {basic(), true, v1beta2.ReasonDetached, []string{"No ticket wants"}},
		"one holder": {basic(up, pod(here)), true, v1beta2.ReasonAttached,
			[]string{here, `csi-attacher "csi-node-1"`, "frontend on"}},
		"an exclusive holder": {basic(up, frontendOff, ticket("a", v1beta2.AttacherLonghornAPI, here, offFrontend()...)),
			true, v1beta2.ReasonAttached, []string{"frontend off"}},
		"somebody else waits": {basic(up, pod(here), ticket("s", v1beta2.AttacherSnapshot, there)), true,
			v1beta2.ReasonAttached, []string{`Waiting: snapshot-controller "s" for node node-2 (AttachedElsewhere).`}},
		"many others wait": {basic(up, pod(here), background(there)), true, v1beta2.ReasonAttached,
			[]string{"and 2 more."}},
		"a ticket without a node waits": {basic(up, pod(here), ticket("s", "", "")), true, v1beta2.ReasonAttached,
			[]string{`ticket "s" for no node (NoNode)`}},
		"a wrong frontend waits": {basic(up, pod(here), ticket("a", v1beta2.AttacherLonghornAPI, here, offFrontend()...)), true,
			v1beta2.ReasonAttached, []string{"AttachedWithIncompatibleParameters"}},
		"it moves":              {moving(running), true, v1beta2.ReasonAttached, []string{here, "It is moving to node node-2"}},
		"it completes its move": {confirming(), false, v1beta2.ReasonAttaching, []string{"completing its move to node node-2"}},
		"it comes up": {basic(wanted(here), attaching, pod(here)), false, v1beta2.ReasonAttaching,
			[]string{here, `"csi-node-1"`}},
		"it comes up with another frontend": {basic(up, pod(here), volume(func(v *Volume) { v.FrontendDisabled = true })), false,
			v1beta2.ReasonAttaching, []string{here}},
		"it cannot come up": {basic(wanted(here), attaching, pod(here), blocked), false, v1beta2.ReasonBlocked,
			[]string{here, "No disk has 10 GiB."}},
		"its node is down": {basic(up, pod(here), down(here)), false, v1beta2.ReasonBlocked, []string{here, "is down"}},
		"it comes back by itself": {basic(up, pod(here), state(v1beta2.VolumeStateDetaching)), false, v1beta2.ReasonDetaching,
			[]string{here}},
		"it leaves": {basic(state(v1beta2.VolumeStateDetaching),
			volume(func(v *Volume) { v.CurrentNodeID = here })), false, v1beta2.ReasonDetaching, []string{here}},
		"it leaves for somebody else": {basic(up, pod(there)), false, v1beta2.ReasonDetaching,
			[]string{here, `csi-attacher "csi-node-2"`}},
		"it is being created": {basic(pod(here), state(v1beta2.VolumeStateCreating)), false, v1beta2.ReasonAttaching,
			[]string{"created"}},
		"no ticket can be served":          {basic(pod(gone)), false, v1beta2.ReasonNoCandidate, []string{"NodeUnknown"}},
		"it is faulted":                    {basic(pod(here), faulted), false, v1beta2.ReasonFaulted, []string{"salvage", "backup"}},
		"it is being deleted, and there":   {basic(up, pod(here), deleting), false, v1beta2.ReasonDetaching, []string{"deleted", here}},
		"it is being deleted, and nowhere": {basic(deleting), true, v1beta2.ReasonDetached, []string{"deleted"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			stored := settled(c.world).Attachment.Stored
			ready := conditions.Get(stored.Conditions, v1beta2.VolumeAttachmentReady)
			require.NotNil(t, ready)
			require.Equal(t, c.reason, ready.Reason, ready.Message)
			require.Equal(t, c.ready, ready.Status == v1beta2.ConditionTrue, ready.Message)
			require.EqualValues(t, 1, ready.ObservedGeneration)
			require.Equal(t, byte('.'), ready.Message[len(ready.Message)-1], ready.Message)
			for _, word := range c.says {
				require.Contains(t, ready.Message, word)
			}
		})
	}
}

func TestTheStatusNamesTheHolderAndItsNode(t *testing.T) {
	cases := map[string]struct {
		world        World
		holder, node string
	}{
		"no ticket": {basic(), "", ""},
		"the first in order": {basic(attached(here), ticket("s", v1beta2.AttacherSnapshot, here), pod(here)), "csi-" +
			here, here},
		"an empty id is replaced by its type": {basic(attached(here), ticket("", v1beta2.AttacherLonghornAPI, here)),
			v1beta2.AttacherLonghornAPI, here},
		"whoever gets it next":        {basic(pod(there)), "csi-" + there, there},
		"no holder while it detaches": {basic(attached(here), pod(there)), "", ""},
		"the share of a shared volume, not pods": {basic(attached(here), shared, pod(here),
			ticket("m", v1beta2.AttacherShareManager, here)), "m", here},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			stored := settled(c.world).Attachment.Stored
			require.Equal(t, c.holder, stored.Holder)
			require.Equal(t, c.node, stored.NodeID)
		})
	}
}

func TestAnAttachmentReportsThatItsVolumeIsMissing(t *testing.T) {
	w := with(basic(pod(here), answered("csi-"+here, true, v1beta2.ReasonSatisfied)), func(w *World) { w.Volume = nil })
	v := Decide(w)
	require.Equal(t, []Step{{Kind: StepAnswer, AtVersion: true, Answers: v.Steps[0].Answers}}, v.Steps)
	ready := v.Status.Conditions[0]
	require.Equal(t, v1beta2.ReasonBlocked, ready.Reason)
	require.Contains(t, ready.Message, "no volume of this name")
	require.Empty(t, v.Status.Holder+v.Status.NodeID)
	require.False(t, v.Status.AttachmentTicketStatuses["csi-"+here].Satisfied, "a missing volume is attached to no node")
	require.Empty(t, Decide(after(w, v, v.Steps...)).Steps)

	w.Attachment = nil
	require.Equal(t, Verdict{Row: RowIdle}, Decide(w))
}
