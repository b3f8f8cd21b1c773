package instancemanagercontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A cache that stays behind for longer than writes are remembered leads to no second write. What is written together is
// written in one pass.
func TestTheStatusIsWrittenToTheVersionThatWasEvaluated(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	im := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "im-1"}}
	require.NoError(t, admin.Create(t.Context(), im))
	s := &reconciler{rt: &runkit.Runtime{Client: admin, Namespace: namespace, Clock: clock.RealClock{}},
		written: kube.Written{Clock: clock.RealClock{}}}
	var state, maps, both instancemanager.Verdict
	state.Status.State, both.Status.State = v1beta2.InstanceManagerStateStarting, v1beta2.InstanceManagerStateRunning
	engines := map[string]*v1beta2.InstanceProcess{"e": {Spec: v1beta2.InstanceProcessSpec{Name: "e", DataEngine: v1beta2.DataEngineV1}}}
	maps.Maps.Engines, both.Maps.Engines = engines, engines

	_, err := s.applyStatus(t.Context(), im, both)
	require.NoError(t, err)
	for _, v := range []instancemanager.Verdict{state, maps} {
		s.memory.forget(im.Name)
		_, err = s.applyStatus(t.Context(), im, v)
		require.True(t, status.IsConflict(err), err)
	}
	now := &v1beta2.InstanceManager{}
	require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(im), now))
	require.Equal(t, v1beta2.InstanceManagerStateRunning, now.Status.CurrentState)
	require.Contains(t, now.Status.InstanceEngines, "e")
}

func TestAnInstanceManagerWhosePodTheCacheDoesNotShowStays(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	named := metav1.ObjectMeta{Namespace: namespace, Name: "im-1"}
	im := &v1beta2.InstanceManager{ObjectMeta: named}
	require.NoError(t, admin.Create(t.Context(), im))
	pod := &corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	require.NoError(t, admin.Create(t.Context(), pod))
	s := &reconciler{rt: &runkit.Runtime{Client: admin, Uncached: admin, Namespace: namespace, Clock: clock.RealClock{}},
		written: kube.Written{Clock: clock.RealClock{}}}

	err := s.remove(t.Context(), im)
	require.True(t, status.IsConflict(err), err)
	require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(im), im))
	require.NoError(t, admin.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	require.NoError(t, s.remove(t.Context(), im))
	require.NoError(t, client.IgnoreNotFound(admin.Get(t.Context(), client.ObjectKeyFromObject(im), im)))
}
