package command

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"drover.dev/drover/shared/testkit"
)

var update = flag.Bool("update", false, "write the golden outputs instead of comparing them")

func TestMain(m *testing.M) { testkit.Main(m) }

// noon is the time of every test: the objects in testdata have times before it.
var noon = time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)

// world is a namespace with the objects of a scenario, and a kubeconfig for it.
type world struct {
	t                     *testing.T
	namespace, kubeconfig string
}

// newWorld makes a namespace with the objects of files below testdata. A PersistentVolume stays, so its name is used by one test alone.
func newWorld(t *testing.T, files ...string) *world {
	w := &world{t: t, namespace: testkit.Namespace(t), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.NoError(t, testkit.Cluster().AdminKubeconfig(w.kubeconfig))
	for _, file := range files {
		for _, object := range w.objects(file) {
			w.create(object)
		}
	}
	return w
}

func (w *world) objects(file string) []*unstructured.Unstructured {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(w.t, err)
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(bytes.ReplaceAll(text, []byte("NAMESPACE"), []byte(w.namespace))), len(text))
	var out []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(w.t, err, file)
		if object.Object != nil {
			out = append(out, object)
		}
	}
}

// create stores an object and its status, as two writers do.
func (w *world) create(object *unstructured.Unstructured) {
	w.t.Helper()
	admin := testkit.Admin(w.t)
	if object.GetKind() != "PersistentVolume" {
		object.SetNamespace(w.namespace)
	}
	status, hasStatus := object.Object["status"]
	require.NoError(w.t, admin.Create(w.t.Context(), object), "%s %s", object.GetKind(), object.GetName())
	if hasStatus {
		object.Object["status"] = status
		require.NoError(w.t, admin.Status().Update(w.t.Context(), object), "%s %s", object.GetKind(), object.GetName())
	}
}

// result is what one command line did.
type result struct {
	out, err string
	code     int
}

// run runs a command line in the world's namespace.
func (w *world) run(args ...string) result {
	return w.runBare(append(args, "-n", w.namespace)...)
}

// runBare runs a command line without -n.
func (w *world) runBare(args ...string) result {
	var out, errors bytes.Buffer
	frame := NewFrame(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errors})
	frame.Now = func() time.Time { return noon }
	code := frame.Run(w.t.Context(), "0.0.0-test", append(args, "--kubeconfig", w.kubeconfig))
	return result{out: out.String(), err: errors.String(), code: code}
}

// golden compares a text with a file below testdata, where the namespace has a fixed name.
func (w *world) golden(file, text string) {
	w.t.Helper()
	text = strings.ReplaceAll(text, w.namespace, "NAMESPACE")
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(w.t, os.WriteFile(path, []byte(text), 0o644)) // read by all, like any source
	}
	want, err := os.ReadFile(path)
	require.NoError(w.t, err)
	require.Equal(w.t, string(want), text, "%s; after a wanted change run the test with -update", file)
}
