package instancemanager

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The cluster autoscaler removes a node only if each of its pods with directories of the host allows that.
func TestAPodLetsTheAutoscalerRemoveItsNodeIfTheSettingSaysSo(t *testing.T) {
	scaled := func(w *World) { w.Settings.ClusterAutoscaler = true }
	require.NotContains(t, PodFor(world()).Annotations, annotationSafeToEvict)
	require.Equal(t, "true", PodFor(world(scaled)).Annotations[annotationSafeToEvict])
	changed := world(scaled, asked, func(w *World) { w.Pod = runningPod(world()) })
	require.Equal(t, DeletePod, Decide(changed).Pod, "an idle pod of before is made again")
}
