package diskcontroller

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/disk-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	sharedsetting "drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

// env is a namespace of a real API server with disk-controller of node-1 in it, with the token of its pod, and the root of a host.
type env struct {
	t               *testing.T
	namespace, root string
	admin           client.WithWatch
	identity        *rest.Config
	period          time.Duration
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, namespace: testkit.Namespace(t), root: t.TempDir(), admin: testkit.Admin(t), period: time.Hour}
	e.identity = testkit.BinaryIdentityOn(t, e.namespace, Owner, "node-1")
	return e
}

// start runs the controller until the test ends, or is cut.
func (e *env) start(at cut.Point) *shell.Process {
	e.t.Helper()
	options := Options{Node: "node-1", Root: e.root, Period: e.period, LookTimeout: time.Minute}
	p := shell.Start(e.t, shell.Options{Identity: e.identity, Namespace: e.namespace, Owner: Owner, Cache: Cached("node-1"), At: at},
		func(ctx context.Context, rt *runkit.Runtime) error {
			settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Catalogue)
			return errors.Join(
				settingcontroller.Setup(rt, settings, sharedsetting.DiskController, "drover_disk_controller_setting_invalid"),
				Setup(ctx, rt, settings, options, prometheus.NewRegistry()))
		})
	e.t.Cleanup(func() {
		p.Stop()
		require.NoError(e.t, p.Wait())
	})
	return p
}

// node makes a Longhorn node with v1 disks at these paths, each under the last part of its path.
func (e *env) node(name string, paths ...string) *v1beta2.Node {
	e.t.Helper()
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}, Spec: v1beta2.NodeSpec{Disks: disksAt(paths...)}}
	require.NoError(e.t, e.admin.Create(e.t.Context(), n))
	return n
}

func disksAt(paths ...string) map[string]v1beta2.DiskSpec {
	disks := map[string]v1beta2.DiskSpec{}
	for _, path := range paths {
		disks[filepath.Base(path)] = v1beta2.DiskSpec{Path: path, DiskType: v1beta2.DiskTypeFilesystem, AllowScheduling: true}
	}
	return disks
}

// directory makes the directory of a disk.
func (e *env) directory(path string) string {
	e.t.Helper()
	made := filepath.Join(e.root, path)
	require.NoError(e.t, os.MkdirAll(made, 0o755))
	return made
}

// await waits until a disk of node-1 has a reason of Ready.
func (e *env) await(key, reason string) v1beta2.DiskStatus {
	e.t.Helper()
	n := testkit.WaitFor(e.t, e.admin, &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "node-1"}},
		"disk "+key+" with "+reason, func(n *v1beta2.Node) bool {
			return conditions.Reason(n.Status.DiskStatus[key].Conditions, v1beta2.DiskReady) == reason
		})
	return n.Status.DiskStatus[key]
}

// config reads the configuration file of a disk.
func (e *env) config(path string) directory.Config {
	e.t.Helper()
	content, err := os.ReadFile(filepath.Join(e.root, path, directory.ConfigName))
	require.NoError(e.t, err)
	var c directory.Config
	require.NoError(e.t, json.Unmarshal(content, &c))
	return c
}

// record writes the status of disks as their writer does.
func (e *env) record(n *v1beta2.Node, disks map[string]any) {
	e.t.Helper()
	require.NoError(e.t, status.MergeStatus(e.t.Context(), e.admin, n, map[string]any{"diskStatus": disks}))
}

func lease(namespace, name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}
