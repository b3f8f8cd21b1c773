package crds_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

// A cluster whose objects were made under definitions without our rules takes over ours: nothing that is there is lost,
// and nothing becomes impossible to update, relabel or delete, however it breaks the rules.
func TestObjectsOfAnOlderClusterStayUsableUnderOurDefinitions(t *testing.T) {
	w, takeOver := olderCluster(t)
	objects := longhornObjects(t, w.namespace)
	before := map[string]map[string]any{}
	for _, object := range objects {
		before[object.GetKind()] = object.DeepCopy().Object
		require.NoError(t, w.store(object), object.GetKind())
	}
	takeOver()

	for _, object := range objects {
		t.Run(object.GetKind(), func(t *testing.T) {
			w := writer{t: t, client: w.client, namespace: w.namespace}
			kind := object.GetKind()
			w.writeLikeAController(object, kind != "Setting", kind != "Setting" && kind != "Orphan")
			for _, part := range []string{"spec", "status", "value"} {
				requireKept(t, part, before[kind][part], object.Object[part])
			}
			requireKept(t, "metadata.labels", before[kind]["metadata"].(map[string]any)["labels"],
				object.Object["metadata"].(map[string]any)["labels"])
			object.SetFinalizers(nil)
			require.NoError(t, w.client.Update(t.Context(), object))
			require.NoError(t, w.client.Delete(t.Context(), object))
		})
	}
}

// olderCluster has the definitions without our rules until it is taken over.
func olderCluster(t *testing.T) (w writer, takeOver func()) {
	t.Helper()
	old, err := cluster.Start(t.Context(), cluster.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, old.Stop()) })
	require.NoError(t, old.InstallCRDs(t.Context(), definitionsWithoutRules(t)))
	w = writer{t: t, client: testkit.Client(t, old.AdminConfig()), namespace: "default"}
	return w, func() {
		t.Helper()
		require.NoError(t, old.InstallCRDs(t.Context(), "."))
		w.waitForOurRules()
	}
}

// waitForOurRules returns once the API server uses the new definitions, which it learns by a watch.
func (w writer) waitForOurRules() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		for _, manifest := range []string{
			"{kind: Orphan, metadata: {name: probe}, spec: {orphanType: none}}",
			"{kind: Setting, metadata: {name: auto-salvage}, value: probe}",
			"{kind: VolumeAttachment, metadata: {name: probe}, spec: {volume: other}}",
			"{kind: Snapshot, metadata: {name: probe}, spec: {}}",
			"{kind: Volume, metadata: {name: probe}, spec: {size: probe}}",
		} {
			if w.client.Create(w.t.Context(), parse(w.t, w.namespace, manifest), client.DryRunAll) == nil {
				return false
			}
		}
		return true
	}, waitTimeout, waitPoll)
}

// definitionsWithoutRules writes our definitions without anything that refuses a value, as the loosest of the older ones.
func definitionsWithoutRules(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for file, crd := range definitions(t) {
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		loosen(root)
		raw, err := yaml.Marshal(crd)
		require.NoError(t, err)
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(raw, &object.Object))
		unstructured.RemoveNestedField(object.Object, "status")
		raw, err = yaml.Marshal(object.Object)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), raw, 0o600))
	}
	return dir
}

func loosen(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations, s.Enum, s.Required, s.Pattern = nil, nil, nil, ""
	s.MinLength, s.MaxLength, s.MaxItems, s.MaxProperties, s.Minimum, s.Maximum = nil, nil, nil, nil, nil, nil
	for name, property := range s.Properties {
		loosen(&property)
		s.Properties[name] = property
	}
	if s.XListType != nil && *s.XListType == "map" {
		return // the keys of a map are required
	}
	if s.Items != nil && s.Items.Schema != nil {
		loosen(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		loosen(s.AdditionalProperties.Schema)
	}
}
