package crds_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// parse reads one object of group longhorn.io, written without its apiVersion.
func parse(t *testing.T, namespace, manifest string) *metav1.Unstructured {
	t.Helper()
	object := &metav1.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &object.Object), manifest)
	object.SetAPIVersion("longhorn.io/v1beta2")
	object.SetNamespace(namespace)
	return object
}

// writer creates, and patches what was created.
type writer struct {
	t         *testing.T
	client    client.Client
	namespace string
}

func newWriter(t *testing.T) writer {
	t.Helper()
	return writer{t: t, client: testkit.Admin(t), namespace: testkit.Namespace(t)}
}

func (w writer) create(manifest string) (*metav1.Unstructured, error) {
	w.t.Helper()
	object := parse(w.t, w.namespace, manifest)
	return object, w.client.Create(w.t.Context(), object)
}

// merge is a JSON merge patch written as YAML.
func (w writer) merge(object *metav1.Unstructured, patch string) error {
	w.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(w.t, err)
	return w.client.Patch(w.t.Context(), object, client.RawPatch(types.MergePatchType, raw))
}

func (w writer) mergeStatus(object *metav1.Unstructured, patch string) error {
	w.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(w.t, err)
	return w.client.Status().Patch(w.t.Context(), object, client.RawPatch(types.MergePatchType, raw))
}

// requireRefused: the API server refused it as invalid, and says what to do.
func requireRefused(t *testing.T, err error, says string) {
	t.Helper()
	require.Error(t, err)
	require.ErrorContains(t, err, says)
}
