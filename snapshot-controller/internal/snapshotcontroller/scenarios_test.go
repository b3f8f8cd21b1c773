package snapshotcontroller

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// S1: a snapshot of an attached volume needs three writes: what it lacks, the request, the result.
func TestASnapshotOfAnAttachedVolume(t *testing.T) {
	w := newWorld(t)
	v := w.volume(vol)
	w.attach(vol)
	p := w.start()
	w.snapshot("snap-1", vol)
	s := w.ready("snap-1", v1beta2.ReasonCreating)
	require.NotEmpty(t, s.Status.RequestedTime)
	require.Equal(t, []string{v1beta2.Finalizer}, s.Finalizers)
	require.Equal(t, vol, s.Labels[v1beta2.LabelVolume])
	require.Equal(t, v.UID, snapshot.UID(s))
	w.lists(vol, "snap-1")
	s = w.ready("snap-1", v1beta2.ReasonReady)
	require.True(t, s.Status.ReadyToUse && s.Status.UserCreated)
	require.Equal(t, "2026-08-01T11:00:00Z", s.Status.CreationTime)
	require.EqualValues(t, 42, s.Status.Size)
	w.quiet(p)
	require.Len(t, p.Client.Writes(), 3, "%v", p.Client.Writes())

	w.delete(s)
	w.removal("snap-1", v1beta2.ReasonRequested)
	w.lists(vol)
	w.gone("snap-1")
	w.quiet(p)
	require.Len(t, p.Client.Writes(), 5, "%v", p.Client.Writes())
}

// S2: a detached volume is attached for it, and given back.
func TestASnapshotOfADetachedVolume(t *testing.T) {
	w := newWorld(t)
	w.volume(vol)
	p := w.start()
	s := w.snapshot("snap-1", vol)
	w.ready("snap-1", v1beta2.ReasonWaitingForAttach)
	ticket := w.tickets(vol)[snapshot.TicketID("snap-1")]
	require.Equal(t, "node-1", ticket.NodeID)
	require.Equal(t, string(s.UID), ticket.Parameters[v1beta2.TicketOwnerUID])
	w.attach(vol)
	w.ready("snap-1", v1beta2.ReasonCreating)
	w.holds(vol, 1)
	w.lists(vol, "snap-1")
	w.ready("snap-1", v1beta2.ReasonReady)
	w.holds(vol, 0)
	w.detach(vol)
	w.quiet(p)
	require.True(t, w.now("snap-1").Status.ReadyToUse, "a volume that is detached has its snapshots all the same")
}

// A volume that gets its data from elsewhere has its snapshot afterwards.
func TestASnapshotOfAVolumeThatIsRestored(t *testing.T) {
	w := newWorld(t)
	v := w.volume(vol)
	w.attach(vol)
	w.status(v, map[string]any{"restoreRequired": true})
	p := w.start()
	w.snapshot("snap-1", vol)
	require.Empty(t, w.ready("snap-1", v1beta2.ReasonRestoring).Status.RequestedTime)
	w.quiet(p)
	w.status(v, map[string]any{"restoreRequired": false, "cloneStatus": map[string]any{"state": v1beta2.CloneInitiated}})
	w.ready("snap-1", v1beta2.ReasonCloning)
	w.status(v, map[string]any{"cloneStatus": map[string]any{"state": v1beta2.CloneCompleted}})
	w.ready("snap-1", v1beta2.ReasonCreating)
}

func TestOneThatIsDeletedBeforeItWasTaken(t *testing.T) {
	w := newWorld(t)
	w.volume(vol)
	p := w.start()
	w.delete(w.snapshot("snap-1", vol))
	w.gone("snap-1")
	s := w.snapshot("snap-2", vol)
	w.holds(vol, 1)
	w.sees(p, vol, 1) // a ticket that it does not see is left to attach-controller, which ends those without an owner
	w.delete(s)
	w.gone("snap-2")
	w.holds(vol, 0)

	w.attach(vol)
	s = w.snapshot("snap-3", vol)
	w.ready("snap-3", v1beta2.ReasonCreating)
	w.delete(s)
	w.removal("snap-3", v1beta2.ReasonRequested)
	monitorSays(w, s, v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, v1beta2.ReasonCancelled)
	w.gone("snap-3")
}

// S8: every obstacle has its reason, and its end is noticed.
func TestWhatStandsAgainstARemoval(t *testing.T) {
	w := newWorld(t)
	v := w.volume(vol)
	w.attach(vol, "snap-1")
	w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.DisablePurge), Value: "true"})
	p := w.start()
	s := w.snapshot("snap-1", vol)
	w.ready("snap-1", v1beta2.ReasonReady)
	w.delete(s)
	w.removal("snap-1", v1beta2.ReasonPurgeDisabled)
	w.quiet(p)

	w.spec(v, map[string]any{"migrationNodeID": "node-2"})
	w.delete(&v1beta2.Setting{ObjectMeta: w.meta(setting.DisablePurge)})
	w.removal("snap-1", v1beta2.ReasonMigrating)
	w.status(w.engine(vol), map[string]any{"replicaModeMap": map[string]any{"r": v1beta2.ReplicaModeWO}})
	w.spec(v, map[string]any{"migrationNodeID": ""})
	w.removal("snap-1", v1beta2.ReasonRebuilding)
	node := &v1beta2.Node{ObjectMeta: w.meta("node-1")}
	w.spec(node, map[string]any{"upgradeRequested": true})
	w.removal("snap-1", v1beta2.ReasonUpgrading)
	w.spec(node, map[string]any{"upgradeRequested": false})
	w.status(w.engine(vol), map[string]any{"replicaModeMap": map[string]any{"r": v1beta2.ReplicaModeRW}})
	w.removal("snap-1", v1beta2.ReasonRequested)
	w.status(w.engine(vol), map[string]any{"snapshots": map[string]any{"snap-1": map[string]any{"removed": true,
		"children": map[string]any{v1beta2.VolumeHead: true, "x": nil}}}})
	w.removal("snap-1", v1beta2.ReasonParentOfVolumeHead)
	w.status(w.engine(vol), map[string]any{
		"snapshots": map[string]any{"snap-1": map[string]any{"children": map[string]any{v1beta2.VolumeHead: nil, "y": true}}}})
	w.removal("snap-1", v1beta2.ReasonRequested)
	w.lists(vol)
	w.gone("snap-1")
}

// The limit counts volumes, admits them by the time of the deletion, and enqueues exactly the next.
func TestThePurgeLimit(t *testing.T) {
	w := newWorld(t)
	w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.PurgesPerNode), Value: "1"})
	p := w.start()
	for i := range 3 {
		volume := fmt.Sprintf("vol-%d", i)
		w.volume(volume)
		w.attach(volume, fmt.Sprintf("snap-%d", i))
		w.snapshot(fmt.Sprintf("snap-%d", i), volume)
		w.ready(fmt.Sprintf("snap-%d", i), v1beta2.ReasonReady)
	}
	reasons := []string{v1beta2.ReasonRequested, v1beta2.ReasonPurgeLimited, v1beta2.ReasonPurgeLimited}
	for i, reason := range reasons {
		w.delete(w.now(fmt.Sprintf("snap-%d", i)))
		w.removal(fmt.Sprintf("snap-%d", i), reason)
	}
	w.quiet(p)
	w.stop()
	p = w.start()
	w.quiet(p)
	require.Empty(t, p.Client.Writes(), "the next process keeps the places")
	w.lists("vol-0")
	w.gone("snap-0")
	w.removal("snap-1", v1beta2.ReasonRequested)
	w.quiet(p)
	w.removal("snap-2", v1beta2.ReasonPurgeLimited)
	w.delete(&v1beta2.Setting{ObjectMeta: w.meta(setting.PurgesPerNode)})
	w.removal("snap-2", v1beta2.ReasonRequested)
}

// A volume that cannot be attached blocks the others for a while, and is then served after them.
func TestAPlaceIsNotHeldByAVolumeThatIsNeverAttached(t *testing.T) {
	w := newWorld(t)
	w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.PurgesPerNode), Value: "1"})
	clock := clocktesting.NewFakeClock(time.Now())
	w.clock = clock
	for _, volume := range []string{"vol-0", "vol-1"} {
		w.volume(volume)
		w.attach(volume, "snap-"+volume)
	}
	w.start()
	for _, volume := range []string{"vol-0", "vol-1"} {
		w.snapshot("snap-"+volume, volume)
		w.ready("snap-"+volume, v1beta2.ReasonReady)
	}
	w.detach("vol-0")
	w.delete(w.now("snap-vol-0"))
	w.removal("snap-vol-0", v1beta2.ReasonWaitingForAttach)
	w.holds("vol-0", 1)
	w.delete(w.now("snap-vol-1"))
	w.removal("snap-vol-1", v1beta2.ReasonPurgeLimited)
	clock.Step(idlePatience)
	w.lists("vol-1", "snap-vol-1", "another") // an event enqueues it, as its own timer would do
	w.removal("snap-vol-1", v1beta2.ReasonRequested)
	w.removal("snap-vol-0", v1beta2.ReasonPurgeLimited)
	w.holds("vol-0", 0)
	w.lists("vol-1", "another")
	w.gone("snap-vol-1")
	w.removal("snap-vol-0", v1beta2.ReasonWaitingForAttach)
	w.holds("vol-0", 1)
}

// A purge that fails does not hold the others up: its place is given back, and it is tried again after a pause.
func TestAPurgeThatFailsGivesItsPlaceBack(t *testing.T) {
	w := newWorld(t)
	w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.PurgesPerNode), Value: "1"})
	clock := clocktesting.NewFakeClock(time.Now())
	w.clock = clock
	for _, volume := range []string{"vol-0", "vol-1"} {
		w.volume(volume)
		w.attach(volume, "snap-"+volume)
	}
	p := w.start()
	for _, volume := range []string{"vol-0", "vol-1"} {
		w.snapshot("snap-"+volume, volume)
		w.ready("snap-"+volume, v1beta2.ReasonReady)
	}
	s := w.now("snap-vol-0")
	w.delete(s)
	w.removal("snap-vol-0", v1beta2.ReasonRequested)
	w.delete(w.now("snap-vol-1"))
	w.removal("snap-vol-1", v1beta2.ReasonPurgeLimited)
	monitorFailed(w, s, v1beta2.SnapshotRemovalFailed, v1beta2.ConditionTrue, v1beta2.ReasonPurgeFailed, clock.Now())
	w.removal("snap-vol-0", v1beta2.ReasonRemovalFailed)
	w.removal("snap-vol-1", v1beta2.ReasonRequested)
	w.quiet(p)
	clock.Step(time.Minute)
	w.lists("vol-0", "snap-vol-0", "another") // an event enqueues it, as its own timer would do
	w.removal("snap-vol-0", v1beta2.ReasonPurgeLimited)
	w.lists("vol-1")
	w.gone("snap-vol-1")
	w.removal("snap-vol-0", v1beta2.ReasonRequested)
	w.quiet(p)
	w.lists("vol-0")
	w.gone("snap-vol-0")
}

// What an engine refused is asked for again.
func TestASnapshotThatTheEngineRefused(t *testing.T) {
	w := newWorld(t)
	clock := clocktesting.NewFakeClock(time.Now())
	w.clock = clock
	w.volume(vol)
	w.attach(vol)
	p := w.start()
	s := w.snapshot("snap-1", vol)
	before := w.ready("snap-1", v1beta2.ReasonCreating).Status.RequestedTime
	clock.Step(time.Second)
	monitorFailed(w, s, v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, v1beta2.ReasonFailed, clock.Now())
	require.Contains(t, w.ready("snap-1", v1beta2.ReasonFailed).Status.Error, "It is requested again at")
	w.quiet(p)
	clock.Step(time.Minute)
	w.lists(vol, "another") // an event enqueues it, as its own timer would do
	require.NotEqual(t, before, w.ready("snap-1", v1beta2.ReasonCreating).Status.RequestedTime)
	w.lists(vol, "another", "snap-1")
	w.ready("snap-1", v1beta2.ReasonReady)
}

// S9: a volume that goes takes its snapshots along; the next one of its name inherits nothing.
func TestAVolumeThatGoes(t *testing.T) {
	w := newWorld(t)
	v := w.volume(vol)
	w.attach(vol, "snap-1", "snap-2")
	w.start()
	w.snapshot("snap-1", vol)
	w.snapshot("snap-2", vol)
	w.ready("snap-1", v1beta2.ReasonReady)
	w.ready("snap-2", v1beta2.ReasonReady)
	w.stop()
	w.delete(v)
	w.volume2(vol)
	w.start()
	w.gone("snap-1")
	w.gone("snap-2")
	w.snapshot("snap-3", vol)
	w.ready("snap-3", v1beta2.ReasonCreating)
}

// S5, S6: im-monitor's word ends a snapshot, an engine's silence does not.
func TestAWithdrawnSnapshot(t *testing.T) {
	w := newWorld(t)
	w.volume(vol)
	w.attach(vol, "snap-1")
	p := w.start()
	s := w.snapshot("snap-1", vol)
	w.ready("snap-1", v1beta2.ReasonReady)
	w.status(w.engine(vol), map[string]any{"snapshots": nil})
	w.quiet(p)
	w.lists(vol)
	w.ready("snap-1", v1beta2.ReasonLost)
	w.lists(vol, "snap-1")
	w.ready("snap-1", v1beta2.ReasonReady)
	w.lists(vol)
	monitorSays(w, s, v1beta2.SnapshotWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonSnapshotGone)
	w.gone("snap-1")
}

// S11: a limit is reported at once, without attaching, and its end is noticed.
func TestTheLimitOfAVolume(t *testing.T) {
	w := newWorld(t)
	v := w.volume(vol)
	w.spec(v, map[string]any{"snapshotMaxCount": 2})
	w.attach(vol, "a", "b")
	p := w.start()
	w.snapshot("snap-1", vol)
	s := w.ready("snap-1", v1beta2.ReasonLimitReached)
	require.Contains(t, s.Status.Error, "may have 2")
	w.quiet(p)
	w.lists(vol, "a")
	w.ready("snap-1", v1beta2.ReasonCreating)
}

// Discarded data leaves room, too: of the list only the head changes.
func TestASnapshotThatWaitsForRoomIsTakenOnceTheHeadIsSmaller(t *testing.T) {
	w := newWorld(t)
	w.spec(w.volume(vol), map[string]any{"snapshotMaxSize": "100"})
	w.attach(vol, "a")
	head := func(size string) {
		w.status(w.engine(vol), map[string]any{"snapshots": map[string]any{v1beta2.VolumeHead: map[string]any{"parent": "a", "size": size}}})
	}
	head("90")
	p := w.start()
	w.snapshot("snap-1", vol)
	s := w.ready("snap-1", v1beta2.ReasonLimitReached)
	require.Contains(t, s.Status.Error, "its head has 90")
	w.quiet(p)
	head("30")
	w.ready("snap-1", v1beta2.ReasonCreating)
}

// While the engine is not running, its rule is kept by what it listed last: what is marked removed does not count.
func TestRemovedSnapshotsDoNotCountWhileTheVolumeIsDetached(t *testing.T) {
	w := newWorld(t)
	w.spec(w.volume(vol), map[string]any{"snapshotMaxCount": 2})
	w.attach(vol, "a", "b")
	w.start()
	for _, name := range []string{"a", "b"} {
		w.snapshot(name, vol)
		w.ready(name, v1beta2.ReasonReady)
	}
	w.status(w.engine(vol), map[string]any{"snapshots": map[string]any{"a": map[string]any{"removed": true}}})
	w.ready("a", v1beta2.ReasonMarkedRemoved)
	w.detach(vol)
	w.snapshot("snap-1", vol)
	w.ready("snap-1", v1beta2.ReasonWaitingForAttach)
}

// volume2 makes another volume where everything of the first but its objects around is still there.
func (w *world) volume2(name string) {
	v := &v1beta2.Volume{ObjectMeta: w.meta(name), Spec: v1beta2.VolumeSpec{Size: 1000}}
	w.create(v)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateAttached})
}

// monitorFailed writes what im-monitor reports about a call that failed then.
func monitorFailed(w *world, s *v1beta2.Snapshot, conditionType string, is v1beta2.ConditionStatus, reason string, at time.Time) {
	w.t.Helper()
	c := []v1beta2.Condition{{Type: conditionType, Status: is, Reason: reason, Message: "disk on fire",
		LastProbeTime: at.UTC().Format(time.RFC3339Nano), LastTransitionTime: at.UTC().Format(time.RFC3339)}}
	require.NoError(w.t, status.Apply(w.t.Context(), w.admin, s, "im-monitor", map[string]any{"conditions": status.ConditionsField(c)}))
}

// monitorSays writes a condition of im-monitor's.
func monitorSays(w *world, s *v1beta2.Snapshot, conditionType string, is v1beta2.ConditionStatus, reason string) {
	w.t.Helper()
	c := []v1beta2.Condition{{Type: conditionType, Status: is, Reason: reason}}
	require.NoError(w.t, status.Apply(w.t.Context(), w.admin, s, "im-monitor", map[string]any{"conditions": status.ConditionsField(c)}))
}
