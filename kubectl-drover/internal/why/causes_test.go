package why

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func wantedBy(tickets map[string]v1beta2.AttachmentTicket) v1beta2.VolumeAttachment {
	return v1beta2.VolumeAttachment{ObjectMeta: named("vol-1"), Spec: v1beta2.VolumeAttachmentSpec{Volume: "vol-1",
		AttachmentTickets: tickets}}
}

func TestCausesStandWhereTheyBelong(t *testing.T) {
	for name, test := range map[string]struct {
		attached string
		change   func(*world.World)
		want     []string
	}{
		"an instance of a volume whose conditions say nothing is a cause of its own": {
			change: func(w *world.World) {
				w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped")}
			},
			want: []string{"0 Replica r-1: State"},
		},
		"a volume that no node is named for is not explained by a node": {
			attached: v1beta2.ReasonNoUsableReplica,
			change: func(w *world.World) {
				w.Volumes.Items[0].Spec.NodeID = ""
				w.Nodes.Items[0].Status.Conditions = condition(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeGone)
			},
			want: []string{"0 Volume vol-1: NoUsableReplica"},
		},
		"the node that a volume is wanted on, and its instances, are behind the last of its conditions": {
			attached: v1beta2.ReasonNoUsableReplica,
			change: func(w *world.World) {
				w.Volumes.Items[0].Status.Conditions = append(w.Volumes.Items[0].Status.Conditions, condition(v1beta2.VolumeFaulted,
					v1beta2.ReasonFaulted)...)
				w.Nodes.Items[0].Status.Conditions = condition(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeGone)
				w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped")}
			},
			want: []string{"0 Volume vol-1: NoUsableReplica", "0 Volume vol-1: Faulted", "1 Node node-1: KubernetesNodeGone",
				"1 Replica r-1: State"},
		},
		"a place is lacking: the nodes and disks on which it could be": {
			attached: v1beta2.ReasonAttached,
			change: func(w *world.World) {
				w.Volumes.Items[0].Status.Conditions = condition(v1beta2.VolumeScheduled, "NoUsableDisk")
				w.Nodes.Items[0].Status.Conditions = condition(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeGone)
				w.Nodes.Items[1].Status.DiskStatus = map[string]v1beta2.DiskStatus{
					"block-2": {Conditions: condition(v1beta2.DiskSchedulable, "DiskPressure")},
					"block-1": {Conditions: condition(v1beta2.DiskReady, v1beta2.ReasonNotInitialized)}}
			},
			want: []string{"0 Volume vol-1: NoUsableDisk", "1 Node node-1: KubernetesNodeGone", "1 Disk node-2/block-1: NotInitialized",
				"1 Disk node-2/block-2: DiskPressure"},
		},
		"a volume that is not expanded is not explained by disks": {
			attached: v1beta2.ReasonAttached,
			change: func(w *world.World) {
				w.Volumes.Items[0].Status.Conditions = condition(v1beta2.VolumeExpanded, "ExpansionFailed")
				w.Nodes.Items[1].Status.DiskStatus = map[string]v1beta2.DiskStatus{
					"block-1": {Conditions: condition(v1beta2.DiskReady, v1beta2.ReasonNotInitialized)}}
			},
			want: []string{"0 Volume vol-1: ExpansionFailed"},
		},
		"a ticket that waits for its node comes first, and the whole attachment not at all": {
			attached: v1beta2.ReasonWaitingForReplicas,
			change: func(w *world.World) {
				a := wantedBy(map[string]v1beta2.AttachmentTicket{"a": {Type: v1beta2.AttacherCSI, NodeID: "node-2"}})
				a.Status.Conditions = condition(v1beta2.VolumeAttachmentReady, v1beta2.ReasonBlocked)
				a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"a": {Conditions: condition(
					v1beta2.TicketSatisfied, v1beta2.ReasonNodeNotReady)}}
				w.Attachments.Items = []v1beta2.VolumeAttachment{a}
				w.Nodes.Items[1].Status.Conditions = condition(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeNotReady)
			},
			want: []string{"0 VolumeAttachment vol-1: NodeNotReady", "1 Node node-2: KubernetesNodeNotReady",
				"0 Volume vol-1: WaitingForReplicas"},
		},
		"no ticket says anything, and the whole attachment does": {
			attached: v1beta2.ReasonAttached,
			change: func(w *world.World) {
				a := wantedBy(map[string]v1beta2.AttachmentTicket{"a": {}})
				a.Status.Conditions = condition(v1beta2.VolumeAttachmentReady, v1beta2.ReasonBlocked)
				w.Attachments.Items = []v1beta2.VolumeAttachment{a}
			},
			want: []string{"0 VolumeAttachment vol-1: Blocked"},
		},
		"a replica is held up by the instance manager that runs it, not by another one of its node": {
			attached: v1beta2.ReasonWaitingForReplicas,
			change: func(w *world.World) {
				one := replica("r-1", "node-2", "running", "unknown")
				one.Status.InstanceManagerName = "im-new"
				w.Replicas.Items = []v1beta2.Replica{one}
				w.InstanceManagers.Items = append(w.InstanceManagers.Items, v1beta2.InstanceManager{ObjectMeta: named("im-new"),
					Spec:   v1beta2.InstanceManagerSpec{NodeID: "node-2"},
					Status: v1beta2.InstanceManagerStatus{Conditions: condition(v1beta2.InstanceManagerPodReady, "PodFailed")}})
				w.InstanceManagers.Items[1].Status.Conditions = condition(v1beta2.InstanceManagerReachable, v1beta2.ReasonNotAnswering)
			},
			want: []string{"0 Volume vol-1: WaitingForReplicas", "1 Replica r-1: State", "2 InstanceManager im-new: PodFailed"},
		},
		"a node without an object, or whose object was not read, hides no instance manager": {
			attached: v1beta2.ReasonWaitingForReplicas,
			change: func(w *world.World) {
				w.Nodes.Items = nil
				w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped")}
				w.InstanceManagers.Items[1].Status.Conditions = condition(v1beta2.InstanceManagerReachable, v1beta2.ReasonNotAnswering)
			},
			want: []string{"0 Volume vol-1: WaitingForReplicas", "1 Replica r-1: State", "2 InstanceManager im-node-2: NotAnswering"},
		},
		"two replicas of a node without an instance manager: it is explained once": {
			attached: v1beta2.ReasonWaitingForReplicas,
			change: func(w *world.World) {
				w.InstanceManagers.Items = nil
				w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped"), replica("r-2", "node-2", "running",
					"stopped")}
			},
			want: []string{"0 Volume vol-1: WaitingForReplicas", "1 Replica r-1: State", "2 Node node-2: NoInstanceManager",
				"1 Replica r-2: State"},
		},
		"what a condition of the instance says is not repeated from its state": {
			attached: v1beta2.ReasonWaitingForEngine,
			change: func(w *world.World) {
				w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{DesireState: "running",
					NodeID: "node-2"}, Status: v1beta2.EngineStatus{CurrentState: "error", Conditions: condition(v1beta2.InstanceCreation,
					"StartRefused")}}}
			},
			want: []string{"0 Volume vol-1: WaitingForEngine", "1 Engine e-1: StartRefused"},
		},
		"snapshots and backups that wait come last": {
			attached: v1beta2.ReasonAttached,
			change: func(w *world.World) {
				w.Volumes.Items[0].Status.Conditions = condition(v1beta2.VolumeScheduled, "NoUsableNode")
				w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("snap-1"), Status: v1beta2.SnapshotStatus{
					Conditions: condition(v1beta2.SnapshotReady, v1beta2.ReasonWaitingForAttach)}}}
				w.Backups.Items = []v1beta2.Backup{{ObjectMeta: named("b-1"), Status: v1beta2.BackupStatus{
					Conditions: condition(v1beta2.BackupApproved, "TargetUnavailable")}}}
			},
			want: []string{"0 Volume vol-1: NoUsableNode", "0 Snapshot snap-1: WaitingForAttach", "0 Backup b-1: TargetUnavailable"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := volume(test.attached)
			test.change(w)
			require.Equal(t, test.want, path(Explain(w).Causes, 0))
		})
	}
}

// An instance that ended or is lost comes to no other state by itself; one that starts does.
func TestAnInstanceThatIsNotAsWantedIsShownWithWhatItIs(t *testing.T) {
	for name, test := range map[string]struct {
		wanted, state, want string
		severity            finding.Severity
	}{
		"not started yet":                       {"running", "", "Wanted running on node node-2, and not started yet.", finding.Continues},
		"still starting":                        {"running", "starting", "Wanted running on node node-2, and starting.", finding.Continues},
		"in error":                              {"running", "error", "Wanted running on node node-2, and error.", finding.Warning},
		"lost":                                  {"running", "unknown", "Wanted running on node node-2, and unknown.", finding.Warning},
		"wanted stopped":                        {"stopped", "running", "Wanted stopped on node node-2, and running.", finding.Continues},
		"without a wish, which is stopped":      {"", "running", "Wanted stopped on node node-2, and running.", finding.Continues},
		"suspended where it is wanted stopped":  {"stopped", "suspended", "Wanted stopped on node node-2, and suspended.", finding.Continues},
		"runs as wanted":                        {wanted: "running", state: "running"},
		"suspended, which runs":                 {wanted: "running", state: "suspended"},
		"never started, and wanted stopped":     {wanted: "stopped", state: ""},
		"never started, and without a wish":     {wanted: "", state: ""},
		"stopped, and without a wish":           {wanted: "", state: "stopped"},
		"stopped, which is how it is wanted":    {wanted: "stopped", state: "stopped"},
		"in error, which is how it is reported": {wanted: "error", state: "error"},
	} {
		t.Run(name, func(t *testing.T) {
			w := volume("")
			w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", test.wanted, test.state)}
			causes := Explain(w).Causes
			if test.want == "" {
				require.Empty(t, causes)
				require.Empty(t, Late(w))
				return
			}
			require.Len(t, causes, 1)
			require.Equal(t, test.want, causes[0].Message)
			require.Equal(t, test.severity, causes[0].Severity)
			next := map[finding.Severity]string{finding.Warning: "kubectl -n longhorn-system describe lhr r-1"}
			require.Equal(t, next[test.severity], causes[0].Command, "what does not continue by itself has a next step")
			require.Equal(t, []string{"r-1"}, Late(w))
		})
	}
}

// Events are asked for one instance at a time: only of those that come first in the chain.
func TestEventsAreAskedForOfFewInstancesFrontendsFirst(t *testing.T) {
	w := volume("")
	for i := range 4 {
		w.Replicas.Items = append(w.Replicas.Items, replica(fmt.Sprintf("r-%d", i), "node-2", "running", "stopped"))
	}
	w.Replicas.Items[0].Status.CurrentState = "running"
	w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e-1"), Spec: v1beta2.EngineSpec{DesireState: "running"}}}
	w.Frontends.Items = []v1beta2.EngineFrontend{{ObjectMeta: named("ef-1"), Spec: v1beta2.EngineFrontendSpec{DesireState: "running"}}}
	require.Equal(t, []string{"ef-1", "e-1", "r-1"}, Late(w))
}

func TestTheNewestWarningAboutAnInstanceIsWhatItWaitsFor(t *testing.T) {
	event := func(kind, name, reason string, change func(*corev1.Event)) corev1.Event {
		e := corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}, Type: corev1.EventTypeWarning, Reason: reason,
			Message: "A sentence of " + reason + "."}
		change(&e)
		return e
	}
	last := func(age time.Duration) func(*corev1.Event) {
		return func(e *corev1.Event) { e.LastTimestamp = metav1.Time{Time: noon.Add(-age)} }
	}
	first := func(age time.Duration) func(*corev1.Event) {
		return func(e *corev1.Event) { e.EventTime = metav1.MicroTime{Time: noon.Add(-age)} }
	}
	series := func(age time.Duration) func(*corev1.Event) {
		return func(e *corev1.Event) {
			first(time.Hour)(e)
			e.Series = &corev1.EventSeries{LastObservedTime: metav1.MicroTime{Time: noon.Add(-age)}}
		}
	}
	ordinary := func(e *corev1.Event) { e.Type = corev1.EventTypeNormal }
	for name, test := range map[string]struct {
		events       []corev1.Event
		reason, when string
	}{
		"none": {nil, "", ""},
		"none that is a warning about it": {[]corev1.Event{event("Replica", "r-2", "Other", last(0)), event("Engine", "r-1", "Kind", last(0)),
			event("Replica", "r-1", "Started", ordinary)}, "", ""},
		"the last time counts": {[]corev1.Event{event("Replica", "r-1", "Old", last(time.Hour)), event("Replica", "r-1", "New",
			last(time.Minute)), event("Replica", "r-1", "Older", last(2*time.Hour))}, "New", "2026-08-01T11:59:00Z"},
		"of one that was seen once, its only time": {[]corev1.Event{event("Replica", "r-1", "Old", last(time.Hour)),
			event("Replica", "r-1", "Once", first(time.Minute))}, "Once", "2026-08-01T11:59:00Z"},
		"of a series, when it was last seen": {[]corev1.Event{event("Replica", "r-1", "Series", series(time.Minute)),
			event("Replica", "r-1", "Once", first(2*time.Minute))}, "Series", "2026-08-01T11:59:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			w := volume("")
			w.Replicas.Items = []v1beta2.Replica{replica("r-1", "node-2", "running", "stopped")}
			w.Events.Items = test.events
			behind := Explain(w).Causes[0].Causes
			if test.reason == "" {
				require.Empty(t, behind)
				return
			}
			require.Len(t, behind, 1)
			require.Equal(t, finding.Finding{Object: finding.Ref{Kind: "Replica", Name: "r-1"}, Part: "event", Reason: test.reason,
				Message: "A sentence of " + test.reason + ".", Since: test.when, Severity: finding.Warning, Guide: "docs/attaching.md",
				Command: "kubectl -n longhorn-system get events --field-selector involvedObject.name=r-1"}, behind[0].Finding)
		})
	}
}
