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

// L1: an engine without an object counts as long as the pod of its deleted InstanceManager may run it, whether its server answers or not.
func TestAnEngineWithoutAnObjectCountsUntilThePodOfItsDeletedInstanceManagerEnds(t *testing.T) {
	for name, silence := range map[string]func(w *world, manager string){
		"the pod answers": func(*world, string) {},
		"the pod fell silent": func(w *world, manager string) {
			w.Servers.Shut(manager, true)
		},
		"the pod does not answer a new leader": func(w *world, manager string) {
			w.Servers.Shut(manager, true)
			w.Crash()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "stray-1", "stray-2")
			left := manager("stray-1", "v1")
			first := w.engine("vol-e-0", "vol", "stray-1", "v1")
			w.run(first)
			w.engineIs(first.Name, v1beta2.InstanceStateRunning)
			w.Set(setting.DefaultInstanceManagerImage, imageAfter) // the object is not created again

			require.NoError(t, w.Admin.Delete(t.Context(), &v1beta2.InstanceManager{ObjectMeta: w.meta(left)}))
			w.engineIs(first.Name, v1beta2.InstanceStateUnknown)
			silence(w, left)
			require.NoError(t, w.Admin.Delete(t.Context(), first))
			w.Eventually(func() bool {
				var e v1beta2.Engine
				if !w.Get(first.Name, &e) {
					return true
				}
				e.Finalizers = nil
				return w.Admin.Update(t.Context(), &e) == nil
			}, "the engine kept its finalizer")
			after := v1beta2.InstanceManagerName("stray-2", imageAfter, "v1")
			second := w.engine("vol-e-1", "vol", "stray-2", "v1")
			w.run(second)
			w.never(func() bool { return w.holds(after, second.Name) }, "a second engine of the volume was created")
			require.True(t, w.holds(left, first.Name))

			w.Servers.Drop(left, first.Name)
			require.NoError(t, client.IgnoreNotFound(w.Admin.Delete(t.Context(), &corev1.Pod{ObjectMeta: w.meta(left)})))
			w.engineIs(second.Name, v1beta2.InstanceStateRunning)
		})
	}
}
