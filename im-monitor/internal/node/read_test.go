package node

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func TestWhatIsReadOfAKubernetesNode(t *testing.T) {
	require.Nil(t, FromKubernetes(nil), "it is proven not to exist")
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"disk": "ssd"}}, Spec: corev1.NodeSpec{Unschedulable: true}}
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
	want := &Kubernetes{Cordoned: true, Labels: n.Labels, AllocatableMilliCPU: 1500, NotReadyMessage: "no Ready condition was reported yet"}
	require.Equal(t, want, FromKubernetes(n))
	require.True(t, FromKubernetes(n).Down(), "no one reports that it is ready")
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
		{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "silence"}}
	require.Equal(t, "NodeStatusUnknown: silence", FromKubernetes(n).NotReadyMessage)
	require.True(t, FromKubernetes(n).Down())
	n.Status.Conditions[1].Status = corev1.ConditionTrue
	require.False(t, FromKubernetes(n).Down())
	n.Status.Conditions[0], n.Status.Conditions[1] = n.Status.Conditions[1], n.Status.Conditions[0]
	n.Status.Conditions[1].Status = corev1.ConditionFalse
	require.False(t, FromKubernetes(n).Down(), "no other condition makes it not ready")
	n.Spec.Unschedulable = false
	require.False(t, FromKubernetes(n).Cordoned)
}

func TestWhatIsReadOfAnInstanceManager(t *testing.T) {
	im := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: "im-1"}}
	im.Status.CurrentState = v1beta2.InstanceManagerStateStarting
	require.Equal(t, Manager{Name: "im-1", State: v1beta2.InstanceManagerStateStarting, Answers: v1beta2.ConditionUnknown},
		FromInstanceManager(im))
	with := func(kind string, status v1beta2.ConditionStatus, reason string) {
		im.Status.Conditions = conditions.Set(im.Status.Conditions, v1beta2.Condition{Type: kind, Status: status, Reason: reason}, now)
	}
	with(v1beta2.InstanceManagerReachable, v1beta2.ConditionFalse, "")
	with(v1beta2.InstanceManagerPodReady, v1beta2.ConditionFalse, v1beta2.ReasonPodMissing)
	require.Equal(t, v1beta2.ConditionFalse, FromInstanceManager(im).Answers)
	require.False(t, FromInstanceManager(im).HasPod)
	with(v1beta2.InstanceManagerPodReady, v1beta2.ConditionFalse, v1beta2.ReasonPodBlocked)
	require.False(t, FromInstanceManager(im).HasPod, "it waits for another pod to end")
	with(v1beta2.InstanceManagerPodReady, v1beta2.ConditionTrue, "")
	require.True(t, FromInstanceManager(im).HasPod)
}

func TestWhichInstanceManagersANodeRuns(t *testing.T) {
	s := setting.Defaults()
	s.V1, s.V2 = true, true
	k := &Kubernetes{Labels: map[string]string{}}
	require.True(t, k.Runs(v1beta2.DataEngineV1, s))
	require.True(t, k.Runs(v1beta2.DataEngineV2, s))
	k.Labels[LabelDisableV2] = "true"
	require.False(t, k.Runs(v1beta2.DataEngineV2, s))
	require.True(t, k.Runs(v1beta2.DataEngineV1, s), "the label is about v2 only")
	s.NodeSelector = map[string]string{"disk": "ssd"}
	require.False(t, k.Runs(v1beta2.DataEngineV1, s))
	require.False(t, (*Kubernetes)(nil).Runs(v1beta2.DataEngineV1, s))
}

func TestWhyANodeHasNoPod(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*World)
		says   string
	}{
		"no image":       {func(w *World) { w.Settings.Image = "" }, "set the Setting " + setting.DefaultInstanceManagerImage},
		"no data engine": {func(w *World) { w.Settings.V1, w.Settings.V2 = false, false }, "no data engine is enabled on it"},
		"v1 disabled, v2 kept off by the label": {func(w *World) {
			w.Settings.V1, w.Settings.V2 = false, true
			w.Kubernetes.Labels[LabelDisableV2] = "true"
		}, "see the Settings v1-data-engine, v2-data-engine and system-managed-components-node-selector."},
		"v2 alone": {func(w *World) { w.Settings.V1, w.Settings.V2 = false, true }, "one is about to be made"},
		"not yet":  {func(*World) {}, "one is about to be made"},
	} {
		t.Run(name, func(t *testing.T) {
			ready := conditions.Get(Decide(world(noManagers, c.change)).Status.Conditions, v1beta2.NodeReady)
			require.Equal(t, v1beta2.ReasonManagerPodMissing, ready.Reason)
			require.Contains(t, ready.Message, c.says)
		})
	}
}
