package snapshotcontroller

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
	"drover.dev/drover/snapshot-controller/internal/setting"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
	vol      = "vol-1"
)

// world is a namespace of a real API server with the controller in it, as snapshot-controller's ServiceAccount with its
// generated roles. The test plays people, attach-controller and im-monitor.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	clock     clock.Clock

	run shell.Slot
}

// newWorld has a node that is ready.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), clock: clock.RealClock{}}
	w.identity = testkit.BinaryIdentity(t, w.namespace, Owner)
	n := &v1beta2.Node{ObjectMeta: w.meta("node-1")}
	w.create(n)
	w.status(n, map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{
		{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady},
	})})
	t.Cleanup(w.stop)
	return w
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) start() *shell.Process { return w.startCut(cut.Point{}, nil) }

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	p := shell.Start(w.t, shell.Options{
		Identity: w.identity, Namespace: w.namespace, Owner: Owner, Cache: Cached(), At: at, OnCut: onCut, Clock: w.clock,
	}, func(ctx context.Context, rt *runkit.Runtime) error {
		return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, w.namespace, setting.Catalogue))
	})
	w.run.Hold(p)
	return p
}

func (w *world) stop() { w.run.End(w.t) }

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

func (w *world) spec(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, obj, fields))
}

func (w *world) status(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, obj, fields))
}

// volume makes a volume with one replica and one engine, detached.
func (w *world) volume(name string) *v1beta2.Volume {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta(name),
		Spec: v1beta2.VolumeSpec{Size: 1000, NumberOfReplicas: 1, AccessMode: v1beta2.AccessModeReadWriteOnce}}
	w.create(v)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "robustness": v1beta2.VolumeRobustnessUnknown})
	w.create(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(name), Spec: v1beta2.VolumeAttachmentSpec{Volume: name}})
	w.create(&v1beta2.Replica{ObjectMeta: w.meta(name + "-r-1"), Spec: v1beta2.ReplicaSpec{VolumeName: name, NodeID: "node-1"}})
	w.create(&v1beta2.Engine{ObjectMeta: w.meta(name + "-e-0"), Spec: v1beta2.EngineSpec{VolumeName: name, Active: true}})
	return v
}

func (w *world) engine(volume string) *v1beta2.Engine {
	return &v1beta2.Engine{ObjectMeta: w.meta(volume + "-e-0")}
}

// attach plays attach-controller and im-monitor: the volume is attached, its engine lists these snapshots and the head.
func (w *world) attach(volume string, names ...string) {
	w.t.Helper()
	w.spec(&v1beta2.Volume{ObjectMeta: w.meta(volume)}, map[string]any{"nodeID": "node-1"})
	w.spec(w.engine(volume), map[string]any{"nodeID": "node-1"})
	w.lists(volume, names...)
	w.status(w.engine(volume), map[string]any{"currentState": v1beta2.InstanceStateRunning})
	w.status(&v1beta2.Volume{ObjectMeta: w.meta(volume)}, map[string]any{"state": v1beta2.VolumeStateAttached, "currentNodeID": "node-1"})
}

func (w *world) detach(volume string) {
	w.t.Helper()
	w.spec(&v1beta2.Volume{ObjectMeta: w.meta(volume)}, map[string]any{"nodeID": ""})
	w.status(&v1beta2.Volume{ObjectMeta: w.meta(volume)}, map[string]any{"state": v1beta2.VolumeStateDetached, "currentNodeID": ""})
	w.status(w.engine(volume), map[string]any{"currentState": v1beta2.InstanceStateStopped})
}

func (w *world) lists(volume string, names ...string) {
	w.t.Helper()
	list := map[string]any{v1beta2.VolumeHead: map[string]any{"name": v1beta2.VolumeHead}}
	var old v1beta2.Engine
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(w.engine(volume)), &old))
	for name := range old.Status.Snapshots {
		if name != v1beta2.VolumeHead && !slices.Contains(names, name) {
			list[name] = nil
		}
	}
	for _, name := range names {
		list[name] = map[string]any{"name": name, "created": "2026-08-01T11:00:00Z", "size": "42", "usercreated": true,
			"children": map[string]any{"x": true}}
	}
	w.status(w.engine(volume), map[string]any{"snapshots": list})
}

// snapshot asks for one, as a person does.
func (w *world) snapshot(name, volume string) *v1beta2.Snapshot {
	w.t.Helper()
	s := &v1beta2.Snapshot{ObjectMeta: w.meta(name), Spec: v1beta2.SnapshotSpec{Volume: volume, CreateSnapshot: true}}
	w.create(s)
	return s
}

func (w *world) delete(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(w.t.Context(), obj)))
}

func (w *world) now(name string) *v1beta2.Snapshot {
	s := &v1beta2.Snapshot{}
	if err := w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, s); err != nil {
		require.NoError(w.t, client.IgnoreNotFound(err))
		return nil
	}
	return s
}

// shows waits until the condition of the snapshot has the reason.
func (w *world) shows(name, conditionType, reason string) *v1beta2.Snapshot {
	w.t.Helper()
	var s *v1beta2.Snapshot
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		s = w.now(name)
		require.NotNil(c, s)
		require.Equal(c, reason, conditions.Reason(s.Status.Conditions, conditionType))
	}, patience, poll)
	return s
}

func (w *world) ready(name, reason string) *v1beta2.Snapshot {
	w.t.Helper()
	return w.shows(name, v1beta2.SnapshotReady, reason)
}

func (w *world) removal(name, reason string) *v1beta2.Snapshot {
	w.t.Helper()
	return w.shows(name, v1beta2.SnapshotRemovalApproved, reason)
}

func (w *world) gone(name string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.now(name) == nil }, patience, poll, "%s stays", name)
}

// tickets are the volume's, by ID.
func (w *world) tickets(volume string) map[string]v1beta2.AttachmentTicket {
	a := &v1beta2.VolumeAttachment{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: volume}, a))
	return a.Spec.AttachmentTickets
}

func (w *world) holds(volume string, count int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return len(w.tickets(volume)) == count }, patience, poll, "tickets of %s: %v", volume,
		w.tickets(volume))
}

// sees waits until the process's cache shows so many tickets, too.
func (w *world) sees(p *shell.Process, volume string, count int) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		a := &v1beta2.VolumeAttachment{}
		require.NoError(c, p.Client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: volume}, a))
		require.Len(c, a.Spec.AttachmentTickets, count)
	}, patience, poll)
}

// quiet reports whether the process writes nothing for a while.
func (w *world) quiet(p *shell.Process) {
	w.t.Helper()
	writes := p.Client.Writes()
	require.Never(w.t, func() bool { return len(p.Client.Writes()) != len(writes) }, 300*time.Millisecond, 50*time.Millisecond,
		"writes: %v", writes)
}
