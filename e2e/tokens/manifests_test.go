package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

// manifests are the objects of deploy directories, with the files that they stand in.
func manifests(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	root, err := cluster.ModuleRoot()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "*", "deploy", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string][]*unstructured.Unstructured{}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content)); ; {
			object := &unstructured.Unstructured{}
			err := decoder.Decode(object)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, file)
			out[file] = append(out[file], object)
		}
	}
	return out
}

// What a user applies has no field that the API server does not know, and no value that it refuses.
func TestEveryManifestIsAcceptedByAnAPIServer(t *testing.T) {
	admin := testkit.Admin(t)
	require.NoError(t, client.IgnoreAlreadyExists(admin.Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "longhorn-system"}})))
	for file, objects := range manifests(t) {
		for _, object := range objects {
			err := admin.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
			require.NoError(t, client.IgnoreAlreadyExists(err), "%s: %s %s", file, object.GetKind(), object.GetName())
		}
	}
}

// N2: a cluster-wide name such as snapshot-controller is another program's, whose rights would be replaced.
func TestClusterWideNamesCarryDrover(t *testing.T) {
	admin := testkit.Admin(t)
	for file, objects := range manifests(t) {
		for _, object := range objects {
			namespaced, err := admin.IsObjectNamespaced(object)
			require.NoError(t, err)
			if namespaced {
				require.Equal(t, "longhorn-system", object.GetNamespace(), "%s: %s %s", file, object.GetKind(), object.GetName())
				continue
			}
			require.Regexp(t, "^drover-", object.GetName(), "%s: %s", file, object.GetKind())
		}
	}
}
