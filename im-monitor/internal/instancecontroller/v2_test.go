package instancecontroller_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit/cut"
)

// openV2 runs replica, engine and frontend of a v2 volume on one node, as attach-controller would.
func (w *world) openV2(volume, node string) (*v1beta2.Replica, *v1beta2.Engine, *v1beta2.EngineFrontend) {
	w.t.Helper()
	w.volume(volume, "v2")
	r := w.replica(volume+"-r-00000001", volume, node, "v2")
	w.run(r)
	r = w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	e := w.engine(volume+"-e-0", volume, node, "v2")
	w.run(e)
	e = w.engineIs(e.Name, v1beta2.InstanceStateRunning)
	f := w.frontend(volume+"-ef-0", volume, node)
	w.spec(f, map[string]any{"targetIP": e.Status.StorageIP, "targetPort": e.Status.Port, "desireState": "running"})
	return r, e, w.frontendIs(f.Name, v1beta2.InstanceStateRunning)
}

// An attachment that is ended at once stops the engine while the frontend still starts. Then the check before the engine's deletion finds a
// frontend that the reporter did not see; the engine waits for it, and stops after it. [UPG-3]
func TestAnEngineWhoseFrontendStartsMeanwhileStopsAfterIt(t *testing.T) {
	decided, started := make(chan struct{}), make(chan struct{})
	decide := sync.OnceFunc(func() { close(decided) })
	w := newWorldWith(t, cut.Point{}, func(o *instancecontroller.Options) {
		o.BeforeEngineStop = func(context.Context, *v1beta2.Engine) error { // between the decision and the check
			decide()
			<-started
			return nil
		}
	}, "late-1")
	_, e, f := w.openV2("vol", "late-1")
	w.stop(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	w.stop(e)
	<-decided
	w.run(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateRunning)
	close(started)
	w.never(func() bool { return len(w.deletions(e.Name)) > 0 }, "the frontend's target")
	w.stop(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
}

// The same while the engine waits for its server's share of calls: what held it up is found before the last check.
func TestAnEngineThatWaitsForASlotStopsAfterAFrontendThatStartsMeanwhile(t *testing.T) {
	w := newWorld(t, "slot-1", "slot-2")
	_, e, f := w.openV2("vol", "slot-1")
	w.stop(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	crowded := manager("slot-1", "v2")
	release := make(chan struct{})
	var inside atomic.Int32
	w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
		if c.Manager == crowded && c.Create != nil && c.Create.Type == v1beta2.InstanceTypeReplica {
			inside.Add(1)
			<-release
		}
		return nil
	})
	for n := range 8 {
		w.run(w.replica(fmt.Sprintf("other-r-%08d", n), "other", "slot-1", "v2"))
	}
	w.Eventually(func() bool { return inside.Load() == 8 }, "the instance manager's share of calls was never used up")
	w.stop(e)
	w.never(func() bool { return w.deleted(e.Name) }, "no slot is free")
	there := w.frontend("vol-ef-1", "vol", "slot-2")
	w.spec(there, map[string]any{"targetIP": e.Status.StorageIP, "targetPort": e.Status.Port, "desireState": "running"})
	w.frontendIs(there.Name, v1beta2.InstanceStateRunning)
	close(release)
	w.never(func() bool { return w.deleted(e.Name) }, "the frontend's target")
	w.stop(there)
	w.frontendIs(there.Name, v1beta2.InstanceStateStopped)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
}

func TestAV2VolumeRunsAndStopsAndKeepsItsData(t *testing.T) {
	w := newWorld(t, "v2-1")
	im := manager("v2-1", "v2")
	r, e, f := w.openV2("vol", "v2-1")
	require.Equal(t, "nvme", w.creations(r.Name)[0].SPDK.DiskName)
	require.Equal(t, e.Status.StorageIP, f.Status.TargetIP)
	require.Equal(t, e.Status.Port, f.Status.TargetPort)
	require.Equal(t, "/dev/longhorn/vol", f.Status.Endpoint)
	require.Len(t, f.Status.Paths, 1)
	require.EqualValues(t, gib, f.Status.CurrentSize)
	uuid := r.Status.UUID

	w.stop(f)
	f = w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	require.Empty(t, f.Status.Endpoint+f.Status.ActivePath+f.Status.TargetIP)
	require.Empty(t, f.Status.Paths)
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	w.stop(r)
	r = w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	require.Empty(t, r.Status.UUID)
	data, listed := w.Servers.Instance(im, r.Name)
	require.True(t, listed, "the data stays")
	require.Equal(t, v1beta2.InstanceStateStopped, data.State)
	require.False(t, w.deletions(r.Name)[0].CleanupRequired)
	require.True(t, w.deletions(e.Name)[0].CleanupRequired)
	require.True(t, w.deletions(f.Name)[0].ByName)

	w.run(r)
	require.Equal(t, uuid, w.replicaIs(r.Name, v1beta2.InstanceStateRunning).Status.UUID, "the same data is served again")
}

func TestServersOfTodayThatTellNoUUIDsAreServedByName(t *testing.T) {
	w := newWorld(t, "today-1")
	w.Servers.Today(true)
	_, e, f := w.openV2("vol", "today-1")
	require.Empty(t, e.Status.UUID)
	w.stop(f)
	w.frontendIs(f.Name, v1beta2.InstanceStateStopped)
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	require.True(t, w.deletions(e.Name)[0].ByName)
	require.True(t, w.deletions(e.Name)[0].CleanupRequired)
	require.False(t, w.holds(manager("today-1", "v2"), e.Name))
}

// whole makes a Replica that was complete, and must run.
func (w *world) whole(name, node string) *v1beta2.Replica {
	w.t.Helper()
	r := w.replica(name, "vol", node, "v2")
	w.spec(r, map[string]any{"healthyAt": "2026-08-01T12:00:00Z"})
	w.run(r)
	return r
}

// notCreated is the condition that reports why a Replica has no instance.
func (w *world) notCreated(name string) v1beta2.Condition {
	r := &v1beta2.Replica{}
	if c := v1beta2.InstanceCreation; w.Get(name, r) && conditions.IsFalse(r.Status.Conditions, c) {
		return *conditions.Get(r.Status.Conditions, c)
	}
	return v1beta2.Condition{}
}

func (w *world) diskReady(node string) bool {
	n := &v1beta2.Node{}
	return w.Get(node, n) && conditions.IsTrue(n.Status.DiskStatus["nvme"].Conditions, v1beta2.DiskReady)
}

func TestTheDataOfAReplicaIsMissedOnlyOnceItsDiskIsLoadedAndSettled(t *testing.T) {
	w := newWorld(t, "unloaded-1")
	w.Servers.DropDisk("nvme")
	w.Crash() // the next process asks for the disk again
	w.Eventually(func() bool { return !w.diskReady("unloaded-1") }, "the disk is still ready")
	kept := w.whole("vol-r-00000001", "unloaded-1")
	w.Eventually(func() bool { return w.notCreated(kept.Name).Reason != "" }, "nothing is reported")
	require.Equal(t, v1beta2.ReasonSpecIncomplete, w.notCreated(kept.Name).Reason)
	require.Contains(t, w.notCreated(kept.Name).Message, "no disk with UUID "+disk+" that is loaded")

	im := manager("unloaded-1", "v2")
	w.Servers.PutUnnoticed(im, inventory.Instance{Name: kept.Name, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV2,
		State: v1beta2.InstanceStateStopped, UUID: "uuid-kept", DiskUUID: disk})
	w.Servers.PutDisk(imclient.Disk{Name: "nvme", UUID: disk, Driver: "aio", TotalBytes: 100 * gib, FreeBytes: 100 * gib})
	reported := map[string]bool{}
	w.Eventually(func() bool {
		reported[w.notCreated(kept.Name).Reason] = true
		now := &v1beta2.Replica{}
		return w.Get(kept.Name, now) && now.Status.CurrentState == v1beta2.InstanceStateRunning
	}, "the replica never ran")
	require.NotContains(t, reported, v1beta2.ReasonDataMissing, "its disk was loaded, and not listed yet")

	lost := w.whole("vol-r-00000002", "unloaded-1")
	w.Eventually(func() bool { return w.notCreated(lost.Name).Reason == v1beta2.ReasonDataMissing }, "it is never reported as missing")
	require.Empty(t, w.creations(lost.Name))
}
