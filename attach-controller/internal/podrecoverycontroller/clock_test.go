package podrecoverycontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A24: attach-controller's clock is an hour ahead, the kubelet's an hour behind. Each pod that was there is deleted, none that replaces it.
func TestNoReplacementPodIsDeletedWhateverTheClocksShow(t *testing.T) {
	w := newWorld(t)
	w.ahead = time.Hour
	volume := w.volume("data")
	behind := time.Now().Add(-time.Hour)
	pods := []*corev1.Pod{w.pod("web-0", set, "a", behind, "data"), w.pod("web-1", set, "a", behind, "data")}
	p := w.start()
	w.stays(pods[0], pods[1])
	w.detached(volume, time.Now().Add(w.ahead-10*time.Second))
	leaving(w, pods[0])
	leaving(w, pods[1])
	now := int64(0)
	require.NoError(t, w.admin.Delete(t.Context(), pods[0], &client.DeleteOptions{GracePeriodSeconds: &now}))
	w.stays(w.pod("web-0", set, "a", behind, "data"))
	require.ElementsMatch(t, []string{"delete Pod web-0", "delete Pod web-1"}, p.Client.Writes())
}
