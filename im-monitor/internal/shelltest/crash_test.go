package shelltest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

const (
	crashNode  = "crash-1"
	crashImage = "longhornio/longhorn-instance-manager:v1.12.1"
)

// wholeLife is a node's life from its first instance manager over a new image to its end. Whatever happens to the
// process, each step is reached, and nothing is left.
func wholeLife(e *Env) {
	e.Set(setting.DefaultInstanceManagerImage, image)
	e.KubernetesNode(crashNode, nil)
	e.ready(crashNode, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	name := v1beta2.InstanceManagerName(crashNode, image, v1beta2.DataEngineV1)
	e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: "v1", State: "running", UUID: "u1"})
	im := e.manager(name, v1beta2.InstanceManagerStateRunning)
	e.Eventually(func() bool {
		return e.Get(name, im) && len(im.Status.InstanceReplicas) == 1 && im.Status.OwnerID == crashNode && im.Status.APIVersion == 7
	}, "the status was never complete")

	e.Set(setting.DefaultInstanceManagerImage, crashImage)
	e.Servers.Drop(name, "vol-1-r-aabbccdd")
	next := v1beta2.InstanceManagerName(crashNode, crashImage, v1beta2.DataEngineV1)
	e.manager(next, v1beta2.InstanceManagerStateRunning)
	e.Eventually(func() bool { return !e.Get(name, &v1beta2.InstanceManager{}) && !e.Get(name, &corev1.Pod{}) }, "the old one never went")

	var k corev1.Node
	require.NoError(e.t, e.Admin.Get(e.t.Context(), client.ObjectKey{Name: crashNode}, &k))
	k.Spec.Unschedulable = true
	require.NoError(e.t, e.Admin.Update(e.t.Context(), &k))
	var n v1beta2.Node
	require.True(e.t, e.Get(crashNode, &n))
	require.NoError(e.t, e.Admin.Delete(e.t.Context(), &n))
	e.Eventually(func() bool { return !e.Get(crashNode, &v1beta2.Node{}) }, "the node never went")
	require.False(e.t, e.Get(next, &v1beta2.InstanceManager{}))
	require.False(e.t, e.Get(next, &corev1.Pod{}))
}

// allPoints is the environment variable that, when set, runs every point instead of a sample.
const allPoints = "DROVER_ALL_POINTS"

// sample takes every fifth point; five being odd, both sides of a write occur.
func sample(points []cut.Point) []cut.Point {
	var out []cut.Point
	for i := 0; i < len(points); i += 5 {
		out = append(out, points[i])
	}
	return out
}

// TestEveryCrashConverges proves ALL-2 for nodes and instance managers: the process dies before and after each of its
// writes, and the end is the same.
func TestEveryCrashConverges(t *testing.T) {
	var writes []string
	t.Run("uncut", func(t *testing.T) {
		e := Start(t)
		wholeLife(e)
		writes = e.Writes()
	})
	points := cut.Points(len(writes))
	if os.Getenv(allPoints) == "" {
		points = sample(points)
	}
	for _, at := range points {
		t.Run(at.String(), func(t *testing.T) { wholeLife(StartCut(t, at)) })
	}
	t.Logf("%d writes, %d points, 0 violations; the writes: %q", len(writes), len(points), writes)
}
