package finding

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func degraded() *v1beta2.Volume {
	return &v1beta2.Volume{ObjectMeta: named("vol-1"), Spec: v1beta2.VolumeSpec{NumberOfReplicas: 3},
		Status: v1beta2.VolumeStatus{Robustness: v1beta2.VolumeRobustnessDegraded, LastDegradedAt: "2026-08-01T11:00:00Z"}}
}

func TestADegradedVolumeShowsHowManyCopiesAreHealthy(t *testing.T) {
	copyOf := func(volume, healthyAt, failedAt string) v1beta2.Replica {
		return v1beta2.Replica{Spec: v1beta2.ReplicaSpec{VolumeName: volume, HealthyAt: healthyAt, FailedAt: failedAt}}
	}
	const at = "2026-08-01T10:00:00Z"
	for name, test := range map[string]struct {
		replicas []v1beta2.Replica
		want     string
	}{
		"one healthy, one failed, and one of another volume": {[]v1beta2.Replica{copyOf("vol-1", at, ""), copyOf("vol-1", at, at),
			copyOf("vol-2", at, "")}, "1 of 3 replicas are healthy."},
		"none is healthy": {[]v1beta2.Replica{copyOf("vol-1", "", "")}, "0 of 3 replicas are healthy."},
		"more than it wants": {[]v1beta2.Replica{copyOf("vol-1", at, ""), copyOf("vol-1", at, ""), copyOf("vol-1", at, ""),
			copyOf("vol-1", at, "")}, "4 of 4 replicas are healthy."},
		"its replicas are not known": {[]v1beta2.Replica{copyOf("vol-2", at, "")}, "Fewer replicas are healthy than the volume wants."},
	} {
		t.Run(name, func(t *testing.T) {
			w := empty()
			w.Replicas.Items = test.replicas
			found := Volume(w, degraded())
			require.Len(t, found, 1)
			require.Equal(t, test.want, found[0].Message)
			require.Equal(t, "2026-08-01T11:00:00Z", found[0].Since)
			require.Equal(t, Continues, found[0].Severity)
			require.Equal(t, "kubectl drover why vol-1 -n longhorn-system", found[0].Command)
		})
	}
	whole := degraded()
	whole.Status.Robustness = v1beta2.VolumeRobustnessHealthy
	require.Empty(t, Volume(empty(), whole))
}

func TestALabelWithoutEffectIsAWarningAboutTheObjectThatHasIt(t *testing.T) {
	labels := map[string]string{v1beta2.LabelRecurringJobPrefix + "dayly": "enabled", v1beta2.LabelRecurringSource: "enabled"}
	v := &v1beta2.Volume{ObjectMeta: named("vol-1")}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", Labels: labels}}
	v.Labels = labels
	w := empty()
	for object, found := range map[string][]Finding{"Volume vol-1": VolumeJobs(w, v),
		"PersistentVolumeClaim shop/data": ClaimJobs(w, claim)} {
		require.Len(t, found, 1)
		require.Equal(t, object, found[0].Object.String())
		require.Equal(t, "label "+v1beta2.LabelRecurringJobPrefix+"dayly", found[0].Part)
		require.Equal(t, Warning, found[0].Severity)
		require.Equal(t, "kubectl -n longhorn-system get lhrj", found[0].Command)
	}
	w.Unread = []world.Unread{{Resource: "recurringjobs.longhorn.io"}}
	require.Empty(t, VolumeJobs(w, v), "which jobs exist is not known")
	require.Empty(t, ClaimJobs(w, claim))
	w = empty()
	w.RecurringJobs.Items = []v1beta2.RecurringJob{{ObjectMeta: named("dayly")}}
	require.Empty(t, VolumeJobs(w, v), "the job exists")
}

func TestAFailedReplicaShowsItsNodeAndSinceWhen(t *testing.T) {
	r := &v1beta2.Replica{ObjectMeta: named("r-1"), Spec: v1beta2.ReplicaSpec{NodeID: "node-1"}}
	require.Empty(t, Replica(empty(), r))
	r.Spec.FailedAt = "2026-08-01T11:00:00Z"
	require.Equal(t, []Finding{{Object: Ref{"Replica", "r-1"}, Reason: ReasonReplicaFails, Since: "2026-08-01T11:00:00Z",
		Severity: Continues, Guide: "docs/attaching.md",
		Message: "The replica on node node-1 lacks data that was written since it failed."}}, Replica(empty(), r))
}

func TestAnObjectThatStaysAfterItsDeletionShowsWhatHoldsIt(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: named("vol-1")}
	v.Finalizers = []string{"longhorn.io", "drover.dev/snapshots"}
	require.Empty(t, Deleting(empty(), Ref{"Volume", "vol-1"}, v))
	v.DeletionTimestamp = &metav1.Time{Time: noon}
	require.Equal(t, []Finding{{Object: Ref{"Volume", "vol-1"}, Reason: ReasonDeleting, Since: "2026-08-01T12:00:00Z", Severity: Continues,
		Message: "It was deleted, and stays until its work is done; finalizers: longhorn.io, drover.dev/snapshots.",
		Command: "kubectl -n longhorn-system describe lhv vol-1", Guide: "docs/attaching.md"}}, Deleting(empty(), Ref{"Volume", "vol-1"}, v))
}

func TestABackupThatEndedWithAnErrorShowsIt(t *testing.T) {
	b := &v1beta2.Backup{ObjectMeta: named("b-1"), Status: v1beta2.BackupStatus{State: v1beta2.BackupCompleted}}
	require.Empty(t, BackupFailed(empty(), b))
	b.Status.State, b.Status.Error = v1beta2.BackupError, "no space"
	require.Equal(t, []Finding{{Object: Ref{"Backup", "b-1"}, Reason: ReasonBackupError, Message: "The backup failed: no space",
		Severity: Info, Command: "kubectl -n longhorn-system describe lhb b-1", Guide: "docs/backups.md"}}, BackupFailed(empty(), b))
}

// Definitions that another Longhorn installed drop fields without a word.
func TestDefinitionsOfAnotherContractAreNamedInOrder(t *testing.T) {
	w := empty()
	add := func(name, contract string) {
		w.Definitions.Items = append(w.Definitions.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name,
			Labels: map[string]string{v1beta2.LabelContract: contract}}})
	}
	add("volumes.longhorn.io", v1beta2.ContractVersion)
	add("systembackups.longhorn.io", "") // a kind that Drover does not know
	add("volumes.example.com", "")
	require.Empty(t, Contract(w))

	add("snapshots.longhorn.io", "")
	add("engines.longhorn.io", "0")
	found := Contract(w)
	require.Len(t, found, 1)
	require.Equal(t, "CustomResourceDefinition engines.longhorn.io", found[0].Object.String())
	require.Contains(t, found[0].Message, "2 definitions are not of contract "+v1beta2.ContractVersion)
	require.Contains(t, found[0].Message, ": engines.longhorn.io, snapshots.longhorn.io.")
	require.Equal(t, "kubectl apply --server-side --force-conflicts -k crds", found[0].Command)
	require.Equal(t, Warning, found[0].Severity)
}

// Pods and events are of help, and nothing that waits for a person is known from them alone.
func TestAKindThatCouldNotBeReadIsAWarningWhereSomethingMayWaitForAPerson(t *testing.T) {
	w := empty()
	w.Unread = []world.Unread{{Resource: "leases.coordination.k8s.io"}, {Resource: "nodes.longhorn.io"}, {Resource: "pods"}}
	found := NotRead(w)
	require.Len(t, found, 2)
	require.Equal(t, "Lease drover-attach-controller", found[0].Object.String())
	require.Equal(t, "kubectl auth can-i list leases.coordination.k8s.io -n longhorn-system", found[0].Command)
	require.Equal(t, "CustomResourceDefinition nodes.longhorn.io", found[1].Object.String())
	require.Equal(t, "Nothing is known of nodes.longhorn.io, which could not be read.", found[1].Message)
	require.Equal(t, Warning, Worst(found))
}
