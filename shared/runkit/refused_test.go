package runkit_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

// The API server refuses what breaks a rule of a kind as it refuses what an admission policy forbids: with a sentence that only the writer
// hears.
func TestAWriteThatIsRefusedIsAnEventOfItsObjectOrOwner(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "owner"}, Immutable: new(true)}
	require.NoError(t, admin.Create(t.Context(), owner))
	applied := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "auto-salvage"}, Value: "true"}
	require.NoError(t, admin.Create(t.Context(), applied))
	errs := make(chan error, 4)
	p := startDoing(t, namespace, adminKubeconfig(t), func(ctx context.Context, rt *runkit.Runtime) error {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "Not_A_Name",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}}}
		missing := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "missing"}}
		errs <- rt.Client.Create(ctx, made)
		errs <- rt.Client.Patch(ctx, owner.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"b"}}`)))
		errs <- rt.Client.Delete(ctx, missing)
		errs <- status.Apply(ctx, rt.Client, applied, "tester",
			map[string]any{"conditions": []any{map[string]any{"type": "Applied", "status": "Maybe"}}})
		return nil
	})
	require.True(t, apierrors.IsInvalid(<-errs))
	require.True(t, apierrors.IsInvalid(<-errs))
	require.True(t, apierrors.IsNotFound(<-errs))
	require.True(t, apierrors.IsInvalid(<-errs))
	var notes []string
	require.Eventually(t, func() bool {
		var list eventsv1.EventList
		require.NoError(t, admin.List(t.Context(), &list, client.InNamespace(namespace)))
		notes = nil
		for _, e := range list.Items {
			if e.Reason == runkit.EventWriteRefused && e.Type == corev1.EventTypeWarning &&
				(e.Regarding.UID == owner.UID || e.Regarding.UID == applied.UID) && e.Regarding.ResourceVersion == "" {
				notes = append(notes, e.Note)
			}
		}
		return len(notes) == 3
	}, patience, tick)
	slices.Sort(notes)
	require.Contains(t, notes[0], "The API server refused ApplyStatus of Setting auto-salvage: ")
	require.Contains(t, notes[1], "The API server refused Create of ConfigMap Not_A_Name: ")
	require.Contains(t, notes[2], "The API server refused Patch of ConfigMap owner: ")
	require.Contains(t, notes[2], "It is tried again; change the policy, webhook, quota or Role that refuses it.")
	p.stop()
	require.NoError(t, <-p.ended)
}
