package cluster

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: samples.test.drover.dev}
spec:
  group: test.drover.dev
  scope: Namespaced
  names: {kind: Sample, plural: samples}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, description: first}}}
`

func TestClustersBeginWithTheDefinitionsAsTheyAre(t *testing.T) {
	keepDataApart(t)
	crds, description := t.TempDir(), "first"
	for range 2 {
		for range 2 { // the first makes the data, the second begins with it
			manifest := strings.Replace(definition, "first", description, 1)
			require.NoError(t, os.WriteFile(filepath.Join(crds, "samples.yaml"), []byte(manifest), 0o600))
			c, err := Start(t.Context(), Options{CRDs: crds})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, c.Stop()) })
			clients, err := apiextensions.NewForConfig(c.AdminConfig())
			require.NoError(t, err)
			crd, err := clients.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), "samples.test.drover.dev", metav1.GetOptions{})
			require.NoError(t, err)
			require.True(t, established(crd))
			require.Equal(t, description, crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Description)
			_, err = clients.RESTClient().Get().AbsPath("/apis/test.drover.dev/v1/samples").DoRaw(t.Context())
			require.NoError(t, err, "it is served at once")
		}
		description = "second"
	}
}

func TestPreparedDataIsKeptByDefinitionAndDroppedUnused(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	require.NoError(t, os.WriteFile(program, nil, 0o700))
	binaries := Binaries{Etcd: []string{program}, APIServer: []string{program}}
	one, err := preparedKey(binaries, map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	require.NoError(t, err)
	other, err := preparedKey(binaries, map[string][]byte{"a": []byte("1"), "b": []byte("3")})
	require.NoError(t, err)
	require.NotEqual(t, one, other)
	require.NoError(t, os.WriteFile(program, []byte("newer"), 0o700))
	newer, err := preparedKey(binaries, map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	require.NoError(t, err)
	require.NotEqual(t, one, newer, "another server makes data of its own")

	root := t.TempDir()
	for name, age := range map[string]time.Duration{one: unusedFor + time.Hour, other: time.Hour} {
		dir := filepath.Join(root, preparedPrefix+name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chtimes(dir, time.Now().Add(-age), time.Now().Add(-age)))
	}
	dropUnused(root)
	require.NoDirExists(t, filepath.Join(root, preparedPrefix+one))
	require.DirExists(t, filepath.Join(root, preparedPrefix+other))
}

func TestDefinitionsThatCannotBeReadStartNothing(t *testing.T) {
	_, err := Start(t.Context(), Options{CRDs: t.TempDir(), Progress: io.Discard})
	require.ErrorContains(t, err, "no CustomResourceDefinition found")
}

// keepDataApart lets the test have a cache of its own, with the servers of the usual one.
func keepDataApart(t *testing.T) {
	t.Helper()
	binaries, err := Locate(t.Context(), false, os.Stderr)
	require.NoError(t, err)
	t.Setenv(assetsVariable, filepath.Dir(binaries.Etcd[0]))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}
