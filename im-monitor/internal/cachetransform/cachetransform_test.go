package cachetransform_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/cachetransform"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
)

// transform is how objects of a kind are stored.
func transform(t *testing.T, like client.Object) toolscache.TransformFunc {
	t.Helper()
	for object, by := range cachetransform.Cache() {
		if reflect.TypeOf(object) == reflect.TypeOf(like) {
			return by.Transform
		}
	}
	t.Fatalf("nothing is reported about %T", like)
	return nil
}

// A poll is written as a patch from the cached object: a field that is dropped here would be written again with every poll.
func TestAnEngineKeepsAllThatALookWrites(t *testing.T) {
	status := v1beta2.EngineStatus{
		ReplicaModeMap: map[string]string{"r": "RW"}, CurrentReplicaAddressMap: map[string]string{"r": "10.0.0.1:1"},
		ReplicaTransitionTimeMap: map[string]string{"r": "then"},
		Snapshots:                map[string]v1beta2.SnapshotInfo{"s": {Name: "s", Labels: map[string]string{"a": "b"}}},
		RebuildStatus:            map[string]v1beta2.RebuildStatus{"r": {Progress: 1}},
		CloneStatus:              map[string]v1beta2.SnapshotCloneStatus{"r": {State: "complete"}},
		RestoreStatus:            map[string]v1beta2.RestoreStatus{"r": {State: "complete"}},
		PurgeStatus:              map[string]v1beta2.PurgeStatus{"r": {State: "complete"}},
		LastRestoredBackup:       "b", CurrentSize: 5, IsExpanding: true, LastExpansionError: "e", LastExpansionFailedAt: "then",
		LookedAt:     "then",
		CurrentState: "running", UUID: "u", IP: "i", StorageIP: "s", Port: 3, InstanceManagerName: "im",
		Conditions: []v1beta2.Condition{{Type: "NodeDown"}},
	}
	spec := v1beta2.EngineSpec{VolumeName: "v", VolumeSize: 5, ReplicaAddressMap: map[string]string{"r": "10.0.0.1:1"},
		LookRequestedAt:     "then",
		RequestedDataSource: "snap://a/b", RequestedBackupRestore: "b", DesireState: "running", DataEngine: "v2", Active: true}
	e := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "e", ResourceVersion: "7", Annotations: map[string]string{"a": "b"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}, Spec: *spec.DeepCopy(), Status: *status.DeepCopy()}
	e.Status.BackupStatus = map[string]v1beta2.EngineBackupStatus{"b": {}}
	stored, err := transform(t, e)(e)
	require.NoError(t, err)
	require.Equal(t, &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "e", ResourceVersion: "7"}, Spec: spec, Status: status}, stored)
}

// Labels and finalizers of what there is a hundred thousand of are read by no one; whose it is, is.
func TestAnInstancesObjectKeepsItsOwnerAndNoLabels(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "i", UID: "u", ResourceVersion: "7", Labels: map[string]string{"longhornvolume": "v"},
		Finalizers: []string{v1beta2.Finalizer}, OwnerReferences: []metav1.OwnerReference{{Kind: "Volume", Name: "v", UID: "w"}}}
	kept := metav1.ObjectMeta{Name: "i", UID: "u", ResourceVersion: "7", OwnerReferences: meta.OwnerReferences}
	for _, o := range []client.Object{
		&v1beta2.Engine{ObjectMeta: *meta.DeepCopy(), Spec: v1beta2.EngineSpec{VolumeName: "v"}},
		&v1beta2.EngineFrontend{ObjectMeta: *meta.DeepCopy(), Spec: v1beta2.EngineFrontendSpec{VolumeName: "v"}},
		&v1beta2.Replica{ObjectMeta: *meta.DeepCopy(), Spec: v1beta2.ReplicaSpec{VolumeName: "v"}},
	} {
		stored, err := transform(t, o)(o)
		require.NoError(t, err)
		require.Equal(t, kept, *objectMeta(stored), "%T", o)
	}
}

func objectMeta(stored any) *metav1.ObjectMeta {
	switch o := stored.(type) {
	case *v1beta2.Engine:
		return &o.ObjectMeta
	case *v1beta2.EngineFrontend:
		return &o.ObjectMeta
	}
	return &stored.(*v1beta2.Replica).ObjectMeta
}

// The deletion of an object may arrive as a tombstone.
func TestWhatIsOfAnotherTypeStaysAsItIs(t *testing.T) {
	tombstone := toolscache.DeletedFinalStateUnknown{Key: "k"}
	for object, by := range cachetransform.Cache() {
		stored, err := by.Transform(tombstone)
		require.NoError(t, err, "%T", object)
		require.Equal(t, tombstone, stored, "%T", object)
	}
}

// What is reported of a Snapshot is applied as a whole: what is dropped here would be taken back.
func TestASnapshotKeepsWhatIsSaidOfItAndWhatIsAskedFor(t *testing.T) {
	owner := []metav1.OwnerReference{{Kind: "Volume", Name: "v", UID: "u"}}
	ours := []v1beta2.Condition{{Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonTaken,
		Message: "m", LastProbeTime: "then", LastTransitionTime: "then"}}
	s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "s", ResourceVersion: "7", OwnerReferences: owner,
		Labels: map[string]string{"a": "b"}},
		Spec: v1beta2.SnapshotSpec{Volume: "v", CreateSnapshot: true, Labels: map[string]string{"a": "b"}},
		Status: v1beta2.SnapshotStatus{RequestedTime: "then", CreationTime: "later", Parent: "p", Children: map[string]bool{"c": true},
			Error:      "e",
			Conditions: append([]v1beta2.Condition{{Type: v1beta2.SnapshotReady, Message: "long"}}, ours...)}}
	stored, err := transform(t, s)(s)
	require.NoError(t, err)
	require.Equal(t, &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "s", ResourceVersion: "7", OwnerReferences: owner},
		Spec:   v1beta2.SnapshotSpec{Volume: "v", CreateSnapshot: true},
		Status: v1beta2.SnapshotStatus{RequestedTime: "then", CreationTime: "later", Conditions: ours}}, stored)
}

// The settings of a node and its pod are decided on from the cached objects.
func TestHugePagesOfNodesAndPodsAreKept(t *testing.T) {
	pages := corev1.ResourceList{instancemanager.HugePages: resource.MustParse("2Gi"), corev1.ResourceCPU: resource.MustParse("4"),
		corev1.ResourceMemory: resource.MustParse("8Gi")}
	kept := corev1.ResourceList{instancemanager.HugePages: pages[instancemanager.HugePages], corev1.ResourceCPU: pages[corev1.ResourceCPU]}
	n := &corev1.Node{Status: corev1.NodeStatus{Allocatable: pages}}
	before := node.FromKubernetes(n)
	_, err := transform(t, n)(n)
	require.NoError(t, err)
	require.Equal(t, kept, n.Status.Allocatable)
	require.Equal(t, before, node.FromKubernetes(n))
	require.EqualValues(t, 2048, before.HugePagesMiB)

	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: pages}}}}}
	_, err = transform(t, p)(p)
	require.NoError(t, err)
	require.Equal(t, corev1.ResourceList{instancemanager.HugePages: pages[instancemanager.HugePages]}, p.Spec.Containers[0].Resources.Limits)
}
