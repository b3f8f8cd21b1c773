package kube_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

func update(before, after client.Object) event.UpdateEvent {
	return event.UpdateEvent{ObjectOld: before, ObjectNew: after}
}

func TestAnUpdatePassesWhereFactsOrLifeChange(t *testing.T) {
	type facts struct{ node string }
	for name, p := range map[string]predicate.Predicate{
		"comparable": kube.OnChange(func(r *v1beta2.Replica) facts { return facts{r.Spec.NodeID} }),
		"deep":       kube.OnDeepChange(func(r *v1beta2.Replica) any { return []any{r.Spec.NodeID, r.Labels} }),
		"function":   kube.OnDifference(func(before, after *v1beta2.Replica) bool { return before.Spec.NodeID != after.Spec.NodeID }),
	} {
		t.Run(name, func(t *testing.T) {
			before := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "1", ResourceVersion: "1"}}
			passes := func(change func(*v1beta2.Replica)) bool {
				after := before.DeepCopy()
				after.ResourceVersion = "2"
				change(after)
				return p.Update(update(before, after))
			}
			require.False(t, passes(func(r *v1beta2.Replica) { r.Spec.FailedAt = "now" }), "no fact")
			require.False(t, passes(func(r *v1beta2.Replica) { r.Labels = map[string]string{} }), "an absent map equals an empty one")
			require.True(t, passes(func(r *v1beta2.Replica) { r.Spec.NodeID = "n" }))
			require.True(t, passes(func(r *v1beta2.Replica) { r.DeletionTimestamp = &metav1.Time{} }), "its deletion begins")
			require.True(t, passes(func(r *v1beta2.Replica) { r.UID = "2" }), "another object of the same name")
			require.True(t, p.Create(event.CreateEvent{Object: before}))
			require.True(t, p.Delete(event.DeleteEvent{Object: before}))
		})
	}
}

func TestAnyChangeButTheVersionPasses(t *testing.T) {
	p := kube.OnAnyChange[corev1.Pod]()
	before := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", ResourceVersion: "1"}}
	after := before.DeepCopy()
	after.ResourceVersion = "2"
	require.False(t, p.Update(update(before, after)))
	require.Equal(t, "1", before.ResourceVersion, "the cache shares the objects: they stay as they are")
	require.Equal(t, "2", after.ResourceVersion)
	after.Spec.NodeName = "n"
	require.True(t, p.Update(update(before, after)))
}

func TestLifeEndAndBeginning(t *testing.T) {
	pod, leaving := &corev1.Pod{}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}
	running := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}

	require.False(t, kube.OnLife().Update(update(pod, running)))
	require.True(t, kube.OnLife().Update(update(pod, leaving)))
	require.True(t, kube.OnLife().Create(event.CreateEvent{Object: pod}))

	require.False(t, kube.OnEnd().Create(event.CreateEvent{Object: pod}))
	require.False(t, kube.OnEnd().Update(update(pod, leaving)))
	require.False(t, kube.OnEnd().Generic(event.GenericEvent{Object: pod}))
	require.True(t, kube.OnEnd().Delete(event.DeleteEvent{Object: leaving}))

	require.False(t, kube.OnceRunning().Create(event.CreateEvent{Object: pod, IsInInitialList: true}))
	require.True(t, kube.OnceRunning().Create(event.CreateEvent{Object: pod}))
	require.True(t, kube.OnceRunning().Update(update(pod, pod)))

	runs := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
	require.False(t, kube.CreatedIf(runs).Create(event.CreateEvent{Object: pod}))
	require.True(t, kube.CreatedIf(runs).Create(event.CreateEvent{Object: running}))
	require.True(t, kube.CreatedIf(runs).Update(update(pod, pod)))
	require.False(t, kube.NotCreated().Create(event.CreateEvent{Object: running}))
	require.True(t, kube.NotCreated().Update(update(pod, pod)))
	require.True(t, kube.NotCreated().Delete(event.DeleteEvent{Object: pod}))
	require.True(t, kube.If(runs).Update(update(pod, running)))
	require.False(t, kube.If(runs).Delete(event.DeleteEvent{Object: pod}))
}

func TestOnlyANewRequestPasses(t *testing.T) {
	p := kube.OnRequest(func(pod *corev1.Pod) string { return pod.Spec.NodeName })
	none := &corev1.Pod{}
	one, two := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "one"}}, &corev1.Pod{Spec: corev1.PodSpec{NodeName: "two"}}
	require.False(t, p.Create(event.CreateEvent{Object: none}))
	require.True(t, p.Create(event.CreateEvent{Object: one}))
	require.True(t, p.Update(update(none, one)))
	require.True(t, p.Update(update(one, two)), "another request")
	require.False(t, p.Update(update(one, one)), "the same request")
	require.False(t, p.Update(update(one, none)), "the request has ended")
	require.False(t, p.Delete(event.DeleteEvent{Object: one}))
}
