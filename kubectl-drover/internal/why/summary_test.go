package why

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheFirstSentenceSaysWhereTheVolumeIsAndWhatStandsAgainstIt(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world.World, *v1beta2.Volume)
		want   string
	}{
		"no controller knows it": {func(_ *world.World, v *v1beta2.Volume) { v.Spec.NodeID, v.Status = "", v1beta2.VolumeStatus{} },
			"vol-1 is not known to any controller yet, and no one wants it: it has no ticket."},
		"it is not where it is wanted": {func(_ *world.World, v *v1beta2.Volume) {
			v.Status = v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-2",
				Robustness: v1beta2.VolumeRobustnessDegraded}
		}, "vol-1 is attached to node node-2 and wanted on node node-1, and degraded. It comes down to Volume vol-1: Degraded."},
		"a ticket waits, and no node was chosen for it": {func(w *world.World, v *v1beta2.Volume) {
			v.Spec.NodeID, v.Status = "", v1beta2.VolumeStatus{State: v1beta2.VolumeStateDetached,
				Robustness: v1beta2.VolumeRobustnessUnknown}
			a := wantedBy(map[string]v1beta2.AttachmentTicket{"a": {}})
			a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"a": {Conditions: condition(
				v1beta2.TicketSatisfied, "NoNode")}}
			w.Attachments.Items = []v1beta2.VolumeAttachment{a}
		}, "vol-1 is detached. It comes down to VolumeAttachment vol-1, ticket a: NoNode."},
		"it is served, and something else waits for a person": {func(w *world.World, v *v1beta2.Volume) {
			v.Status = v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-1",
				Robustness: v1beta2.VolumeRobustnessHealthy}
			w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1"), Status: v1beta2.SnapshotStatus{
				Conditions: condition(v1beta2.SnapshotReady, v1beta2.ReasonLost)}}}
		}, "vol-1 is attached to node node-1 as wanted, and healthy. But there is Snapshot snap-1: Lost."},
		"it is served, and not whole": {func(_ *world.World, v *v1beta2.Volume) {
			v.Status = v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-1",
				Robustness: v1beta2.VolumeRobustnessDegraded}
		}, "vol-1 is attached to node node-1 as wanted, and degraded. It comes down to Volume vol-1: Degraded."},
		"it is detached as wanted, with work on its snapshots": {func(w *world.World, v *v1beta2.Volume) {
			v.Spec.NodeID, v.Status = "", v1beta2.VolumeStatus{State: v1beta2.VolumeStateDetached,
				Robustness: v1beta2.VolumeRobustnessUnknown}
			w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1"), Status: v1beta2.SnapshotStatus{
				Conditions: condition(v1beta2.SnapshotReady, v1beta2.ReasonWaitingForAttach)}}}
		}, "vol-1 is detached, and no one wants it: it has no ticket."},
	} {
		t.Run(name, func(t *testing.T) {
			w := volume("")
			test.change(w, &w.Volumes.Items[0])
			require.Equal(t, test.want, Explain(w).Summary)
		})
	}
}

// A person types one command after the other: a few, each once, and of the same kind of urgency.
func TestFewCommandsAreNamedEachOnce(t *testing.T) {
	cause := func(object, command string, severity finding.Severity, behind ...Cause) Cause {
		return Cause{Finding: finding.Finding{Object: finding.Ref{Kind: "Node", Name: object}, Reason: "R", Command: command,
			Severity: severity}, Causes: behind}
	}
	commands := func(causes ...Cause) []string {
		out := []string{}
		for _, step := range steps(causes) {
			out = append(out, step.Command)
		}
		return out
	}
	require.Equal(t, []string{"a", "b"}, commands(cause("1", "a", finding.Warning), cause("2", "a", finding.Warning), cause("3", "",
		finding.Warning), cause("4", "b", finding.Warning)))
	require.Equal(t, []string{"deep", "critical", "warning"}, commands(cause("1", "warning", finding.Warning),
		cause("2", "critical", finding.Critical, cause("3", "deep", finding.Warning))), "the most basic, then the worst")
	require.Equal(t, []string{"warning"}, commands(cause("1", "continues", finding.Continues, cause("2", "info", finding.Info)),
		cause("3", "warning", finding.Warning)), "what waits for no one is no next step where a person is waited for")
	var many []Cause
	for i := range 6 {
		many = append(many, cause("1", fmt.Sprint(i), finding.Continues))
	}
	require.Equal(t, []string{"0", "1", "2", "3"}, commands(many...))
}

func TestATicketShowsForWhomItIs(t *testing.T) {
	pod := func(namespace, name, node string, volumes ...corev1.Volume) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: corev1.PodSpec{NodeName: node, Volumes: volumes}}
	}
	mounts := func(claim string) corev1.Volume {
		return corev1.Volume{VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}
	}
	secret := corev1.Volume{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}}
	bound := corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data"}}}
	owned := func(kind, name string) map[string]string {
		return map[string]string{v1beta2.TicketOwnerKind: kind, v1beta2.TicketOwnerName: name}
	}
	for name, test := range map[string]struct {
		ticket v1beta2.AttachmentTicket
		pods   []corev1.Pod
		want   string
	}{
		"a person": {v1beta2.AttachmentTicket{Type: v1beta2.AttacherLonghornAPI}, nil, "a person"},
		"work on the volume of an object": {v1beta2.AttachmentTicket{Type: v1beta2.AttacherSnapshot, Parameters: owned("Snapshot", "snap-1")},
			nil, "Snapshot snap-1"},
		"work of an object without a kind": {v1beta2.AttachmentTicket{Type: v1beta2.AttacherSnapshot, Parameters: owned("", "snap-1")},
			nil, "snap-1"},
		"work on the volume itself": {v1beta2.AttachmentTicket{Type: v1beta2.AttacherSnapshot, Parameters: owned("Snapshot", "")}, nil,
			"snapshot"},
		"pods that are not known": {v1beta2.AttachmentTicket{Type: v1beta2.AttacherCSI, NodeID: "node-1"}, nil, "Kubernetes"},
		"the pods of its node that mount the claim": {v1beta2.AttachmentTicket{Type: v1beta2.AttacherCSI, NodeID: "node-1"}, []corev1.Pod{
			pod("shop", "web-0", "node-1", secret, mounts("data")), pod("shop", "web-1", "node-1", mounts("data")),
			pod("shop", "elsewhere", "node-2", mounts("data")), pod("shop", "other-claim", "node-1", mounts("logs")),
			pod("test", "same-claim", "node-1", mounts("data"))}, "pod shop/web-0, pod shop/web-1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := volume("")
			w.PersistentVolumes.Items, w.Pods.Items = []corev1.PersistentVolume{{}, bound}, test.pods
			w.Attachments.Items = []v1beta2.VolumeAttachment{wantedBy(map[string]v1beta2.AttachmentTicket{"a": test.ticket})}
			require.Equal(t, test.want, Tickets(w)[0].For)
		})
	}
}

func TestATicketShowsItsAnswer(t *testing.T) {
	w := volume("")
	a := wantedBy(map[string]v1beta2.AttachmentTicket{"a": {Type: v1beta2.AttacherCSI, NodeID: "node-1"}})
	a.Status.Holder = "a"
	a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"a": {Satisfied: true, Conditions: []v1beta2.Condition{
		{Type: v1beta2.TicketValid, Reason: "Other"},
		{Type: v1beta2.TicketSatisfied, Reason: "Satisfied", Message: "It is attached.", LastTransitionTime: "2026-08-01T11:56:00Z"}}}}
	w.Attachments.Items = []v1beta2.VolumeAttachment{a}
	require.Equal(t, []Ticket{{ID: "a", Type: v1beta2.AttacherCSI, Node: "node-1", For: "Kubernetes", Priority: 900, Holds: true,
		Satisfied: true, Reason: "Satisfied", Message: "It is attached.", Since: "2026-08-01T11:56:00Z"}}, Tickets(w))
	require.Contains(t, text(Explain(w)), "\n  a        Kubernetes   node-1   yes     Satisfied   4m ago\n")
}

func text(r Report) string {
	var out bytes.Buffer
	r.Text(terminal.New(&out))
	return out.String()
}

func TestTheScreenLeadsFromTheSentenceToTheNextCommand(t *testing.T) {
	w := volume(v1beta2.ReasonWaitingForReplicas)
	w.Volumes.Items[0].Spec.Size = 2 << 30
	w.Volumes.Items[0].Status.Conditions[0].LastTransitionTime = "2026-08-01T11:56:00Z"
	a := wantedBy(map[string]v1beta2.AttachmentTicket{"by-hand": {Type: v1beta2.AttacherLonghornAPI, NodeID: "node-1"},
		"csi-1": {Type: v1beta2.AttacherCSI, NodeID: "node-2"}})
	a.Status.Holder = "by-hand"
	a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"csi-1": {Conditions: condition(v1beta2.TicketSatisfied,
		v1beta2.ReasonLowerPriority)}}
	w.Attachments.Items = []v1beta2.VolumeAttachment{a}
	w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped")}
	w.InstanceManagers.Items[1].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable,
		Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonNotAnswering}}
	w.Unread = []world.Unread{{Resource: "pods", Reason: "Pods are not allowed."}}
	require.Equal(t, `vol-1 is attaching and wanted on node node-1. It comes down to InstanceManager im-node-2: NotAnswering.
v1, 2 GiB, namespace longhorn-system

Wanted by
  TICKET    FOR          NODE     HOLDS   ANSWER          SINCE
  by-hand   a person     node-1   yes
  csi-1     Kubernetes   node-2           LowerPriority

Because
  VolumeAttachment vol-1, ticket csi-1: LowerPriority
    A sentence.
  Volume vol-1: WaitingForReplicas (4m ago)
    A sentence.
      Replica r-1: State
        Wanted running on node node-2, and stopped.
          InstanceManager im-node-2: NotAnswering

Next
  kubectl -n longhorn-system logs im-node-2 --tail=50
      InstanceManager im-node-2, NotAnswering; docs/crds/instancemanager.md

Not shown: Pods are not allowed.
`, text(Explain(w)))
	require.Equal(t, []string{"volume.longhorn.io/vol-1"}, Explain(w).Names())
}

// What goes on in a volume that is as wanted is no cause of anything.
func TestTheScreenOfAVolumeThatIsAsWantedShowsWhatIsUnderWay(t *testing.T) {
	w := volume("")
	w.Volumes.Items[0].Status = v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-1",
		Robustness: v1beta2.VolumeRobustnessHealthy}
	require.NotContains(t, text(Explain(w)), "Under way")
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Status: v1beta2.EngineStatus{RebuildStatus: map[string]v1beta2.RebuildStatus{
		"10.0.0.1:1": {IsRebuilding: true, Progress: 40}, "10.0.0.2:1": {}}}}}
	shown := text(Explain(w))
	require.True(t, strings.HasSuffix(shown, "\nUnder way\n  Engine e-1: Rebuilding\n    The replica at 10.0.0.1:1 is being rebuilt: 40 %.\n"),
		shown)
}

func TestARebuildThatFailedSuggestsToLookAtItsEngine(t *testing.T) {
	w := volume("")
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Status: v1beta2.EngineStatus{RebuildStatus: map[string]v1beta2.RebuildStatus{
		"10.0.0.1:1": {State: "error", Error: "no space"}}}}}
	require.Equal(t, []Step{{Command: "kubectl -n longhorn-system describe lhe e-1", For: "Engine e-1, RebuildFailed",
		Guide: "docs/attaching.md"}}, Explain(w).Next)
}
