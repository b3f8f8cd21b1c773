// Package crds_test holds the generated custom resource definitions to what people and controllers rely on. The tests
// of the rules themselves, and of what the API server keeps, run on a real API server.
package crds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// newKinds are those that Drover brought: nothing made by Longhorn holds unknown fields there.
var newKinds = map[string]bool{"DataEngineUpgradeManager": true, "NodeDataEngineUpgrade": true}

// definitions reads every generated file of this directory, by its name.
func definitions(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob("longhorn.io_*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		require.NoError(t, yaml.UnmarshalStrict(raw, crd), file)
		out[file] = crd
	}
	return out
}

// schema is the only version's schema.
func schema(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	require.Len(t, crd.Spec.Versions, 1, crd.Name)
	return *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// walk visits every schema below one, itself included, with its path in the way of the documents: spec.disks{}.path.
func walk(path string, s apiextensionsv1.JSONSchemaProps, visit func(path string, s apiextensionsv1.JSONSchemaProps)) {
	visit(path, s)
	for name, property := range s.Properties {
		walk(strings.TrimPrefix(path+"."+name, "."), property, visit)
	}
	if s.Items != nil && s.Items.Schema != nil {
		walk(path+"[]", *s.Items.Schema, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walk(path+"{}", *s.AdditionalProperties.Schema, visit)
	}
}
