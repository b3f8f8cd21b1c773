package podrecoverycontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/attach-controller/internal/setting"
)

// A24: a kubelet that is not ready for less than 15 s frees no volume; the controller requeues until they are over.
func TestAPodKeepsItsVolumesWhileItsKubeletIsShortlyNotReady(t *testing.T) {
	w := newWorld(t)
	pod, ours, _ := leftBehind(w)
	p := w.start()
	w.end(pod)
	leaves := leaving(w, pod)
	w.turn("a", false)
	w.kubelet("a", corev1.ConditionFalse, time.Now())
	w.stays(leaves, ours[0], ours[1])
	require.Empty(t, p.Client.Writes())
	since := time.Now().Add(-8 * time.Second).Truncate(time.Second)
	w.kubelet("a", corev1.ConditionFalse, since)
	for _, va := range ours {
		require.False(t, leaving(w, va).DeletionTimestamp.Time.Before(since.Add(15*time.Second)), "15 s are over")
	}
}

// The same where a pod elsewhere waits for what no pod on that node uses.
func TestAVolumeThatAPodWaitsForStaysWhileTheKubeletIsNotReadyForAMoment(t *testing.T) {
	w := newWorld(t)
	w.volume("data")
	w.node("a", true)
	w.node("b", true)
	va := w.attached("data", "a", csi.Driver)
	w.status(w.pod("new", set, "b", time.Now(), "data"), map[string]any{"phase": corev1.PodPending})
	w.start()
	w.turn("a", false)
	since := time.Now().Add(-8 * time.Second).Truncate(time.Second)
	w.kubelet("a", corev1.ConditionFalse, since)
	require.False(t, leaving(w, va).DeletionTimestamp.Time.Before(since.Add(15*time.Second)), "15 s are over")
}

// A pod that is being deleted keeps its volumes until its grace is over, whatever its node does: it may still write.
func TestAPodKeepsItsVolumesUntilItsGraceIsOver(t *testing.T) {
	w := newWorld(t)
	w.set(setting.NodeDownPodDeletion, string(setting.DeleteStatefulSetPod))
	w.volume("data")
	w.node("a", false)
	pod, grace := w.pod("web-0", set, "a", time.Now(), "data"), int64(6)
	va := w.attached("data", "a", csi.Driver)
	w.start()
	require.NoError(t, w.admin.Delete(t.Context(), pod.DeepCopy(), &client.DeleteOptions{GracePeriodSeconds: &grace}))
	until := leaving(w, pod).DeletionTimestamp
	gone := leaving(w, &storagev1.VolumeAttachment{ObjectMeta: va.ObjectMeta})
	require.False(t, gone.DeletionTimestamp.Before(until), "its grace is over")
}
