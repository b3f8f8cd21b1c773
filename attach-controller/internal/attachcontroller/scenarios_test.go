package attachcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

const (
	writesSpec   = "patch Volume " + vol
	writesAnswer = "patch VolumeAttachment/status " + vol
)

// A1, with every write that it takes.
func TestATicketBringsTheVolumeAndItsEndTakesItBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	p := w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-1", v1beta2.TicketLastAttachedBy, "csi-attacher")
	w.shows(vol, "node-1", "csi-1 Attaching")
	require.Contains(t, w.ready(vol, v1beta2.ReasonAttaching), `csi-attacher "csi-1"`)
	v, _ := w.now(vol)
	require.Equal(t, "csi-attacher", v.Spec.LastAttachedBy)

	w.machine(vol, v1beta2.VolumeStateAttaching, "")
	w.quiet(p)
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "csi-1 Satisfied")
	require.Contains(t, w.ready(vol, v1beta2.ReasonAttached), "node-1")
	_, a := w.now(vol)
	require.True(t, a.Status.AttachmentTicketStatuses["csi-1"].Satisfied)
	require.EqualValues(t, 1, a.Status.AttachmentTicketStatuses["csi-1"].Generation)
	require.Equal(t, []string{"csi-1", "node-1"}, []string{a.Status.Holder, a.Status.NodeID})

	w.drop(vol, "csi-1")
	w.shows(vol, "")
	w.machine(vol, v1beta2.VolumeStateDetaching, "node-1")
	w.ready(vol, v1beta2.ReasonDetaching)
	w.detached(vol)
	w.ready(vol, v1beta2.ReasonDetached)
	require.Equal(t, []string{
		"create VolumeAttachment " + vol, writesAnswer,
		writesSpec, writesAnswer, writesAnswer,
		writesAnswer, writesSpec, writesAnswer,
	}, p.Client.Writes(), "these writes, in this order, and no other")
	require.Contains(t, w.event("Volume", "AttachRequested"), `"csi-1"`)
	require.Contains(t, w.event("Volume", "DetachRequested"), "no ticket")
}

// A4: lowered first, then the spec; raised only when what is stored is true.
func TestTheLosingTicketIsAnsweredBeforeTheVolumeIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	p := w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "snap", v1beta2.AttacherSnapshot, "node-1", v1beta2.TicketDisableFrontend, v1beta2.TicketValueAny)
	w.shows(vol, "node-1", "snap Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "snap Satisfied")
	before := len(p.Client.Writes())
	w.put(vol, "pod", v1beta2.AttacherCSI, "node-2")
	w.shows(vol, "", "pod WaitingForDetach", "snap LowerPriority")
	require.Equal(t, []string{writesAnswer, writesSpec}, p.Client.Writes()[before:before+2],
		"lowered first, then the spec; the detach may be reported after it")
	w.detached(vol)
	w.shows(vol, "node-2", "pod Attaching", "snap LowerPriority")
	w.attached(vol, "node-2")
	w.shows(vol, "node-2", "pod Satisfied", "snap AttachedElsewhere")
	w.drop(vol, "pod")
	w.shows(vol, "", "snap WaitingForDetach")
	w.detached(vol)
	w.shows(vol, "node-1", "snap Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "snap Satisfied")
}

// A3 and A5.
func TestATicketThatCannotBeServedReportsWhyWithoutStarvingOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.down("node-2")
	w.spec(&v1beta2.Node{ObjectMeta: w.meta("node-3")}, map[string]any{"upgradeRequested": true})
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "a-nowhere", v1beta2.AttacherRestore, "")
	w.shows(vol, "", "a-nowhere NoNode")
	require.Contains(t, w.ready(vol, v1beta2.ReasonNoCandidate), "NoNode")
	w.put(vol, "b-unknown", v1beta2.AttacherRestore, "node-9")
	w.put(vol, "c-down", v1beta2.AttacherRestore, "node-2")
	w.put(vol, "d-upgrading", v1beta2.AttacherRestore, "node-3")
	w.put(vol, "e-person", v1beta2.AttacherLonghornAPI, "node-1")
	w.shows(vol, "node-1", "a-nowhere NoNode", "b-unknown NodeUnknown", "c-down NodeNotReady", "d-upgrading NodeUpgrading",
		"e-person Attaching")
	w.attached(vol, "node-1")
	w.put(vol, "f-off", v1beta2.AttacherLonghornAPI, "node-1", v1beta2.TicketDisableFrontend, v1beta2.TicketValueTrue)
	w.shows(vol, "node-1", "a-nowhere NoNode", "b-unknown NodeUnknown", "c-down NodeNotReady", "d-upgrading NodeUpgrading",
		"e-person Satisfied",
		"f-off AttachedWithIncompatibleParameters")
	require.Contains(t, w.event("VolumeAttachment", "TicketBlocked"), "is not served")
	w.up("node-2")
	w.shows(vol, "node-1", "a-nowhere NoNode", "b-unknown NodeUnknown", "c-down AttachedElsewhere", "d-upgrading NodeUpgrading",
		"e-person Satisfied",
		"f-off AttachedWithIncompatibleParameters")
}

// A7: the pod moves when the node is down; nothing else of the cluster is touched.
func TestANodeThatGoesDownGivesTheVolumeToWhoWantsItElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.volume("other", nil)
	p := w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.ready("other", v1beta2.ReasonDetached)
	w.put(vol, "pod-1", v1beta2.AttacherCSI, "node-1")
	w.put("other", "pod-2", v1beta2.AttacherCSI, "node-2")
	w.shows(vol, "node-1", "pod-1 Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "pod-1 Satisfied")
	w.shows("other", "node-2", "pod-2 Attaching")
	w.attached("other", "node-2")
	w.shows("other", "node-2", "pod-2 Satisfied")
	w.down("node-1")
	require.Contains(t, w.ready(vol, v1beta2.ReasonBlocked), "node-1")
	w.quiet(p)
	before := len(p.Client.Writes())
	w.put(vol, "pod-2", v1beta2.AttacherCSI, "node-2")
	w.shows(vol, "", "pod-1 NodeNotReady", "pod-2 WaitingForDetach")
	w.detached(vol)
	w.shows(vol, "node-2", "pod-1 NodeNotReady", "pod-2 Attaching")
	w.up("node-1")
	w.shows(vol, "node-2", "pod-1 AttachedElsewhere", "pod-2 Attaching")
	for _, write := range p.Client.Writes()[before:] {
		require.NotContains(t, write, "other", "a node's flap touches that node's volumes only")
	}
}

// A8: a faulted volume is taken back, and given again once it was salvaged.
func TestAFaultedVolumeIsDetachedAndAttachedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "pod", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "node-1", "pod Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "pod Satisfied")
	w.status(v, map[string]any{"robustness": v1beta2.VolumeRobustnessFaulted})
	w.shows(vol, "", "pod VolumeFaulted")
	w.ready(vol, v1beta2.ReasonFaulted)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "currentNodeID": ""})
	w.shows(vol, "", "pod VolumeFaulted")
	w.status(v, map[string]any{"robustness": v1beta2.VolumeRobustnessUnknown})
	w.shows(vol, "node-1", "pod Attaching")
}

// Another writer's changes of the answers are corrected; its changes elsewhere, and of unread fields, are left alone.
func TestAClusterWithoutChangesIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	p := w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "pod", v1beta2.AttacherCSI, "node-1")
	w.put(vol, "nowhere", v1beta2.AttacherCSI, "node-9")
	w.shows(vol, "node-1", "nowhere NodeUnknown", "pod Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "nowhere NodeUnknown", "pod Satisfied")
	w.quiet(p)
	w.status(v, map[string]any{"actualSize": 4096, "robustness": v1beta2.VolumeRobustnessDegraded})
	w.status(&v1beta2.Node{ObjectMeta: w.meta("node-1")}, map[string]any{"region": "r1"})
	annotated := []byte(`{"metadata":{"annotations":{"somebody":"was here"}}}`)
	require.NoError(t, w.admin.Patch(t.Context(), w.ofTickets(vol), client.RawPatch(types.MergePatchType, annotated)))
	w.quiet(p)

	lie := map[string]any{"nowhere": map[string]any{"satisfied": true}}
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, w.ofTickets(vol), map[string]any{"attachmentTicketStatuses": lie}))
	require.Eventually(t, func() bool {
		_, a := w.now(vol)
		return !a.Status.AttachmentTicketStatuses["nowhere"].Satisfied
	}, patience, poll, "a false answer stays")

	w.stop()
	again := w.start()
	w.put(vol, "late", v1beta2.AttacherSnapshot, "node-1")
	w.shows(vol, "node-1", "late Satisfied", "nowhere NodeUnknown", "pod Satisfied")
	require.Equal(t, []string{writesAnswer}, again.Client.Writes(), "a new process writes nothing that is there already")
}

// A leader that was paused writes for a moment beside its successor, which has written the truth already. What it left is corrected.
func TestAnAnswerThatSomebodyElseLoweredIsRaisedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	p := w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "node-1", "csi-1 Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "csi-1 Satisfied")
	w.quiet(p)

	w.status(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(vol)}, map[string]any{
		"attachmentTicketStatuses": map[string]any{"csi-1": map[string]any{"satisfied": false}}})
	require.Eventually(t, func() bool {
		_, a := w.now(vol)
		return a.Status.AttachmentTicketStatuses["csi-1"].Satisfied
	}, patience, poll)
}
