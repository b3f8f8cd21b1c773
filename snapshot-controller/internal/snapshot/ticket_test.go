package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func request() Request {
	w := world(detached)
	return w.request()
}

func TestWhenATicketHelps(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*Request)
		helps  bool
	}{
		"a node can take the volume": {func(*Request) {}, true},
		"no VolumeAttachment":        {func(r *Request) { r.Attachment = nil }, false},
		"a VolumeAttachment that is being deleted": {
			func(r *Request) { r.Attachment.DeletionTimestamp = &metav1.Time{} }, false},
		"no node can take it": {func(r *Request) { r.Node = "" }, false},
		"a faulted volume":    {func(r *Request) { r.Volume.Status.Robustness = v1beta2.VolumeRobustnessFaulted }, false},
		"a degraded volume":   {func(r *Request) { r.Volume.Status.Robustness = v1beta2.VolumeRobustnessDegraded }, true},
		"a volume of which nothing is known yet": {
			func(r *Request) { r.Volume.Status.Robustness = v1beta2.VolumeRobustnessUnknown }, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := request()
			c.change(&r)
			require.Equal(t, c.helps, Ticket(r) != nil)
		})
	}
}

// The ticket has to end with its owner, and must not expose the volume's data.
func TestATicketNamesItsOwnerAndNeedsNoFrontend(t *testing.T) {
	require.Equal(t, &v1beta2.AttachmentTicket{
		ID: TicketID("snap-1"), Type: v1beta2.AttacherSnapshot, NodeID: "node-1", Generation: 1,
		Parameters: map[string]string{
			v1beta2.TicketDisableFrontend: v1beta2.TicketValueAny, v1beta2.TicketOwnerKind: "Snapshot",
			v1beta2.TicketOwnerName: "snap-1", v1beta2.TicketOwnerUID: "s-uid",
		},
	}, Ticket(request()))
}

// An answer to a ticket names the ticket's generation. One to an earlier ticket of the same name must not count for this one.
func TestAGenerationIsNeverUsedForTwoTickets(t *testing.T) {
	r := request()
	tickets := &r.Attachment.Spec.AttachmentTickets
	r.Attachment.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{r.ID: {Generation: 7}}
	first := Ticket(r)
	require.EqualValues(t, 8, first.Generation, "the answer to a ticket that was removed still stands")

	*tickets = map[string]v1beta2.AttachmentTicket{r.ID: *first}
	require.Equal(t, first, Ticket(r), "the same wish needs no write")

	for sentence, change := range map[string]func(*Request){
		"another node":             func(r *Request) { r.Node = "node-2" },
		"another type":             func(r *Request) { r.Type = v1beta2.AttacherBackup },
		"another owner":            func(r *Request) { r.Owner = &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "snap-2"}} },
		"another kind of an owner": func(r *Request) { r.OwnerKind = "Backup" },
	} {
		t.Run(sentence, func(t *testing.T) {
			other := r
			change(&other)
			require.EqualValues(t, 9, Ticket(other).Generation)
			require.False(t, SameTicket(*first, *Ticket(other)))
		})
	}
	require.False(t, SameTicket(*first, v1beta2.AttachmentTicket{Type: first.Type, NodeID: first.NodeID, Parameters: first.Parameters}))
}

func TestATicketFollowsTheNodeThatCanTakeTheVolume(t *testing.T) {
	w := world(detached, holdsTicket)
	w.Candidate = "node-2"
	v := Decide(w)
	require.Equal(t, StepTakeTicket, v.Step)
	require.Equal(t, "node-2", v.Ticket.NodeID)
	require.Greater(t, v.Ticket.Generation, w.ticket().Generation)
	_, steps := settled(t, w)
	require.Equal(t, []Step{StepTakeTicket, StepStatus}, steps)
}

func TestWhyAVolumeIsNotAttachedNamesWhatToDo(t *testing.T) {
	answered := func(reason string) func(*Request) {
		return func(r *Request) {
			r.Attachment.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{r.ID: {
				Conditions: []v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Status: v1beta2.ConditionFalse, Reason: reason}}}}
		}
	}
	const attaching = "Volume vol-1 is being attached for it."
	rows := map[string]struct {
		change func(*Request)
		want   string
	}{
		"no VolumeAttachment": {func(r *Request) { r.Attachment = nil },
			"Volume vol-1 has no VolumeAttachment yet; attach-controller makes it."},
		"faulted, whatever node there is": {func(r *Request) {
			r.Node, r.Volume.Status.Robustness = "", v1beta2.VolumeRobustnessFaulted
		}, "Volume vol-1 is faulted: it has no good replica to attach with; see its condition Faulted."},
		"no node": {func(r *Request) { r.Node = "" }, "No node with a good replica of volume vol-1 can take it now; see its Replicas, " +
			"and the condition Ready of their Nodes."},
		"no answer yet":          {func(*Request) {}, attaching},
		"an answer on its way":   {answered(v1beta2.ReasonAttaching), attaching},
		"a reason that is newer": {answered("OfTheNextVersion"), attaching},
	}
	for reason := range refusals {
		rows["refused for "+reason] = struct {
			change func(*Request)
			want   string
		}{answered(reason), "Volume vol-1 is not attached to node node-1 for it: " + reason + "; see the VolumeAttachment."}
	}
	for sentence, c := range rows {
		t.Run(sentence, func(t *testing.T) {
			r := request()
			c.change(&r)
			require.Equal(t, c.want, AttachProblem(r))
		})
	}
}

// Every refusal is a reason that attach-controller writes: one that it renamed would never be shown.
func TestRefusalsAreReasonsOfTheTicket(t *testing.T) {
	listed := map[string]bool{}
	for _, contract := range v1beta2.ConditionContracts() {
		if contract.Type == v1beta2.TicketSatisfied {
			for _, reason := range contract.False {
				listed[reason] = true
			}
		}
	}
	for reason := range refusals {
		require.True(t, listed[reason], reason)
	}
}

func TestWhichNodesMayHaveAVolumeForItsSnapshots(t *testing.T) {
	ready := v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}
	cordoned := v1beta2.Condition{Type: v1beta2.NodeSchedulable, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonKubernetesNodeCordoned}
	node := func(list ...v1beta2.Condition) *v1beta2.Node {
		return &v1beta2.Node{Status: v1beta2.NodeStatus{Conditions: list}}
	}
	upgrading := node(ready)
	upgrading.Spec.UpgradeRequested = true
	require.True(t, CanAttach(node(ready)))
	require.False(t, CanAttach(nil), "one that does not exist")
	require.False(t, CanAttach(node()), "one of which nothing is known yet")
	require.False(t, CanAttach(node(v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionUnknown})))
	require.False(t, CanAttach(node(ready, cordoned)), "one that a person drains")
	require.False(t, CanAttach(upgrading), "one whose data engine is upgraded")
}

// The ticket of a snapshot is kept while it is being taken: without it the volume would be detached under the call.
func TestATicketIsKeptUntilTheSnapshotIsTaken(t *testing.T) {
	w, steps := settled(t, world(holdsTicket))
	require.Equal(t, []Step{StepStatus}, steps)
	require.NotNil(t, w.ticket())

	w, steps = settled(t, world(requested, two, atLimit, holdsTicket))
	require.Equal(t, []Step{StepStatus}, steps)
	require.NotNil(t, w.ticket(), "im-monitor takes it as soon as there is room")

	w, _ = settled(t, world(holdsTicket, func(w *World) { w.Engine.Status.Snapshots = nil }))
	require.NotNil(t, w.ticket(), "an unknown list comes with the next poll")

	w, steps = settled(t, world(taken, listed, deleted, granted, holdsTicket))
	require.Equal(t, []Step{StepStatus}, steps)
	require.NotNil(t, w.ticket(), "the same while its data is removed")
}

func TestATicketThatNothingNeedsIsGivenBack(t *testing.T) {
	for sentence, w := range map[string]World{
		"it waits for the finalizers of others": world(deleted, holdsTicket, func(w *World) {
			w.Snapshot.Finalizers = []string{"example.com/keep"}
		}),
		"its volume was detached and nothing is missing": world(taken, detached, holdsTicket, func(w *World) {
			put(w, v1beta2.Condition{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady})
		}),
	} {
		t.Run(sentence, func(t *testing.T) {
			w, steps := settled(t, w)
			require.Equal(t, []Step{StepDropTicket}, steps)
			require.Nil(t, w.ticket())
		})
	}
}
