package backupcontroller

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/simulator/enginecli"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshotcontroller"
)

// This test binary plays the engine's binary, too.
func TestMain(m *testing.M) {
	if enginecli.IsCalled() {
		os.Exit(enginecli.Main(os.Args[1:], os.Stdout))
	}
	testkit.Main(m)
}

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
	vol      = "vol-1"
	snap     = "snap-1"
	name     = "backup-1"
	image    = "example.com/engine:v1"
)

// world is a namespace of a real API server with the controller in it, as snapshot-controller's ServiceAccount with its
// generated roles. The test plays people, attach-controller, im-monitor and the controller of snapshots.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	// target is the URL of the BackupTarget, a directory; binaries has the engine's binary.
	target, binaries string

	run shell.Slot
	rt  *runkit.Runtime
}

// newWorld has a node that is ready, a detached volume with a snapshot that is ready, and a target.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), target: "file://" + t.TempDir(), binaries: t.TempDir()}
	require.NoError(t, enginecli.Install(w.binaries, image))
	w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.EngineImage), Value: image})
	n := &v1beta2.Node{ObjectMeta: w.meta("node-1")}
	w.create(n)
	w.status(n, map[string]any{"conditions": shown(v1beta2.NodeReady, v1beta2.ReasonNodeReady)})
	v := &v1beta2.Volume{ObjectMeta: w.meta(vol),
		Spec: v1beta2.VolumeSpec{Size: 1000, NumberOfReplicas: 1, AccessMode: v1beta2.AccessModeReadWriteOnce}}
	w.create(v)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "robustness": v1beta2.VolumeRobustnessUnknown})
	w.create(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(vol), Spec: v1beta2.VolumeAttachmentSpec{Volume: vol}})
	w.create(&v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-1"), Spec: v1beta2.ReplicaSpec{VolumeName: vol, NodeID: "node-1"}})
	w.create(&v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0"), Spec: v1beta2.EngineSpec{VolumeName: vol, Active: true}})
	s := &v1beta2.Snapshot{ObjectMeta: w.meta(snap), Spec: v1beta2.SnapshotSpec{Volume: vol}}
	s.OwnerReferences = []metav1.OwnerReference{v1beta2.OwnedBy(v)}
	w.create(s)
	w.status(s, map[string]any{"conditions": shown(v1beta2.SnapshotReady, v1beta2.ReasonReady)})
	w.create(&v1beta2.BackupTarget{ObjectMeta: w.meta(v1beta2.BackupTargetDefault),
		Spec: v1beta2.BackupTargetSpec{BackupTargetURL: w.target}})
	t.Cleanup(w.end)
	return w
}

func shown(conditionType, reason string) any {
	return status.ConditionsField([]v1beta2.Condition{{Type: conditionType, Status: v1beta2.ConditionTrue, Reason: reason}})
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// start runs the controller until it is stopped, or cut.
func (w *world) start(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	p := shell.Start(w.t, shell.Options{
		Identity: testkit.BinaryIdentity(w.t, w.namespace, owner), Namespace: w.namespace, Owner: owner, Cache: snapshotcontroller.Cached(),
		At: at, OnCut: onCut,
	}, func(ctx context.Context, rt *runkit.Runtime) error {
		w.rt = rt
		settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Catalogue)
		return Setup(ctx, rt, settings, &backupstores.Stores{Uncached: rt.Uncached, Namespace: rt.Namespace, Settings: settings,
			Options: backupstores.Options{Binaries: w.binaries, Commands: 2}})
	})
	w.run.Hold(p)
	return p
}

// stored completes a Backup as an engine and im-monitor do: it is in the target, and its status reports that.
func (w *world) stored(b *v1beta2.Backup) {
	w.t.Helper()
	require.NoError(w.t, enginecli.Put(w.target, enginecli.Stored{Name: b.Name, Volume: vol, Snapshot: snap, Created: time.Now(),
		Text: "data"}))
	w.status(b, map[string]any{"state": v1beta2.BackupCompleted, "url": w.url(b.Name), "volumeName": vol, "snapshotName": snap,
		"backupTargetName": v1beta2.BackupTargetDefault, "engineRun": "run-1"})
}

func (w *world) url(backup string) string { return w.target + "?backup=" + backup + "&volume=" + vol }

// inTarget are the names of the volume's backups in the target.
func (w *world) inTarget() []string { return enginecli.Names(w.target, vol) }

func (w *world) end() { w.run.End(w.t) }

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

func (w *world) status(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, obj, fields))
}

func (w *world) delete(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(w.t.Context(), obj)))
}

// backup asks for one, as a person does.
func (w *world) backup() *v1beta2.Backup {
	w.t.Helper()
	b := &v1beta2.Backup{ObjectMeta: w.meta(name), Spec: v1beta2.BackupSpec{SnapshotName: snap}}
	w.create(b)
	return b
}

// attach plays attach-controller.
func (w *world) attach() {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta(vol)}
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, v, map[string]any{"nodeID": "node-1"}))
	w.status(&v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0")}, map[string]any{"currentState": v1beta2.InstanceStateRunning})
	w.status(v, map[string]any{"state": v1beta2.VolumeStateAttached, "currentNodeID": "node-1"})
	w.grant(vol)
}

// grant answers the tickets of a volume.
func (w *world) grant(volume string) {
	w.t.Helper()
	a := &v1beta2.VolumeAttachment{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: volume}, a))
	answers := map[string]any{}
	for id, ticket := range a.Spec.AttachmentTickets {
		answers[id] = v1beta2.AttachmentTicketStatus{ID: id, Generation: ticket.Generation, Satisfied: true,
			Conditions: []v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Status: v1beta2.ConditionTrue,
				Reason: v1beta2.ReasonSatisfied}}}
	}
	w.status(a, map[string]any{"attachmentTicketStatuses": answers})
}

// now is the Backup; nil: it is gone.
func (w *world) now() *v1beta2.Backup { return w.named(name) }

func (w *world) named(name string) *v1beta2.Backup {
	b := &v1beta2.Backup{}
	if err := w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, b); err != nil {
		require.NoError(w.t, client.IgnoreNotFound(err))
		return nil
	}
	return b
}

// shows waits until the Backup has this reason.
func (w *world) shows(reason string) {
	w.t.Helper()
	w.namedShows(name, reason)
}

func (w *world) namedShows(name, reason string) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		b := w.named(name)
		require.NotNil(c, b)
		require.Equal(c, reason, conditions.Reason(b.Status.Conditions, v1beta2.BackupApproved))
	}, patience, poll)
}

// holds waits until the Backup's ticket is there, or not.
func (w *world) holds(ticket bool) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		a := &v1beta2.VolumeAttachment{}
		require.NoError(c, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: vol}, a))
		_, held := a.Spec.AttachmentTickets[backup.TicketID(name)]
		require.Equal(c, ticket, held)
	}, patience, poll)
}

func (w *world) gone() {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.now() == nil }, patience, poll, "it stays")
}
