package shelltest

import (
	"context"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// Set writes a Setting.
func (e *Env) Set(name, value string) {
	e.t.Helper()
	key := metav1.ObjectMeta{Namespace: e.Namespace, Name: name}
	err := e.Admin.Create(e.t.Context(), &v1beta2.Setting{ObjectMeta: key, Value: value})
	if err == nil {
		return
	}
	var s v1beta2.Setting
	require.NoError(e.t, e.Admin.Get(e.t.Context(), client.ObjectKey{Namespace: e.Namespace, Name: name}, &s), "after %v", err)
	s.Value = value
	require.NoError(e.t, e.Admin.Update(e.t.Context(), &s))
}

// KubernetesNode makes a ready Kubernetes node that is gone when the test ends.
func (e *Env) KubernetesNode(name string, labels map[string]string) {
	e.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	require.NoError(e.t, e.Admin.Create(e.t.Context(), n))
	e.t.Cleanup(func() {
		err := e.Admin.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if client.IgnoreNotFound(err) != nil {
			e.t.Errorf("deleting Kubernetes node %s: %v", name, err)
		}
	})
	e.NodeReady(name, corev1.ConditionTrue)
}

// NodeReady sets the Ready condition of a Kubernetes node, as its kubelet or the node controller would.
func (e *Env) NodeReady(name string, ready corev1.ConditionStatus) {
	e.t.Helper()
	var n corev1.Node
	require.NoError(e.t, e.Admin.Get(e.t.Context(), client.ObjectKey{Name: name}, &n))
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "Test", Message: "set by the test"}}
	require.NoError(e.t, e.Admin.Status().Update(e.t.Context(), &n))
}

// Get reads an object of the namespace; false where there is none.
func (e *Env) Get(name string, into client.Object) bool {
	e.t.Helper()
	err := e.Admin.Get(e.t.Context(), client.ObjectKey{Namespace: e.Namespace, Name: name}, into)
	require.NoError(e.t, client.IgnoreNotFound(err))
	return err == nil
}

// Eventually waits until the check holds.
func (e *Env) Eventually(check func() bool, what string, args ...any) {
	e.t.Helper()
	require.Eventually(e.t, check, Patience, testkit.Poll, append([]any{what}, args...)...)
}
