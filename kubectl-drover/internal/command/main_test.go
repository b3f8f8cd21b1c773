package command

import (
	"bytes"
	"context"
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
	"drover.dev/drover/shared/testkit/cluster"
	"drover.dev/drover/shared/testkit/kubelet"
)

var update = flag.Bool("update", false, "write the golden outputs instead of comparing them")

func TestMain(m *testing.M) {
	testkit.Main(m, testkit.WithClusterOptions(cluster.Options{Audit: true, Dial: kubelets.Dial}))
}

// kubelets answer for the pods of the control plane.
var kubelets = kubelet.New()

// discarded are streams that keep nothing.
func discarded() genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
}

// noon is the time of every test: the objects in testdata have times before it.
var noon = time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)

// scenario is a namespace with objects, and a kubeconfig for it.
type scenario struct {
	t                     *testing.T
	namespace, kubeconfig string
	// within bounds a request to a pod; nil: as the plugin does.
	within func(context.Context) (context.Context, context.CancelFunc)
}

// newScenario makes a namespace with the objects of files below testdata. A PersistentVolume stays, so its name is used by one test alone.
func newScenario(t *testing.T, files ...string) *scenario {
	s := &scenario{t: t, namespace: testkit.Namespace(t), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.NoError(t, testkit.Cluster().AdminKubeconfig(s.kubeconfig))
	for _, file := range files {
		for _, object := range s.objects(file) {
			s.create(object)
		}
	}
	return s
}

func (s *scenario) objects(file string) []*unstructured.Unstructured {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(s.t, err)
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(bytes.ReplaceAll(text, []byte("NAMESPACE"), []byte(s.namespace))), len(text))
	var out []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(s.t, err, file)
		if object.Object != nil {
			out = append(out, object)
		}
	}
}

// create stores an object and its status, as two writers do.
func (s *scenario) create(object *unstructured.Unstructured) {
	s.t.Helper()
	admin := testkit.Admin(s.t)
	if object.GetKind() != "PersistentVolume" {
		object.SetNamespace(s.namespace)
	}
	status, hasStatus := object.Object["status"]
	require.NoError(s.t, admin.Create(s.t.Context(), object), "%s %s", object.GetKind(), object.GetName())
	if hasStatus {
		object.Object["status"] = status
		require.NoError(s.t, admin.Status().Update(s.t.Context(), object), "%s %s", object.GetKind(), object.GetName())
	}
}

// result is what one command line did.
type result struct {
	out, err string
	code     int
}

// run runs a command line in the namespace.
func (s *scenario) run(args ...string) result {
	return s.runBare(append(args, "-n", s.namespace)...)
}

// runBare runs a command line without -n.
func (s *scenario) runBare(args ...string) result {
	s.t.Setenv("KUBECONFIG", s.kubeconfig)
	return s.runRaw(args...)
}

// runRaw runs a command line as it is.
func (s *scenario) runRaw(args ...string) result {
	var out, errors bytes.Buffer
	frame := NewFrame(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errors})
	frame.Now = func() time.Time { return noon }
	if s.within != nil {
		frame.Within = s.within
	}
	code := frame.Run(s.t.Context(), "0.0.0-test", args)
	return result{out: out.String(), err: errors.String(), code: code}
}

// golden compares a text with a file below testdata, where the namespace has a fixed name.
func (s *scenario) golden(file, text string) {
	s.t.Helper()
	text = strings.ReplaceAll(text, s.namespace, "NAMESPACE")
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(s.t, os.WriteFile(path, []byte(text), 0o644)) // read by all, like any source
	}
	want, err := os.ReadFile(path)
	require.NoError(s.t, err)
	require.Equal(s.t, string(want), text, "%s; after a wanted change run the test with -update", file)
}
