package enginepoll_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestALookWritesModesAndSnapshotsAndSize(t *testing.T) {
	w := started(t, quick)
	e := w.until("no size", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == gib })
	require.Contains(t, e.Status.Snapshots, "volume-head")
	require.Equal(t, map[string]string{first: addresses[first]}, e.Status.CurrentReplicaAddressMap)
	require.NotEmpty(t, e.Status.ReplicaTransitionTimeMap[first])
	require.Empty(t, e.Status.LookedAt, "no one asked")

	w.server.do(func() { w.server.snapshots["one"] = &imrpc.EngineSnapshotDiskInfo{Name: "one", UserCreated: true} })
	w.until("the snapshot never showed up", func(e *v1beta2.Engine) bool { return e.Status.Snapshots["one"].UserCreated })
	w.server.do(func() { delete(w.server.snapshots, "one") })
	w.until("the snapshot never went", func(e *v1beta2.Engine) bool { _, there := e.Status.Snapshots["one"]; return !there })
}

func TestAQuietEngineCostsTwoCallsPerLookAndNoWrite(t *testing.T) {
	w := newWorld(t, quick)
	p := w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.polls(5)
	writes, version := p.client.Writes(), w.get().ResourceVersion
	w.server.do(func() { w.server.calls = nil })
	w.polls(5)
	for i, call := range w.server.called() {
		require.Contains(t, []string{"ReplicaList", "SnapshotList"}, call, "call %d", i)
	}
	require.InDelta(t, len(w.server.called("ReplicaList")), len(w.server.called("SnapshotList")), 1)
	require.Equal(t, writes, p.client.Writes())
	require.Equal(t, version, w.get().ResourceVersion)
}

func TestALookComesAtOnceWhenAskedFor(t *testing.T) {
	slow := quick
	slow.Period = time.Hour
	w := started(t, slow)
	asked := time.Now().UTC()
	w.spec(map[string]any{"lookRequestedAt": asked.Format(time.RFC3339Nano)})
	e := w.until("no one answered", func(e *v1beta2.Engine) bool { return e.Status.LookedAt != "" })
	polled, err := time.Parse(time.RFC3339Nano, e.Status.LookedAt)
	require.NoError(t, err)
	require.False(t, polled.Before(asked.Truncate(time.Nanosecond)))
}

func TestAReplicaWhoseInstanceFailedIsNoticedAtOnce(t *testing.T) {
	slow := quick
	slow.Period = time.Hour
	w := started(t, slow)
	r := &v1beta2.Replica{ObjectMeta: w.meta(first), Spec: v1beta2.ReplicaSpec{VolumeName: "vol"}}
	w.create(r)
	w.status(r, map[string]any{"currentState": v1beta2.InstanceStateRunning})
	w.server.do(func() { w.server.members[0].mode = ptypes.ReplicaMode_ERR })
	w.status(r, map[string]any{"currentState": v1beta2.InstanceStateError})
	w.modes(map[string]string{first: v1beta2.ReplicaModeERR})
}

func TestAServerThatDoesNotAnswerChangesNothing(t *testing.T) {
	for name, break_ := range map[string]func(*engineServer){
		"it is gone":                    func(s *engineServer) { s.down = true },
		"it does not know the replicas": func(s *engineServer) { s.refuses["ReplicaList"] = status.Error(codes.Unknown, "no") },
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, quick)
			w.polls(2)
			before := w.get()
			w.server.do(func() { break_(w.server); w.server.members = nil; w.server.snapshots = nil })
			w.polls(1)
			w.spec(map[string]any{"snapshotMaxCount": 3}) // somebody enqueues it
			w.polls(1)
			require.Equal(t, before.Status, w.get().Status)
			require.Empty(t, w.server.changes())
		})
	}
}

// A real v1 engine passes most questions on to its replicas, and fails as a whole if one of them does not answer.
func TestAQuestionWithoutAnAnswerHidesNoModes(t *testing.T) {
	for method, ask := range map[string]func(*world){
		"SnapshotList": func(*world) {},
		"VolumeGet":    func(w *world) { w.spec(map[string]any{"volumeSize": "2147483648"}) },
		"SnapshotPurgeStatus": func(w *world) {
			w.status(w.get(), map[string]any{"purgeStatus": map[string]any{"tcp://" + addresses[first]: map[string]any{"isPurging": true}}})
		},
	} {
		t.Run(method, func(t *testing.T) {
			w := newWorld(t, quick)
			w.server.do(func() { w.server.snapshots["one"] = &imrpc.EngineSnapshotDiskInfo{Name: "one", UserCreated: true} })
			w.server.has(addresses[second], ptypes.ReplicaMode_RW)
			w.maps(second, addresses[second])
			w.start()
			w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeRW})
			w.server.refuse(t, method, status.Error(codes.Internal, "a replica does not answer"))
			ask(w)
			w.eventually("it is not asked", func() bool { return len(w.server.called(method)) > 0 })
			before := w.get().Status
			w.server.do(func() { w.server.find("tcp://" + addresses[second]).mode = ptypes.ReplicaMode_ERR })
			after := w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeERR}).Status
			require.Contains(t, after.Snapshots, "one", "unknown is not empty")
			require.Equal(t, before.Snapshots, after.Snapshots)
			require.Equal(t, before.PurgeStatus, after.PurgeStatus)
			require.Equal(t, before.CurrentSize, after.CurrentSize)
			w.maps(third, addresses[third])
			w.polls(3)
			require.Empty(t, w.server.changes())
		})
	}
}

func TestAServerThatHangsDelaysNoLookElsewhere(t *testing.T) {
	w := newWorld(t, quick)
	hanging := serve(t)
	hanging.do(func() { hanging.hangs = true })
	w.servers["10.0.0.2"] = hanging
	w.manager("im-2", "10.0.0.2")
	for i := range 100 { // more than there are workers
		other := fmt.Sprintf("other-e-%d", i)
		w.engine(other, "other", v1beta2.DataEngineV1)
		w.runs(other, "im-2", "run-1")
	}
	w.start()
	w.eventually("no one asks the server that hangs", func() bool { return len(hanging.called()) > 0 })
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.polls(3)
	hanging.do(func() { require.LessOrEqual(t, hanging.most, 2*8, "most workers are left for the others") })
}

func TestAServerThatComesBackIsLookedAtOverANewConnection(t *testing.T) {
	w := started(t, quick)
	w.server.do(func() { w.server.down = true })
	w.polls(1)
	w.server.do(func() { w.server.down = false; w.server.members[0].mode = ptypes.ReplicaMode_ERR })
	w.modes(map[string]string{first: v1beta2.ReplicaModeERR})
}

func TestAnEngineThatDoesNotRunIsNotAsked(t *testing.T) {
	w := started(t, quick)
	w.spec(map[string]any{"desireState": v1beta2.InstanceStateStopped})
	w.status(w.get(), map[string]any{"currentState": v1beta2.InstanceStateStopped, "port": 0, "storageIP": "", "instanceManagerName": ""})
	calls := -1
	require.Eventually(t, func() bool {
		before := calls
		calls = len(w.server.called())
		return before == calls
	}, patience, 5*quick.Period, "it is asked for ever")
	require.Equal(t, map[string]string{first: v1beta2.ReplicaModeRW}, w.get().Status.ReplicaModeMap,
		"the modes stay for those who close the volume")
	w.maps(first, nil)
	w.modes(map[string]string{})
}

func TestTheModesAreReadOnceMoreBeforeAnEngineStops(t *testing.T) {
	slow := quick
	slow.Period = time.Hour
	w := newWorld(t, slow)
	p := w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.server.do(func() { w.server.members[0].mode = ptypes.ReplicaMode_ERR })
	w.spec(map[string]any{"desireState": v1beta2.InstanceStateStopped})
	require.NoError(t, p.controller.PollBeforeStop(t.Context(), w.get()))
	require.Equal(t, v1beta2.ReplicaModeERR, w.get().Status.ReplicaModeMap[first])
	require.Contains(t, w.get().Status.Snapshots, "volume-head", "what it does not ask for stays")
	w.server.do(func() { w.server.down = true })
	require.Error(t, p.controller.PollBeforeStop(t.Context(), w.get()))
	require.Equal(t, v1beta2.ReplicaModeERR, w.get().Status.ReplicaModeMap[first])
}

func TestModesAreToldByNameToWhoDestroysData(t *testing.T) {
	w := newWorld(t, quick)
	p := w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	modes, err := p.controller.Modes(t.Context(), w.get())
	require.NoError(t, err)
	require.Equal(t, map[string]string{first: v1beta2.ReplicaModeRW}, modes)
	w.server.do(func() { w.server.down = true })
	_, err = p.controller.Modes(t.Context(), w.get())
	require.ErrorIs(t, err, imclient.ErrUnreachable)
	e := w.get()
	e.Status.CurrentState = v1beta2.InstanceStateStopped
	_, err = p.controller.Modes(t.Context(), e)
	require.ErrorContains(t, err, "does not run")
}

func TestTheNextRunOfAnEngineShowsItsOwnReplicasAlone(t *testing.T) {
	w := started(t, quick)
	w.server.do(func() { w.server.members = nil })
	w.server.has(addresses[second], ptypes.ReplicaMode_RW)
	w.maps(first, nil, second, addresses[second])
	w.runs(name, im, "run-2")
	w.modes(map[string]string{second: v1beta2.ReplicaModeRW})
}

func TestAV2EngineIsAskedUnderTheNameOfItsFrontend(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.v2 = true; w.server.members[0].name = first })
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2})
	w.create(&v1beta2.EngineFrontend{ObjectMeta: w.meta("other-ef-0"),
		Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: "vol-e-9"}})
	w.create(&v1beta2.EngineFrontend{ObjectMeta: w.meta("vol-ef-0"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: name}})
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.server.do(func() {
		for _, r := range w.server.asked {
			require.Equal(t, "vol-ef-0", r.GetEngineFrontendName())
			require.Equal(t, imrpc.DataEngine_DATA_ENGINE_V2, r.GetDataEngine())
			require.Equal(t, serverAddress+":10000 "+name+" vol", r.GetAddress()+" "+r.GetEngineName()+" "+r.GetVolumeName())
		}
	})
}

func TestAV2EngineWithoutAFrontendHasNoPortAndIsLookedAt(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.v2 = true; w.server.members[0].name = first })
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2, "disableFrontend": true})
	w.create(&v1beta2.EngineFrontend{ObjectMeta: w.meta("vol-ef-0"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: name}})
	w.status(&v1beta2.Engine{ObjectMeta: w.meta(name)}, map[string]any{"port": nil})
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.server.do(func() {
		for _, r := range w.server.asked {
			require.Empty(t, r.GetEngineFrontendName(), "its frontend does not run")
		}
	})
}

// After a live upgrade the engine may be on another node than the frontend.
func TestWhatChangesAV2EngineGoesThroughItsFrontendWhereverThatIs(t *testing.T) {
	w := newWorld(t, quick)
	far, f := w.farFrontend()
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.maps(second, addresses[second])
	w.start()
	w.polls(5)
	require.Empty(t, w.server.changes(), "it is not known where the frontend is")
	w.status(f, farAway)
	w.eventually("it does not grow", func() bool { return len(far.called("VolumeExpand")) > 0 })
	w.server.do(func() { w.server.size = 2 * gib })
	w.eventually("no replica is added", func() bool { return len(far.called("ReplicaAdd")) > 0 })
	far.do(func() {
		for _, r := range far.asked {
			require.Equal(t, "10.0.0.2:20006 "+name+" vol-ef-0", r.GetAddress()+" "+r.GetEngineName()+" "+r.GetEngineFrontendName())
		}
	})
	require.Empty(t, w.server.changes())
	require.Empty(t, far.called("ReplicaList"), "the engine is polled where it is")
}

// farAway is where a frontend is that no engine runs beside.
var farAway = map[string]any{"instanceManagerName": "im-2", "storageIP": "10.0.0.2", "port": 20006}

// farFrontend makes the engine v2, with a frontend that is not started yet, and an instance manager that runs no engine for it.
func (w *world) farFrontend() (*engineServer, *v1beta2.EngineFrontend) {
	w.t.Helper()
	w.server.do(func() { w.server.v2 = true; w.server.members[0].name = first })
	far := serve(w.t)
	far.do(func() { far.v2 = true })
	w.servers["10.0.0.2"] = far
	w.manager("im-2", "10.0.0.2")
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2})
	f := &v1beta2.EngineFrontend{ObjectMeta: w.meta("vol-ef-0"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: name}}
	w.create(f)
	return far, f
}

// No poll goes to the instance manager of such a frontend: only calls notice that it was restarted.
func TestAFrontendWhoseInstanceManagerWasRestartedIsCalledOverANewConnection(t *testing.T) {
	w := newWorld(t, quick)
	far, f := w.farFrontend()
	w.status(f, farAway)
	w.start()
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.eventually("it does not grow", func() bool { return len(far.called("VolumeExpand")) > 0 })
	w.server.do(func() { w.server.size = 2 * gib })
	w.until("its size is not seen", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == 2*gib })
	far.restart()
	before := len(far.called("VolumeExpand"))
	w.spec(map[string]any{"volumeSize": "3221225472"})
	w.eventually("it does not grow after the restart", func() bool { return len(far.called("VolumeExpand")) > before })
}

// Between switching and promoting the server would send it to the engine that does not get the writes any more.
func TestWhatGoesThroughAFrontendWaitsWhileThatSwitchesOver(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.v2 = true; w.server.members[0].name = first })
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2, "volumeSize": "2147483648"})
	f := &v1beta2.EngineFrontend{ObjectMeta: w.meta("vol-ef-0"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: "vol-e-9"}}
	w.create(f)
	here := map[string]any{"instanceManagerName": im, "storageIP": serverAddress, "port": 20006, "targetIP": serverAddress,
		"targetPort": 10000}
	w.status(f, here)
	for _, phase := range []string{v1beta2.SwitchoverPreparing, v1beta2.SwitchoverSwitching, v1beta2.SwitchoverPromoting,
		v1beta2.SwitchoverReverting} {
		w.status(f, map[string]any{"switchoverPhase": phase, "switchover": map[string]any{"engineName": "vol-e-9"}})
		if phase == v1beta2.SwitchoverPreparing {
			w.start()
		}
		w.polls(3)
		require.Empty(t, w.server.changes(), phase)
	}
	w.status(f, map[string]any{"switchoverPhase": nil, "switchover": nil})
	w.eventually("it does not grow", func() bool { return len(w.server.called("VolumeExpand")) > 0 })
}

func TestWorkForAnEngineThatItsFrontendDoesNotLeadToYetWaits(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.v2 = true; w.server.members[0].name = first })
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2, "volumeSize": "2147483648"})
	f := &v1beta2.EngineFrontend{ObjectMeta: w.meta("vol-ef-0"), Spec: v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: name}}
	w.create(f)
	w.status(f, map[string]any{"instanceManagerName": im, "storageIP": serverAddress, "port": 20006, "targetIP": "10.0.0.7",
		"targetPort": 10000})
	w.start()
	w.polls(3)
	require.Empty(t, w.server.changes())
	w.status(f, map[string]any{"targetIP": serverAddress})
	w.eventually("it does not grow", func() bool { return len(w.server.called("VolumeExpand")) > 0 })
}
