package podrecoverycontroller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/attach-controller/internal/podrecovery"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

const set = "StatefulSet"

// A24: a pod whose volume was detached under it is deleted after 5 s, with 30 s of grace; no other pod is.
func TestAPodWhoseVolumeWasDetachedUnderItIsDeleted(t *testing.T) {
	w := newWorld(t)
	w.set(setting.SparedControllers, "apps/DaemonSet")
	volume := w.volume("data")
	w.persistentVolume("foreign", "disk.example.com")
	w.volume("well")
	before := time.Now().Add(-time.Hour)
	pod := w.pod("web-0", set, "a", before, "data")
	others := []client.Object{
		w.pod("alone", "", "a", before, "data"), w.pod("spared", "DaemonSet", "a", before, "data"),
		w.pod("late", set, "a", time.Now().Add(time.Hour), "data"),
		w.pod("foreign", set, "a", before, "foreign"), w.pod("well", set, "a", before, "well"),
		w.pod("unbound", set, "a", before, "nowhere"),
	}
	p := w.start()
	w.stays(append(others, pod)...)
	require.Empty(t, p.Client.Writes())

	at := time.Now().Truncate(time.Second)
	w.detached(volume, at)
	gone := leaving(w, pod)
	require.Equal(t, podrecovery.GracePeriod, *gone.DeletionGracePeriodSeconds)
	grace := time.Duration(podrecovery.GracePeriod) * time.Second
	require.False(t, gone.DeletionTimestamp.Add(-grace).Before(at.Add(5*time.Second)), "it had 5 s")
	w.said(w.pods, "Pod", "web-0", "PodDeleted")
	w.said(w.namespace, "Volume", volume.Name, "PodDeleted")
	w.stays(others...)
	require.Equal(t, []string{"delete Pod web-0"}, p.Client.Writes())
}

// The cache alone deletes no pod: here it shows a detachment that the API server does not have.
func TestAPodIsNotDeletedForAStaleCache(t *testing.T) {
	w := newWorld(t)
	w.ahead = time.Hour // the pod was created an hour ago by the controller's clock
	w.wrap = func(c client.Client) client.Client { return stale{c} }
	w.volume("data")
	pod := w.pod("web-0", set, "a", time.Now().Add(-time.Hour), "data")
	p := w.start()
	w.stays(pod)
	require.Empty(t, p.Client.Writes())
}

type stale struct{ client.Client }

// Get implements client.Reader.
func (s stale) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := s.Client.Get(ctx, key, obj, opts...)
	if v, ok := obj.(*v1beta2.Volume); ok && err == nil {
		v.Status.RemountRequestedAt = time.Now().Add(time.Hour - time.Minute).UTC().Format(time.RFC3339)
	}
	return err
}

// leftBehind is a pod that is being deleted on node a, which is down, with two volumes of Longhorn and one of another driver.
func leftBehind(w *world) (pod *corev1.Pod, ours []*storagev1.VolumeAttachment, others []client.Object) {
	w.set(setting.NodeDownPodDeletion, string(setting.DeleteStatefulSetPod))
	w.volume("data")
	w.volume("logs")
	w.volume("busy")
	w.persistentVolume("foreign", "disk.example.com")
	w.node("a", true)
	w.node("b", true)
	pod = w.pod("web-0", set, "a", time.Now(), "data", "logs", "foreign")
	ours = []*storagev1.VolumeAttachment{w.attached("data", "a", csi.Driver), w.attached("logs", "a", csi.Driver)}
	others = []client.Object{
		w.attached("busy", "a", csi.Driver), w.pod("busy", set, "a", time.Now(), "busy"),
		w.attached("foreign", "a", "disk.example.com"), w.attached("data", "b", csi.Driver),
	}
	return pod, ours, others
}

// A24: on a node that is down the pod's volumes are freed first; once they are, and its grace is over, it is deleted by force.
func TestAPodOnANodeThatIsDownGoesAfterItsVolumes(t *testing.T) {
	w := newWorld(t)
	pod, ours, others := leftBehind(w)
	p := w.start()
	w.end(pod)
	leaves := leaving(w, pod)
	w.stays(leaves, ours[0], ours[1])
	w.host("a", false)
	w.stays(leaves, ours[0], ours[1])
	require.Empty(t, p.Client.Writes(), "what Longhorn does not call down is not")

	w.host("a", true)
	w.turn("a", false)
	w.stays(leaves, ours[0], ours[1])
	require.Empty(t, p.Client.Writes(), "Kubernetes calls the node ready")

	w.host("a", false)
	for _, va := range ours {
		leaving(w, va)
	}
	for i, volume := range []string{"data", "logs"} {
		require.Contains(t, w.said(w.namespace, "Volume", w.name(volume), "AttachmentDeleted"), "VolumeAttachment "+ours[i].Name+" ",
			volume)
	}
	w.letGo(ours[0])
	w.stays(leaves)
	w.letGo(ours[1])
	testkit.WaitGone(t, w.admin, pod)
	w.said(w.pods, "Pod", "web-0", "PodForceDeleted")
	w.said(w.namespace, "Volume", w.name("logs"), "PodForceDeleted")
	w.stays(others...)
	require.Equal(t, []string{"delete VolumeAttachment " + ours[0].Name, "delete VolumeAttachment " + ours[1].Name, "delete Pod web-0"},
		p.Client.Writes())
}

// Wherever the controller dies, its successor ends at the same.
func TestAPodOnANodeThatIsDownGoesWhereverTheControllerDies(t *testing.T) {
	for _, at := range cut.Points(3) {
		t.Run(at.String(), func(t *testing.T) {
			w := newWorld(t)
			pod, ours, others := leftBehind(w)
			w.end(pod)
			leaving(w, pod)
			w.turn("a", false)
			w.host("a", false)
			dead := make(chan struct{})
			first := w.startCut(at, func() { close(dead) })
			again := func() {
				<-dead
				<-first.Ended()
				w.start()
			}
			go again()
			for _, va := range ours {
				leaving(w, va)
				w.letGo(va)
			}
			testkit.WaitGone(t, w.admin, pod)
			select {
			case <-dead:
			case <-time.After(patience):
				t.Fatal("it was never cut")
			}
			w.stays(others...)
		})
	}
}

// A24: a pod was deleted by force from a node that is down; its successor elsewhere gets the volume.
func TestAVolumeIsFreedForAPodThatWaitsOnceNoPodOnTheDeadNodeUsesIt(t *testing.T) {
	w := newWorld(t)
	w.volume("data")
	w.node("a", true)
	w.node("b", true)
	before := w.pod("old", set, "a", time.Now(), "data")
	va := w.attached("data", "a", csi.Driver)
	w.turn("a", false)
	w.host("a", false)
	p := w.start()
	after := w.pod("new", set, "b", time.Now(), "data")
	w.status(after, map[string]any{"phase": corev1.PodPending})
	w.stays(va, before, after)
	require.Empty(t, p.Client.Writes(), "a pod there may use it")
	now := int64(0)
	require.NoError(t, w.admin.Delete(t.Context(), before, &client.DeleteOptions{GracePeriodSeconds: &now}))
	leaving(w, va)
	w.letGo(va)
	testkit.WaitGone(t, w.admin, va)
	w.stays(after)
	require.Equal(t, []string{"delete VolumeAttachment " + va.Name}, p.Client.Writes())
}

func TestASettingThatChangesIsObeyedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.ahead = time.Hour
	w.set(setting.AutoDeletePod, "false")
	w.detached(w.volume("data"), time.Now().Add(time.Hour-time.Minute))
	pod := w.pod("web-0", set, "a", time.Now().Add(-time.Hour), "data")
	w.start()
	w.stays(pod)
	s := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: setting.AutoDeletePod}}
	require.NoError(t, w.admin.Patch(t.Context(), s, client.RawPatch(types.MergePatchType, []byte(`{"value":"true"}`))))
	leaving(w, pod)
}

// The pods of an RWX volume keep the mount of a share, which a new share manager serves.
func TestPodsOfAShareAreDeletedOnceANewShareServes(t *testing.T) {
	w := newWorld(t)
	w.ahead = time.Hour
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "default"}})
	volume := w.volume("data")
	require.NoError(t, status.MergeSpec(t.Context(), w.admin, volume, map[string]any{"accessMode": v1beta2.AccessModeReadWriteMany}))
	w.detached(volume, time.Now().Add(time.Hour-time.Minute))
	w.status(volume, map[string]any{"shareState": "running"})
	pod := w.pod("web-0", set, "a", time.Now().Add(-time.Hour), "data")
	w.start()
	w.stays(pod)
	share := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: sharePrefix + volume.Name},
		Spec: corev1.PodSpec{AutomountServiceAccountToken: new(bool), Containers: []corev1.Container{{Name: "main", Image: "none"}}}}
	w.create(share)
	w.status(share, map[string]any{"startTime": metav1.NewTime(time.Now().Add(time.Hour))})
	leaving(w, pod)
}
