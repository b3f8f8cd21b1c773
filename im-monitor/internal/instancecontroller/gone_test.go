package instancecontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

// The pod of an InstanceManager that a person deletes ends after its grace period, or never (--cascade=orphan), and so does what it runs.
func TestADeletedInstanceManagerRunsItsInstancesUntilItsPodEnds(t *testing.T) {
	w := newWorld(t, "gone-1")
	old := manager("gone-1", "v1")
	e := w.engine("vol-e-0", "vol", "gone-1", "v1")
	w.run(e)
	w.engineIs(e.Name, v1beta2.InstanceStateRunning)
	w.Set(setting.DefaultInstanceManagerImage, imageAfter)
	after := v1beta2.InstanceManagerName("gone-1", imageAfter, "v1")
	var im v1beta2.InstanceManager
	w.Eventually(func() bool {
		return w.Get(after, &im) && im.Status.CurrentState == v1beta2.InstanceManagerStateRunning && im.Status.APIVersion != 0
	}, "the instance manager of the new image never ran")

	require.NoError(t, w.Admin.Delete(t.Context(), &v1beta2.InstanceManager{ObjectMeta: w.meta(old)}))
	w.engineIs(e.Name, v1beta2.InstanceStateUnknown)
	w.stop(e)
	w.never(func() bool {
		now := &v1beta2.Engine{}
		return w.Get(e.Name, now) && now.Status.CurrentState != v1beta2.InstanceStateUnknown
	}, "nothing is known of it while the pod is there")
	w.run(e)
	second := w.engine("vol-e-1", "vol", "gone-1", "v1")
	w.run(second)
	w.never(func() bool { return w.holds(after, e.Name) || w.holds(after, second.Name) }, "a second engine of the volume was created")

	pod := &corev1.Pod{}
	require.True(t, w.Get(old, pod) && pod.DeletionTimestamp == nil)
	require.NoError(t, client.IgnoreNotFound(w.Admin.Delete(t.Context(), pod)))
	w.engineIs(e.Name, v1beta2.InstanceStateError)
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	w.engineIs(second.Name, v1beta2.InstanceStateRunning)
	require.True(t, w.holds(after, second.Name))
}
