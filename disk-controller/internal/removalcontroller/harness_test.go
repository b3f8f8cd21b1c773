package removalcontroller

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/disk-controller/internal/diskcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	diskUUID = "aaaa1111-0000-4000-8000-000000000001"
	path     = "/data"
)

// env is a namespace of a real API server with the removals of node-1 in it, with the token of its pod, and the root of a host with one
// disk. The test plays attach-controller and im-monitor.
type env struct {
	t               *testing.T
	namespace, root string
	admin           client.WithWatch
	identity        *rest.Config
	period          time.Duration
	interrupt       directory.Interrupt
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, namespace: testkit.Namespace(t), root: t.TempDir(), admin: testkit.Admin(t), period: 50 * time.Millisecond}
	e.identity = testkit.BinaryIdentityOn(t, e.namespace, diskcontroller.Owner, "node-1")
	require.NoError(t, os.MkdirAll(e.in("replicas"), 0o755))
	require.NoError(t, os.WriteFile(e.in(directory.ConfigName), []byte(`{"diskName":"data","diskUUID":"`+diskUUID+`"}`), 0o600))
	e.node("node-1", diskUUID)
	return e
}

// in returns a path on the disk.
func (e *env) in(name string) string { return filepath.Join(e.root, path, name) }

// start runs the controller until the test ends, or is cut.
func (e *env) start(at cut.Point) *shell.Process {
	e.t.Helper()
	root := directory.At(e.root)
	if e.interrupt != nil {
		root = root.Interrupted(e.interrupt)
	}
	options := Options{Node: "node-1", Root: root, Period: e.period, Timeout: time.Minute}
	p := shell.Start(e.t, shell.Options{Identity: e.identity, Namespace: e.namespace, Owner: diskcontroller.Owner,
		Cache: diskcontroller.Cached("node-1"), At: at},
		func(ctx context.Context, rt *runkit.Runtime) error {
			return Setup(ctx, rt, options, prometheus.NewRegistry())
		})
	e.t.Cleanup(func() {
		p.Stop()
		require.NoError(e.t, p.Wait())
	})
	return p
}

func (e *env) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: e.namespace, Name: name}
}

// node makes a Longhorn Node with one ready disk.
func (e *env) node(name, uuid string) *v1beta2.Node {
	e.t.Helper()
	n := &v1beta2.Node{ObjectMeta: e.meta(name), Spec: v1beta2.NodeSpec{Disks: map[string]v1beta2.DiskSpec{
		"data": {Path: path, DiskType: v1beta2.DiskTypeFilesystem, AllowScheduling: true}}}}
	require.NoError(e.t, e.admin.Create(e.t.Context(), n))
	ready := []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}
	e.status(n, map[string]any{"conditions": status.ConditionsField(ready)})
	e.disk(n, uuid, v1beta2.ConditionTrue)
	return n
}

// disk writes the status of a node's disk.
func (e *env) disk(n *v1beta2.Node, uuid string, ready v1beta2.ConditionStatus) {
	e.t.Helper()
	e.status(n, map[string]any{"diskStatus": map[string]any{"data": map[string]any{
		"diskType": "filesystem", "diskUUID": uuid, "diskPath": path,
		"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.DiskReady, Status: ready, Reason: "Reason" + string(ready)}})}}})
}

func (e *env) status(o client.Object, fields map[string]any) {
	e.t.Helper()
	require.NoError(e.t, status.MergeStatus(e.t.Context(), e.admin, o, fields))
}

// volume makes a Volume that has a finalizer.
func (e *env) volume(name string) *v1beta2.Volume {
	e.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: e.meta(name), Spec: v1beta2.VolumeSpec{Size: 1 << 30, DataEngine: "v1", NumberOfReplicas: 2}}
	v.Finalizers = []string{v1beta2.Finalizer}
	require.NoError(e.t, e.admin.Create(e.t.Context(), v))
	return v
}

// replica makes a stopped v1 Replica of a volume on node-1 with its directory.
func (e *env) replica(v *v1beta2.Volume, name string, changes ...func(*v1beta2.Replica)) *v1beta2.Replica {
	e.t.Helper()
	r := &v1beta2.Replica{ObjectMeta: e.meta(name), Spec: v1beta2.ReplicaSpec{VolumeName: v.Name, VolumeSize: 1 << 30, NodeID: "node-1",
		DataEngine: "v1", DesireState: v1beta2.InstanceStateStopped, DiskID: diskUUID, DiskPath: path, DataDirectoryName: name + "-0a1b2c3d",
		Active: true}}
	r.Finalizers = []string{v1beta2.Finalizer}
	r.OwnerReferences = []metav1.OwnerReference{v1beta2.OwnedBy(v)}
	for _, change := range changes {
		change(r)
	}
	require.NoError(e.t, e.admin.Create(e.t.Context(), r))
	e.status(r, map[string]any{"currentState": v1beta2.InstanceStateStopped})
	if name := r.Spec.DataDirectoryName; name != "" && !strings.Contains(name, "/") {
		require.NoError(e.t, os.MkdirAll(e.in("replicas/"+name), 0o700))
		for _, file := range []string{"volume.meta", "volume-head-000.img"} {
			require.NoError(e.t, os.WriteFile(e.in("replicas/"+name+"/"+file), []byte("data"), 0o600))
		}
	}
	return r
}

func (e *env) delete(objects ...client.Object) {
	e.t.Helper()
	for _, o := range objects {
		require.NoError(e.t, e.admin.Delete(e.t.Context(), o))
	}
}

// approve plays attach-controller, gone plays im-monitor.
func (e *env) approve(r *v1beta2.Replica, reason string) {
	e.t.Helper()
	e.apply(r, "attach-controller.replicas", v1beta2.Condition{Type: v1beta2.ReplicaDataRemovalApproved, Status: v1beta2.ConditionTrue,
		Reason: reason})
}

func (e *env) withdraw(r *v1beta2.Replica) {
	e.t.Helper()
	e.apply(r, "attach-controller.replicas", v1beta2.Condition{Type: v1beta2.ReplicaDataRemovalApproved, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonNoHealthyCopy})
}

func (e *env) gone(r *v1beta2.Replica) {
	e.t.Helper()
	now := &v1beta2.Replica{}
	require.NoError(e.t, e.admin.Get(e.t.Context(), client.ObjectKeyFromObject(r), now))
	e.apply(r, "im-monitor.removal", v1beta2.Condition{Type: v1beta2.ReplicaInstanceGone, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonInstanceGone, ObservedGeneration: now.Generation})
}

func (e *env) apply(r *v1beta2.Replica, owner string, c v1beta2.Condition) {
	e.t.Helper()
	fields := map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{c})}
	require.NoError(e.t, status.Apply(e.t.Context(), e.admin, r, owner, fields))
}

// await waits until DataRemoved has a reason.
func (e *env) await(r *v1beta2.Replica, reason string) *v1beta2.Condition {
	e.t.Helper()
	got := testkit.WaitFor(e.t, e.admin, r, "DataRemoved with "+reason, func(r *v1beta2.Replica) bool {
		return conditions.Reason(r.Status.Conditions, v1beta2.ReplicaDataRemoved) == reason
	})
	return conditions.Get(got.Status.Conditions, v1beta2.ReplicaDataRemoved)
}

// names returns the directories of replicas.
func (e *env) names() (out []string) {
	e.t.Helper()
	entries, err := os.ReadDir(e.in("replicas"))
	require.NoError(e.t, err)
	for _, entry := range entries {
		out = append(out, entry.Name())
	}
	return out
}

// keeps waits until the controller has decided a few more times, and fails if a directory is not there whole.
func (e *env) keeps(r *v1beta2.Replica) {
	e.t.Helper()
	before := testkit.Reconciles(e.t, "replica-directory")
	require.Eventually(e.t, func() bool { return testkit.Reconciles(e.t, "replica-directory") >= before+3 }, time.Minute, testkit.Poll)
	e.whole(r.Spec.DataDirectoryName)
}

func (e *env) whole(name string) {
	e.t.Helper()
	entries, err := os.ReadDir(e.in("replicas/" + name))
	require.NoError(e.t, err)
	require.Len(e.t, entries, 2)
}

// events counts the events of a Replica with a reason.
func (e *env) events(r *v1beta2.Replica, reason string) (n int) {
	e.t.Helper()
	var list eventsv1.EventList
	require.NoError(e.t, e.admin.List(e.t.Context(), &list, client.InNamespace(e.namespace)))
	for i := range list.Items {
		if list.Items[i].Regarding.UID == r.UID && list.Items[i].Reason == reason {
			n++
		}
	}
	return n
}

var errCrash = errors.New("the process died here")
