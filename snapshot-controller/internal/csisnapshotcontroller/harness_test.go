package csisnapshotcontroller

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
	"drover.dev/drover/shared/volumesnapshot"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	account  = "snapshot-controller"
	patience = 60 * time.Second
	poll     = testkit.Poll
	vol      = "vol-1"
)

// world is a namespace of a real API server with this part of snapshot-controller in it, as its own ServiceAccount with the
// generated Role. The test plays people, the common snapshot controller, and who takes snapshots and backups. Contents are in no
// namespace: the tests run one after the other, and each removes its own.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	running   *shell.Process
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t)}
	found, err := cluster.LocateSnapshotter(t.Context(), os.Stderr)
	require.NoError(t, err)
	require.NoError(t, testkit.Cluster().InstallCRDs(t.Context(), found.CRDs))
	scheme := testkit.Scheme(t)
	require.NoError(t, volumesnapshot.AddToScheme(scheme))
	w.admin, err = client.NewWithWatch(testkit.Cluster().AdminConfig(), client.Options{Scheme: scheme, Mapper: testkit.RESTMapper(t)})
	require.NoError(t, err)
	w.identity = testkit.BinaryIdentity(t, w.namespace, account)
	w.create(&coordinationv1.Lease{ObjectMeta: w.meta(LeaseName)})
	w.create(&v1beta2.Volume{ObjectMeta: w.meta(vol),
		Spec: v1beta2.VolumeSpec{Size: 1000, NumberOfReplicas: 1, AccessMode: v1beta2.AccessModeReadWriteOnce}})
	w.class("Delete", "snap")
	t.Cleanup(w.leave)
	return w
}

// leave stops the controller and removes what is in no namespace.
func (w *world) leave() {
	w.stop()
	var list volumesnapshot.ContentList
	require.NoError(w.t, w.admin.List(context.Background(), &list))
	for i := range list.Items {
		c := &list.Items[i]
		require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(context.Background(), c)))
		body := []byte(`{"metadata":{"finalizers":null}}`)
		require.NoError(w.t, client.IgnoreNotFound(w.admin.Patch(context.Background(), c, client.RawPatch(types.MergePatchType, body))))
	}
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

func (w *world) start() *shell.Process { return w.startCut(cut.Point{}, nil) }

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	quick := election.Lease{Name: LeaseName, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second,
		RetryPeriod: 100 * time.Millisecond}
	p := shell.Start(w.t, shell.Options{
		Identity: w.identity, Namespace: w.namespace, Owner: account, At: at, OnCut: onCut,
	}, func(ctx context.Context, rt *runkit.Runtime) error {
		return Setup(ctx, rt, Options{Take: true, Lease: quick}, prometheus.NewRegistry())
	})
	w.running = p
	return p
}

func (w *world) stop() {
	if p := w.running; p != nil {
		w.running = nil
		p.Stop()
		<-p.Ended()
	}
}

func (w *world) class(policy, kind string) {
	w.t.Helper()
	class := &volumesnapshot.Class{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + kind}, Driver: volumesnapshot.Driver,
		Parameters: map[string]string{"type": kind, "backupMode": "full"}}
	body := map[string]any{
		"apiVersion": volumesnapshot.GroupVersion.String(), "kind": "VolumeSnapshotClass", "metadata": map[string]any{"name": class.Name},
		"driver": class.Driver, "deletionPolicy": policy, "parameters": map[string]any{"type": kind, "backupMode": "full"},
	}
	w.create(object(body))
}

// asks plays the common snapshot controller: a content that is bound to a VolumeSnapshot, with its finalizer.
func (w *world) asks(policy, kind, source, handle string) *volumesnapshot.Content {
	w.t.Helper()
	c := &volumesnapshot.Content{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-content"}}
	w.create(object(map[string]any{
		"apiVersion": volumesnapshot.GroupVersion.String(), "kind": "VolumeSnapshotContent",
		"metadata": map[string]any{"name": c.Name, "finalizers": []any{csisnapshot.Finalizer}},
		"spec": map[string]any{
			"driver": volumesnapshot.Driver, "deletionPolicy": policy, "volumeSnapshotClassName": w.namespace + "-" + kind,
			"source":            map[string]any{source: handle},
			"volumeSnapshotRef": map[string]any{"namespace": w.namespace, "name": "vs", "uid": w.namespace},
		},
	}))
	return c
}

// lets plays the common snapshot controller at the end of a VolumeSnapshot.
func (w *world) lets(c *volumesnapshot.Content) {
	w.t.Helper()
	body := []byte(`{"metadata":{"annotations":{"` + csisnapshot.BeingDeleted + `":"yes"}}}`)
	require.NoError(w.t, w.admin.Patch(w.t.Context(), c, client.RawPatch(types.MergePatchType, body)))
	require.NoError(w.t, w.admin.Delete(w.t.Context(), c))
}

// shows waits until the content's status is as check wants it.
func (w *world) shows(c *volumesnapshot.Content, check func(csisnapshot.Status) bool) csisnapshot.Content {
	w.t.Helper()
	var is csisnapshot.Content
	require.EventuallyWithT(w.t, func(t *assert.CollectT) {
		now := &volumesnapshot.Content{}
		require.NoError(t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(c), now))
		is = csisnapshot.FromContent(now)
		require.True(t, check(is.Status), "its status is %+v", is.Status)
	}, patience, poll)
	return is
}

func (w *world) gone(obj client.Object) {
	w.t.Helper()
	testkit.WaitGone(w.t, w.admin, obj)
}

func (w *world) snapshotName() string { return volumesnapshot.SnapshotName(w.namespace) }

// takes plays who takes the snapshot.
func (w *world) takes() *v1beta2.Snapshot {
	w.t.Helper()
	s := &v1beta2.Snapshot{ObjectMeta: w.meta(w.snapshotName())}
	w.appears(s)
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, s, map[string]any{
		"creationTime": "2026-08-01T11:00:00Z", "readyToUse": true, "restoreSize": 1000,
	}))
	return s
}

// appears waits until the object is there.
func (w *world) appears(obj client.Object) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj) == nil
	}, patience, poll, "%s does not appear", obj.GetName())
}

// ends plays who drops the finalizer of what was deleted.
func (w *world) ends(obj client.Object) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj) != nil || obj.GetDeletionTimestamp() != nil
	}, patience, poll, "%s is not deleted", obj.GetName())
	require.NoError(w.t, status.DropFinalizer(w.t.Context(), w.admin, obj, v1beta2.Finalizer))
}

// wrote waits until the process has written so often, and no more.
func (w *world) wrote(p *shell.Process, times int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return len(p.Client.Writes()) >= times }, patience, poll, "%v", p.Client.Writes())
	w.quiet(p)
	require.Len(w.t, p.Client.Writes(), times, "%v", p.Client.Writes())
}

// quiet reports whether the process writes nothing for a while.
func (w *world) quiet(p *shell.Process) {
	w.t.Helper()
	writes := p.Client.Writes()
	require.Never(w.t, func() bool { return len(p.Client.Writes()) != len(writes) }, 300*time.Millisecond, 50*time.Millisecond,
		"writes: %v", writes)
}
