package cut_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestWhatIsRefusedForItsVersionIsNoWrite(t *testing.T) {
	c := cut.New(testkit.Admin(t), cut.Point{Write: 2, After: true}, nil)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: testkit.Namespace(t), Name: "a"}}
	require.NoError(t, c.Create(t.Context(), object))
	old := object.DeepCopy()
	old.ResourceVersion = "1"
	require.True(t, apierrors.IsConflict(c.Update(t.Context(), old)))
	require.Len(t, c.Writes(), 1)
	object.Data = map[string]string{"a": "b"}
	require.ErrorIs(t, c.Update(t.Context(), object), cut.ErrCut, "the second write is the one that arrives")
	require.Len(t, c.Writes(), 2)
}

func TestTheCutWriteArrivesOnlyWhenItIsCutAfterwards(t *testing.T) {
	for _, point := range cut.Points(2) {
		t.Run(point.String(), func(t *testing.T) {
			namespace := testkit.Namespace(t)
			cuts := 0
			c := cut.New(testkit.Admin(t), point, func() { cuts++ })
			var errs []error
			for _, name := range []string{"a", "b", "c"} {
				object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
				errs = append(errs, c.Create(t.Context(), object))
			}
			arrived := point.Write - 1
			if point.After {
				arrived++
			}
			var list corev1.ConfigMapList
			require.NoError(t, testkit.Admin(t).List(t.Context(), &list, client.InNamespace(namespace)))
			require.Len(t, list.Items, arrived)
			require.Len(t, c.Writes(), arrived)
			require.Equal(t, 1, cuts)
			for i, err := range errs {
				if i < point.Write-1 {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, cut.ErrCut, "from the cut on nothing is answered")
				}
			}
		})
	}
}

func TestAShareAlternatesBeforeAndAfterAWrite(t *testing.T) {
	require.Equal(t, cut.Points(3), cut.Share(cut.Points(3), 1))
	require.Equal(t, []cut.Point{{Write: 1}, {Write: 2, After: true}, {Write: 4}, {Write: 5, After: true}}, cut.Share(cut.Points(5), 3))
	require.Empty(t, cut.Share(nil, 3))
}
