package status_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

func TestAJSONPatchTakesEffectAsAWhole(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}, Data: map[string]string{"a": "1", "b": "2"}}
	require.NoError(t, admin.Create(t.Context(), stored))
	evaluated := stored.DeepCopy()
	data := func() map[string]string {
		var now corev1.ConfigMap
		require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(stored), &now))
		return now.Data
	}
	patch := func(a string) error {
		var p status.JSONPatch
		p.Remove("/data/b")
		p.Test("/data/a", a)
		p.Add("/data/c", "3")
		return p.Write(t.Context(), admin, evaluated)
	}
	err := patch("other")
	require.True(t, apierrors.IsInvalid(err), err)
	require.ErrorContains(t, err, "patching *v1.ConfigMap c")
	require.Equal(t, map[string]string{"a": "1", "b": "2"}, data())

	require.NoError(t, patch("1"))
	require.Equal(t, map[string]string{"a": "1", "c": "3"}, data())
	require.Equal(t, stored, evaluated, "what a cache shares stays as it is")
	require.NoError(t, status.Merge(t.Context(), admin, evaluated, "data", map[string]any{"c": nil}))
	require.Equal(t, map[string]string{"a": "1"}, data())
	require.True(t, status.IsConflict(status.Merge(t.Context(), admin, evaluated, "data", map[string]any{"a": "4"}, status.AtVersion())))
}
