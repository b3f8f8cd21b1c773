package crds_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json" // reads whole numbers as int64
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/testkit"
)

const (
	waitTimeout = 30 * time.Second
	waitPoll    = testkit.Poll
)

func TestMain(m *testing.M) { testkit.Main(m) }

// parse reads one object of group longhorn.io, written without its apiVersion.
func parse(t *testing.T, namespace, manifest string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	require.NoError(t, err, manifest)
	require.NoError(t, json.Unmarshal(raw, &object.Object), manifest)
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

func (w writer) create(manifest string) (*unstructured.Unstructured, error) {
	w.t.Helper()
	object := parse(w.t, w.namespace, manifest)
	return object, w.client.Create(w.t.Context(), object)
}

// merge is a JSON merge patch written as YAML.
func (w writer) merge(object *unstructured.Unstructured, patch string) error {
	w.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(w.t, err)
	return w.client.Patch(w.t.Context(), object, client.RawPatch(types.MergePatchType, raw))
}

func (w writer) mergeStatus(object *unstructured.Unstructured, patch string) error {
	w.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(w.t, err)
	return w.client.Status().Patch(w.t.Context(), object, client.RawPatch(types.MergePatchType, raw))
}

// requireRefused: the API server refused it as invalid, and states what to do.
func requireRefused(t *testing.T, err error, shows string) {
	t.Helper()
	require.Error(t, err)
	require.ErrorContains(t, err, shows)
}
