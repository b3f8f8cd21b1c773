package volumeuserscontroller

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csicontroller"
	"drover.dev/drover/attach-controller/internal/podrecoverycontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const account = "attach-controller"

// world is a namespace of a real API server, with the controller as attach-controller's ServiceAccount.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.create(&corev1.ServiceAccount{ObjectMeta: w.meta("default")})
	return w
}

func (w *world) start(at cut.Point) *shell.Process {
	w.t.Helper()
	kept := csicontroller.Cache()
	maps.Copy(kept, podrecoverycontroller.Cache())
	p := shell.Start(w.t, shell.Options{Identity: testkit.BinaryIdentity(w.t, w.namespace, account), Namespace: w.namespace, Owner: account,
		Cache: kept, At: at}, func(ctx context.Context, rt *runkit.Runtime) error { return Setup(ctx, rt) })
	w.t.Cleanup(func() {
		p.Stop()
		<-p.Ended()
	})
	return p
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

func (w *world) status(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, obj, fields))
}

// volume creates a volume whose running engine lists one snapshot and the head, and a PersistentVolume that is bound to a claim.
func (w *world) volume(name string) (*v1beta2.Volume, *v1beta2.Engine, *corev1.PersistentVolume) {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta(name), Spec: v1beta2.VolumeSpec{Size: 1 << 30, NumberOfReplicas: 1}}
	w.create(v)
	e := &v1beta2.Engine{ObjectMeta: w.meta(name + "-e-0"), Spec: v1beta2.EngineSpec{VolumeName: name, Active: true}}
	e.Labels = map[string]string{v1beta2.LabelVolume: name}
	w.create(e)
	w.status(e, map[string]any{"currentState": v1beta2.InstanceStateRunning, "snapshots": map[string]any{
		"s1": map[string]any{"name": "s1", "size": "8192"}, "volume-head": map[string]any{"name": "volume-head", "size": "4096"}}})
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + name}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		ClaimRef:    &corev1.ObjectReference{Namespace: w.namespace, Name: "claim-" + name},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: v1beta2.CSIDriver,
			VolumeHandle: name}}}}
	w.create(pv)
	w.status(pv, map[string]any{"phase": corev1.VolumeBound})
	return v, e, pv
}

func (w *world) pod(name, claim string) *corev1.Pod {
	w.t.Helper()
	p := &corev1.Pod{ObjectMeta: w.meta(name), Spec: corev1.PodSpec{AutomountServiceAccountToken: new(false),
		Containers: []corev1.Container{{Name: "c", Image: "image"}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}}}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "1", Controller: new(true)}}
	w.create(p)
	return p
}

func (w *world) reaches(v *v1beta2.Volume, wanted string, holds func(v1beta2.VolumeStatus) bool) v1beta2.VolumeStatus {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, v, wanted, func(v *v1beta2.Volume) bool { return holds(v.Status) }).Status
}

// TestAVolumeShowsItsUsersAndItsSize follows a claim and a pod from their beginning to their end, while the controller is killed before
// and after its first write.
func TestAVolumeShowsItsUsersAndItsSize(t *testing.T) {
	for _, at := range []cut.Point{{}, {Write: 1}, {Write: 1, After: true}} {
		w := newWorld(t)
		v, e, pv := w.volume("db")
		pod := w.pod("db-0", "claim-db")
		if at != (cut.Point{}) {
			<-w.start(at).Ended()
		}
		w.start(cut.Point{})
		s := w.reaches(v, "users", func(s v1beta2.VolumeStatus) bool { return len(s.KubernetesStatus.WorkloadsStatus) > 0 })
		require.Equal(t, v1beta2.KubernetesStatus{PVName: pv.Name, PVStatus: "Bound", Namespace: w.namespace, PVCName: "claim-db",
			WorkloadsStatus: []v1beta2.WorkloadStatus{{PodName: "db-0", PodStatus: "Pending", WorkloadName: "db",
				WorkloadType: "StatefulSet"}}}, s.KubernetesStatus)
		require.EqualValues(t, 12288, s.ActualSize)

		w.status(pod, map[string]any{"phase": corev1.PodRunning})
		w.status(e, map[string]any{"snapshots": map[string]any{"volume-head": map[string]any{"size": "8192"}}})
		w.reaches(v, "a running pod and more data", func(s v1beta2.VolumeStatus) bool {
			return s.KubernetesStatus.WorkloadsStatus[0].PodStatus == "Running" && s.ActualSize == 16384
		})
		require.NoError(t, w.admin.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
		w.status(e, map[string]any{"currentState": v1beta2.InstanceStateStopped, "snapshots": nil})
		w.status(pv, map[string]any{"phase": corev1.VolumeReleased})
		s = w.reaches(v, "the end of claim and pod", func(s v1beta2.VolumeStatus) bool {
			return s.KubernetesStatus.LastPodRefAt != "" && s.KubernetesStatus.LastPVCRefAt != ""
		})
		require.Equal(t, "claim-db", s.KubernetesStatus.PVCName)
		require.Equal(t, "db-0", s.KubernetesStatus.WorkloadsStatus[0].PodName)
		require.EqualValues(t, 16384, s.ActualSize)
		_, err := time.Parse(time.RFC3339, s.KubernetesStatus.LastPodRefAt)
		require.NoError(t, err)
		noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		require.NoError(t, w.admin.Patch(t.Context(), pv, noFinalizers))
		require.NoError(t, w.admin.Delete(t.Context(), pv))
		w.reaches(v, "no PersistentVolume", func(s v1beta2.VolumeStatus) bool { return s.KubernetesStatus.PVName == "" })
	}
}

// TestNothingIsWrittenAndLittleEvaluatedForWhatNobodyUses proves that a change costs one evaluation of its volume at most.
func TestNothingIsWrittenAndLittleEvaluatedForWhatNobodyUses(t *testing.T) {
	w := newWorld(t)
	v, e, pv := w.volume("db")
	w.volume("other")
	pod := w.pod("db-0", "claim-db")
	unrelated := w.pod("unrelated", "claim-of-nobody")
	p := w.start(cut.Point{})
	w.reaches(v, "users", func(s v1beta2.VolumeStatus) bool {
		return len(s.KubernetesStatus.WorkloadsStatus) > 0 && s.ActualSize > 0
	})
	w.reaches(&v1beta2.Volume{ObjectMeta: w.meta("other")}, "users",
		func(s v1beta2.VolumeStatus) bool { return s.KubernetesStatus.PVName != "" })
	evaluated := func() int { return testkit.Reconciles(t, "volume-users") }
	still := func() {
		t.Helper()
		count := -1
		require.Eventually(t, func() bool {
			before := count
			count = evaluated()
			return before == count
		}, testkit.Timeout, 200*time.Millisecond)
	}
	still()
	before, writes := evaluated(), len(p.Client.Writes())
	w.status(v, map[string]any{"state": "attached", "robustness": "healthy"})
	w.status(e, map[string]any{"ownerID": "node-2", "endpoint": "/dev/longhorn/db"})
	w.status(pod, map[string]any{"message": "still pending", "hostIP": "10.0.0.1"})
	w.status(pv, map[string]any{"message": "bound"})
	w.status(unrelated, map[string]any{"phase": corev1.PodRunning})
	w.status(pod, map[string]any{"phase": corev1.PodRunning})
	w.reaches(v, "a running pod", func(s v1beta2.VolumeStatus) bool { return s.KubernetesStatus.WorkloadsStatus[0].PodStatus == "Running" })
	still()
	require.LessOrEqual(t, evaluated()-before, 3, "the pod's phase and our own write, and one wait for the cache")
	require.Len(t, p.Client.Writes(), writes+1)
}
