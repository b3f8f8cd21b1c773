package node

import (
	"testing"
	"time"

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

// The restart of a kubelet is no outage of its node: everything on it runs, and writes continue. A silent kubelet, a declaration of a
// person and a clock that is far ahead are not waited for.
func TestAKubeletThatReportsItselfNotReadyIsWaitedForBeforeItsNodeIsDown(t *testing.T) {
	const pause = v1beta2.KubeletPause
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		ready  corev1.ConditionStatus
		since  time.Duration
		taints []corev1.Taint
		down   bool
		holds  time.Duration
	}{
		"it restarts":                       {corev1.ConditionFalse, -time.Second, nil, false, pause - time.Second},
		"it has restarted this moment":      {corev1.ConditionFalse, 0, nil, false, pause},
		"its clock is a little ahead":       {corev1.ConditionFalse, 10 * time.Second, nil, false, pause + 10*time.Second},
		"its clock is far ahead":            {corev1.ConditionFalse, pause + time.Second, nil, true, 0},
		"the pause is over":                 {corev1.ConditionFalse, -pause, nil, true, 0},
		"it is not ready for long":          {corev1.ConditionFalse, -time.Hour, nil, true, 0},
		"Kubernetes does not hear of it":    {corev1.ConditionUnknown, -time.Second, nil, true, 0},
		"a person declared the machine off": {corev1.ConditionFalse, -time.Second, []corev1.Taint{{Key: corev1.TaintNodeOutOfService}}, true, 0},
		"it is ready":                       {corev1.ConditionTrue, -time.Second, nil, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := &corev1.Node{Spec: corev1.NodeSpec{Taints: c.taints}}
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: c.ready,
				LastTransitionTime: metav1.NewTime(now.Add(c.since))}}
			before := FromKubernetes(n)
			counts, holds := before.At(now)
			require.Equal(t, c.down, counts.Down())
			require.Equal(t, c.holds, holds)
			require.Equal(t, FromKubernetes(n), before, "what is compared for changes stays as Kubernetes reports it")
			if holds > 0 {
				counts, _ = before.At(now.Add(holds))
				require.True(t, counts.Down(), "the wait ends")
			}
		})
	}
	gone, holds := (*Kubernetes)(nil).At(now)
	require.True(t, gone.Down())
	require.Zero(t, holds)
	unknown, holds := FromKubernetes(&corev1.Node{}).At(now)
	require.True(t, unknown.Down())
	require.Zero(t, holds)
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
