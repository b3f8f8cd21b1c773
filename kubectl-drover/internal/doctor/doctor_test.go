package doctor

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/kubectl-drover/internal/worldtest"
	"drover.dev/drover/shared/api/v1beta2"
)

var noon, named = worldtest.Noon, worldtest.Named

func condition(kind, reason string, age time.Duration) v1beta2.Condition {
	return v1beta2.Condition{Type: kind, Status: v1beta2.ConditionFalse, Reason: reason,
		LastTransitionTime: noon.Add(-age).Format(time.RFC3339)}
}

// led is a world in which every controller leads, and nothing else is.
func led() *world.World {
	w := &world.World{Namespace: "longhorn-system", Now: noon}
	for _, c := range finding.Controllers(w) {
		w.Leases.Items = append(w.Leases.Items, lease(c.Name, time.Second))
	}
	return w
}

func lease(controller string, renewed time.Duration) coordinationv1.Lease {
	return worldtest.Lease(finding.LeaseOf(controller), "pod_uid_random", renewed)
}

// closing is the NetworkPolicy of Longhorn 1.12.1 and newer: it lets longhorn-manager in, and not im-monitor.
func closing() networkingv1.NetworkPolicy {
	return networkingv1.NetworkPolicy{ObjectMeta: named("instance-manager"), Spec: networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{v1beta2.LabelComponent: v1beta2.ComponentInstanceManager}},
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{
			PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "longhorn-manager"}}}}}},
	}}
}

func short(findings []finding.Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s %s: %s", f.Severity, f.Object, f.Reason))
	}
	return out
}

func TestWhatWaitsForAPersonIsListedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world.World)
		want   []string
	}{
		"nothing": {change: func(*world.World) {}, want: []string{}},
		"a label for a recurring job that does not exist": {
			change: func(w *world.World) {
				w.RecurringJobs.Items = []v1beta2.RecurringJob{{ObjectMeta: named("daily")}}
				v := v1beta2.Volume{ObjectMeta: named("vol-1")}
				v.Labels = map[string]string{v1beta2.LabelRecurringJobPrefix + "daily": "enabled",
					v1beta2.LabelRecurringJobPrefix + "dayly": "enabled", v1beta2.LabelRecurringSource: "enabled", "app": "shop"}
				w.Volumes.Items = []v1beta2.Volume{v}
			},
			want: []string{"warning Volume vol-1: RecurringJobMissing"},
		},
		"labels for groups that no job has, and with other values than enabled": {
			change: func(w *world.World) {
				w.RecurringJobs.Items = []v1beta2.RecurringJob{{ObjectMeta: named("daily")}}
				v := v1beta2.Volume{ObjectMeta: named("vol-1")}
				v.Labels = map[string]string{v1beta2.LabelRecurringJobPrefix + "daily": "true",
					v1beta2.LabelRecurringGroupPrefix + "gold": "enabled", v1beta2.LabelRecurringGroupPrefix + "default": "enabled"}
				w.Volumes.Items = []v1beta2.Volume{v}
			},
			want: []string{"warning Volume vol-1: RecurringGroupMissing", "warning Volume vol-1: RecurringLabelNotEnabled"},
		},
		"labels of claims that are the source of jobs": {
			change: func(w *world.World) {
				for _, source := range []string{"enabled", "yes"} {
					claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "claim-" + source}}
					claim.Labels = map[string]string{v1beta2.LabelRecurringSource: source, v1beta2.LabelRecurringJobPrefix + "daily": "enabled"}
					w.Claims.Items = append(w.Claims.Items, claim)
				}
			},
			want: []string{"warning PersistentVolumeClaim shop/claim-enabled: RecurringJobMissing",
				"warning PersistentVolumeClaim shop/claim-yes: RecurringLabelNotEnabled"},
		},
		"no label where the jobs could not be read": {
			change: func(w *world.World) {
				v := v1beta2.Volume{ObjectMeta: named("vol-1")}
				v.Labels = map[string]string{v1beta2.LabelRecurringJobPrefix + "daily": "enabled"}
				w.Volumes.Items, w.Unread = []v1beta2.Volume{v}, []world.Unread{{Resource: "recurringjobs.longhorn.io"}}
			},
			want: []string{"warning CustomResourceDefinition recurringjobs.longhorn.io: NotRead"},
		},
		"kinds that could not be read": {
			change: func(w *world.World) {
				w.Leases.Items = nil
				w.InstanceManagers.Items = []v1beta2.InstanceManager{{ObjectMeta: named("im-1"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"},
					Status: v1beta2.InstanceManagerStatus{Conditions: []v1beta2.Condition{
						condition(v1beta2.InstanceManagerReachable, "NotAnswering", time.Hour)}}}}
				w.Unread = []world.Unread{{Resource: "leases.coordination.k8s.io"}, {Resource: "nodes.longhorn.io"}, {Resource: "pods"}}
			},
			want: []string{"warning CustomResourceDefinition nodes.longhorn.io: NotRead", "warning InstanceManager im-1: NotAnswering",
				"warning Lease drover-attach-controller: NotRead"},
		},
		"a lease that was not renewed for twice its duration": {
			change: func(w *world.World) { w.Leases.Items[0] = lease("attach-controller", 31*time.Second) },
			want:   []string{"critical Lease drover-attach-controller: NoLeader"},
		},
		"a lease that is late, but may be this clock's": {
			change: func(w *world.World) { w.Leases.Items[0] = lease("attach-controller", 29*time.Second) }, want: []string{},
		},
		"a NetworkPolicy that keeps im-monitor out": {
			change: func(w *world.World) { w.NetworkPolicies.Items = []networkingv1.NetworkPolicy{closing()} },
			want:   []string{"warning NetworkPolicy instance-manager: CutOff"},
		},
		"a NetworkPolicy that keeps im-monitor out, in a network that enforces it": {
			change: func(w *world.World) {
				w.NetworkPolicies.Items = []networkingv1.NetworkPolicy{closing()}
				w.InstanceManagers.Items = []v1beta2.InstanceManager{{ObjectMeta: named("im-1"), Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"},
					Status: v1beta2.InstanceManagerStatus{Conditions: []v1beta2.Condition{
						condition(v1beta2.InstanceManagerReachable, "NotAnswering", time.Hour)}}}}
				w.Nodes.Items = []v1beta2.Node{{ObjectMeta: named("node-1")}}
			},
			want: []string{"critical NetworkPolicy instance-manager: CutOff", "warning InstanceManager im-1: NotAnswering"},
		},
		"a controller that is not installed": {
			change: func(w *world.World) { w.Leases.Items = w.Leases.Items[:4] },
			want:   []string{"info Deployment upgrade-controller: NotInstalled"},
		},
		"what continues by itself, until it has lasted": {
			change: func(w *world.World) {
				w.Volumes.Items = []v1beta2.Volume{
					{ObjectMeta: named("new"), Status: v1beta2.VolumeStatus{Conditions: []v1beta2.Condition{
						condition(v1beta2.VolumeAttached, v1beta2.ReasonWaitingForEngine, time.Minute)}}},
					{ObjectMeta: named("old"), Status: v1beta2.VolumeStatus{Conditions: []v1beta2.Condition{
						condition(v1beta2.VolumeAttached, v1beta2.ReasonWaitingForEngine, time.Hour)}}},
				}
			},
			want: []string{"warning Volume old: WaitingForEngine"},
		},
		"a volume, not the tickets that wait for it": {
			change: func(w *world.World) {
				w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: named("v"), Status: v1beta2.VolumeStatus{Conditions: []v1beta2.Condition{
					condition(v1beta2.VolumeAttached, v1beta2.ReasonNoUsableReplica, 0), condition(v1beta2.VolumeFaulted,
						v1beta2.ReasonFaulted, 0)}}}}
				w.Attachments.Items = []v1beta2.VolumeAttachment{ticket("v", v1beta2.ReasonVolumeFaulted)}
			},
			want: []string{"critical Volume v: NoUsableReplica"},
		},
		"a ticket where the volume itself is well": {
			change: func(w *world.World) {
				w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: named("v")}}
				w.Attachments.Items = []v1beta2.VolumeAttachment{ticket("v", v1beta2.ReasonNodeUnknown)}
			},
			want: []string{"warning VolumeAttachment v: NodeUnknown"},
		},
		"a node that is down, not what runs there": {
			change: func(w *world.World) {
				w.Nodes.Items = []v1beta2.Node{{ObjectMeta: named("n"), Status: v1beta2.NodeStatus{Conditions: []v1beta2.Condition{
					condition(v1beta2.NodeReady, v1beta2.ReasonKubernetesNodeGone, 0)}}}}
				w.InstanceManagers.Items = []v1beta2.InstanceManager{{ObjectMeta: named("im"),
					Spec: v1beta2.InstanceManagerSpec{NodeID: "n"},
					Status: v1beta2.InstanceManagerStatus{Conditions: []v1beta2.Condition{
						condition(v1beta2.InstanceManagerNodeReady, v1beta2.ReasonKubernetesNodeGone, 0)}}}}
				w.Engines.Items = []v1beta2.Engine{{ObjectMeta: named("e"), Status: v1beta2.EngineStatus{Conditions: []v1beta2.Condition{
					condition(v1beta2.InstanceNodeDown, v1beta2.ReasonNodeDown, 0)}}}}
			},
			want: []string{"warning Node n: KubernetesNodeGone"},
		},
		"why an orphan's deletion fails, not that it is one": {
			change: func(w *world.World) {
				w.Orphans.Items = []v1beta2.Orphan{{ObjectMeta: named("o"), Status: v1beta2.OrphanStatus{Conditions: []v1beta2.Condition{
					condition(v1beta2.OrphanOrphaned, v1beta2.ReasonNoOwnerCR, 0), condition(v1beta2.OrphanCleanupApproved,
						v1beta2.ReasonApproved, 0),
					condition(v1beta2.OrphanCleanupFailed, v1beta2.ReasonRefused, 0)}}}}
			},
			want: []string{"warning Orphan o: Refused"},
		},
		"definitions of another Longhorn": {
			change: func(w *world.World) {
				w.Definitions.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "volumes.longhorn.io"}},
					{ObjectMeta: metav1.ObjectMeta{Name: "systembackups.longhorn.io"}},
					{ObjectMeta: metav1.ObjectMeta{Name: "nodes.longhorn.io",
						Labels: map[string]string{v1beta2.LabelContract: v1beta2.ContractVersion}}}}
			},
			want: []string{"warning CustomResourceDefinition volumes.longhorn.io: OtherContract"},
		},
		"a deleted replica that stays": {
			change: func(w *world.World) {
				one := v1beta2.Replica{ObjectMeta: named("r")}
				one.DeletionTimestamp = &metav1.Time{Time: noon.Add(-time.Hour)}
				w.Replicas.Items = []v1beta2.Replica{one}
			},
			want: []string{"warning Replica r: Deleting"},
		},
		"a Backup whose Snapshot is gone": {
			change: func(w *world.World) {
				waits := func(name, snapshot string) v1beta2.Backup {
					return v1beta2.Backup{ObjectMeta: named(name), Spec: v1beta2.BackupSpec{SnapshotName: snapshot},
						Status: v1beta2.BackupStatus{Conditions: []v1beta2.Condition{condition(v1beta2.BackupApproved,
							v1beta2.ReasonSnapshotNotReady, 0)}}}
				}
				w.Backups.Items = []v1beta2.Backup{waits("b", "gone"), waits("c", "s")}
				w.Snapshots.Items = []v1beta2.Snapshot{{ObjectMeta: named("s")}}
			},
			want: []string{"warning Backup b: SnapshotNotReady"},
		},
		"the worst first": {
			change: func(w *world.World) {
				w.Backups.Items = []v1beta2.Backup{{ObjectMeta: named("b"), Status: v1beta2.BackupStatus{State: v1beta2.BackupError,
					Error: "no route"}}}
				w.Settings.Items = []v1beta2.Setting{{ObjectMeta: named("s"), Status: v1beta2.SettingStatus{Conditions: []v1beta2.Condition{
					condition(v1beta2.SettingApplied, v1beta2.ReasonInvalidValue, 0)}}}}
				w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: named("v"), Status: v1beta2.VolumeStatus{Conditions: []v1beta2.Condition{
					condition(v1beta2.VolumeFaulted, v1beta2.ReasonFaulted, 0)}}}}
			},
			want: []string{"critical Volume v: Faulted", "warning Setting s: InvalidValue", "info Backup b: BackupError"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := led()
			test.change(w)
			require.Equal(t, test.want, short(Examine(w)))
		})
	}
}

func ticket(volume, reason string) v1beta2.VolumeAttachment {
	return v1beta2.VolumeAttachment{ObjectMeta: named(volume), Spec: v1beta2.VolumeAttachmentSpec{Volume: volume,
		AttachmentTickets: map[string]v1beta2.AttachmentTicket{"t": {ID: "t"}}}, Status: v1beta2.VolumeAttachmentStatus{
		AttachmentTicketStatuses: map[string]v1beta2.AttachmentTicketStatus{"t": {Conditions: []v1beta2.Condition{
			condition(v1beta2.TicketSatisfied, reason, 0)}}}}}
}

// Where this clock is ahead, every lease seems old: a person has to see both times.
func TestALeaseThatSeemsOldNamesTheClock(t *testing.T) {
	w := led()
	w.Leases.Items[0] = lease("attach-controller", 31*time.Second)
	require.Contains(t, Examine(w)[0].Message,
		" Its lease was renewed at 2026-08-01T11:59:29Z, and the clock of the API server is at 2026-08-01T12:00:00Z.")
}
