package enginepoll_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginepoll"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
)

// purging are quick options with which system snapshots may be purged on one engine of a node at once, as long as the switch reports it.
func purging() (enginepoll.Options, *atomic.Bool) {
	on := &atomic.Bool{}
	on.Store(true)
	options := quick
	options.Cleanup = func(context.Context) (enginepoll.Cleanup, error) {
		return enginepoll.Cleanup{On: on.Load(), PurgesPerNode: 1}, nil
	}
	return options, on
}

// emitted reports whether the engine has a warning with this reason.
func (w *world) emitted(reason string) bool { return w.emittedAbout(name, reason) }

// emittedAbout reports whether an object has a warning with this reason.
func (w *world) emittedAbout(object, reason string) bool {
	w.t.Helper()
	var list eventsv1.EventList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	for _, e := range list.Items {
		if e.Reason == reason && e.Regarding.Name == object && e.Type == corev1.EventTypeWarning {
			return true
		}
	}
	return false
}

// full is an engine with as many snapshots as it may have, one of them the system's.
func full(t *testing.T, options enginepoll.Options) *world {
	t.Helper()
	w := newWorld(t, options)
	w.server.holds("mine", true)
	w.server.holds("system", false)
	w.server.holds("newer", true)
	w.server.do(func() { w.server.limits = limitWork{count: 3, rebuilds: 1} })
	w.spec(map[string]any{"snapshotMaxCount": 3})
	return w
}

// S1: the addition would be refused for ever, and each rebuild before left a snapshot.
func TestARebuildAtTheSnapshotLimitPurgesFirst(t *testing.T) {
	options, _ := purging()
	w := full(t, options)
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.maps(first, addresses[first], second, addresses[second])
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeWO})
	require.Equal(t, []string{"SnapshotPurge", "ReplicaAdd"}, w.server.called("SnapshotPurge", "ReplicaAdd"), "no addition is refused")
	w.server.rebuilt(addresses[second])
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeRW})
}

// S1.
func TestARebuildAtTheSnapshotLimitWaitsWhereNothingMayBePurged(t *testing.T) {
	options, on := purging()
	on.Store(false)
	w := full(t, options)
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.maps(first, addresses[first], second, addresses[second])
	w.eventually("no one reports why the replica is not rebuilt", func() bool { return w.emitted("RebuildAtSnapshotLimit") })
	require.Empty(t, w.server.called("SnapshotPurge", "ReplicaAdd"))
	on.Store(true)
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeWO})
}

// otherPurges is the server of another engine of the node, which merges snapshots.
func (w *world) otherPurges() *engineServer {
	w.t.Helper()
	far := serve(w.t)
	far.has(addresses[third], ptypes.ReplicaMode_RW)
	far.do(func() { far.work.purging = true })
	w.servers["10.0.0.2"] = far
	w.manager("im-2", "10.0.0.2")
	w.engine("other-e-0", "other", v1beta2.DataEngineV1, third)
	merging := map[string]any{"isPurging": true, "state": "in_progress"}
	w.status(&v1beta2.Engine{ObjectMeta: w.meta("other-e-0")},
		map[string]any{"purgeStatus": map[string]any{"tcp://" + addresses[third]: merging}})
	w.runs("other-e-0", "im-2", "run-1")
	return far
}

// One that ended while it merged holds up no purge.
func TestAnEngineThatDoesNotRunMergesNoSnapshots(t *testing.T) {
	options, _ := purging()
	w := full(t, options)
	w.otherPurges()
	other := &v1beta2.Engine{ObjectMeta: w.meta("other-e-0")}
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.maps(first, addresses[first], second, addresses[second])
	w.eventually("no one reports what the rebuild waits for", func() bool { return w.emitted("RebuildWaitsForPurge") })
	w.polls(5)
	require.Empty(t, w.server.called("SnapshotPurge", "ReplicaAdd"), "another engine of the node merges snapshots")
	w.status(other, map[string]any{"currentState": v1beta2.InstanceStateUnknown})
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeWO})
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(other), other))
	require.NotEmpty(t, other.Status.PurgeStatus, "it may run yet, and is not counted")
	w.status(other, map[string]any{"currentState": v1beta2.InstanceStateError})
	w.eventually("its purge has not ended", func() bool {
		err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(other), other)
		return err == nil && len(other.Status.PurgeStatus) == 0
	})
}

// S1: system snapshots of a rebuild are purged once it ended, when a slot is free.
func TestWhatARebuildLeavesIsPurgedWhenTheNodeHasRoomForIt(t *testing.T) {
	options, _ := purging()
	w := newWorld(t, options)
	w.server.do(func() { w.server.limits = limitWork{count: 250, rebuilds: 1} })
	other := w.otherPurges()
	w.start()
	w.maps(first, addresses[first], second, addresses[second])
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeWO})
	w.server.holds("system", false)
	w.server.holds("newer", true)
	w.server.rebuilt(addresses[second])
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeRW})
	w.polls(5)
	require.Empty(t, w.server.called("SnapshotPurge"), "another engine of the node merges snapshots")
	other.do(func() { other.work.purging = false })
	w.until("what the rebuild left stays", func(e *v1beta2.Engine) bool { _, there := e.Status.Snapshots["system"]; return !there })
	w.polls(5)
	require.Len(t, w.server.called("SnapshotPurge"), 1)
}

func TestNothingIsPurgedDuringASwitchOver(t *testing.T) {
	options, _ := purging()
	w := newWorld(t, options)
	w.server.do(func() { w.server.v2, w.server.limits = true, limitWork{count: 1} })
	w.server.do(func() { w.server.members[0].name = first })
	w.server.holds("system", false)
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2, "snapshotMaxCount": 1})
	f := &v1beta2.EngineFrontend{ObjectMeta: w.meta("vol-ef-0"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: name}}
	w.create(f)
	w.status(f, map[string]any{"currentState": v1beta2.InstanceStateRunning, "instanceManagerName": im, "ip": serverAddress,
		"storageIP": serverAddress, "port": 20006, "switchoverPhase": "switching"})
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.maps(first, addresses[first], second, addresses[second])
	w.polls(5)
	require.Empty(t, w.server.called("SnapshotPurge", "ReplicaAdd"))
	w.status(f, map[string]any{"switchoverPhase": ""})
	w.eventually("it is never purged", func() bool { return len(w.server.called("SnapshotPurge")) > 0 })
}
