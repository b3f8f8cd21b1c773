package enginepoll_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

const (
	rw     = v1beta2.ReplicaModeRW
	wo     = v1beta2.ReplicaModeWO
	failed = v1beta2.ReplicaModeERR
)

func (w *world) rebuildStatus(of string) func(*v1beta2.Engine) v1beta2.RebuildStatus {
	return func(e *v1beta2.Engine) v1beta2.RebuildStatus { return e.Status.RebuildStatus["tcp://"+addresses[of]] }
}

func TestAReplicaIsRebuiltWhileTheEngineIsLookedAt(t *testing.T) {
	w := started(t, quick)
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.server.do(func() { w.server.find("tcp://" + addresses[second]).progress = 40 })
	progress := w.rebuildStatus(second)
	w.until("no progress is reported", func(e *v1beta2.Engine) bool { return progress(e).Progress == 40 && progress(e).IsRebuilding })
	w.server.rebuilt(addresses[second])
	e := w.modes(map[string]string{first: rw, second: rw})
	require.Equal(t, addresses[second], e.Status.CurrentReplicaAddressMap[second])
	w.until("its end is not reported", func(e *v1beta2.Engine) bool { return !progress(e).IsRebuilding && progress(e).Progress == 100 })
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes())
}

func TestALookThatNobodyAnswersCutsNoRebuildOff(t *testing.T) {
	w := started(t, quick)
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.server.refuse(t, "ReplicaList", status.Error(codes.Unavailable, "busy"))
	w.polls(2)
	w.server.refuse(t, "ReplicaList", nil)
	w.polls(3)
	w.server.do(func() { require.Zero(t, w.server.cut) })
	w.server.rebuilt(addresses[second])
	w.modes(map[string]string{first: rw, second: rw})
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes())
}

// A real engine answers the question for rebuilds with an error while a replica that is being rebuilt hangs.
func TestARebuildThatHangsHidesNoModes(t *testing.T) {
	w := started(t, quick)
	w.server.refuse(t, "ReplicaRebuildingStatus", status.Error(codes.Internal, "failed to check the restore status"))
	w.maps(second, addresses[second], third, addresses[third])
	w.modes(map[string]string{first: rw, second: wo})
	w.server.do(func() { w.server.find("tcp://" + addresses[second]).mode = ptypes.ReplicaMode_ERR })
	w.until("the failure is not reported", func(e *v1beta2.Engine) bool { return e.Status.ReplicaModeMap[second] == failed })
}

// The copy may go on while one of its replicas hangs: a rebuild beside it would read incomplete data.
func TestNoReplicaIsAddedBesideACopyThatDoesNotAnswer(t *testing.T) {
	w := started(t, quick)
	w.server.refuse(t, "SnapshotCloneStatus", status.Error(codes.Internal, "failed to get the clone status"))
	w.spec(map[string]any{"requestedDataSource": "snap://other/s"})
	w.polls(1)
	w.maps(second, addresses[second])
	w.polls(3)
	require.Empty(t, w.server.changes())
}

func TestReplicasAreRebuiltOneAfterTheOther(t *testing.T) {
	w := started(t, quick)
	w.maps(second, addresses[second], third, addresses[third])
	w.modes(map[string]string{first: rw, second: wo})
	w.polls(3)
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes())
	w.server.rebuilt(addresses[second])
	w.modes(map[string]string{first: rw, second: rw, third: wo})
	w.server.rebuilt(addresses[third])
	w.modes(map[string]string{first: rw, second: rw, third: rw})
	require.Equal(t, []string{"ReplicaAdd", "ReplicaAdd"}, w.server.changes())
}

func TestAV2ReplicaIsRebuiltAfterItsAdditionWasAnswered(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.v2 = true; w.server.members[0].name = first })
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2})
	w.start()
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.polls(3)
	w.server.rebuilt(addresses[second])
	w.modes(map[string]string{first: rw, second: rw})
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes())
}

func TestAReplicaThatIsNotInTheMapIsRemoved(t *testing.T) {
	w := newWorld(t, quick)
	w.server.has(addresses[second], ptypes.ReplicaMode_ERR)
	w.server.has("10.9.9.9:1", ptypes.ReplicaMode_RW)
	w.start()
	w.modes(map[string]string{first: rw})
	require.Equal(t, []string{"ReplicaRemove", "ReplicaRemove"}, w.server.changes())
}

func TestTheLastReplicaThatIsRWIsNeverRemoved(t *testing.T) {
	w := newWorld(t, quick)
	w.server.has(addresses[second], ptypes.ReplicaMode_ERR)
	w.maps(first, nil, second, addresses[second])
	w.start()
	w.until("no poll", func(e *v1beta2.Engine) bool { return e.Status.ReplicaModeMap[second] == failed })
	w.polls(3)
	require.Empty(t, w.server.changes())
}

func TestARebuildThatIsNotWantedAnyMoreEnds(t *testing.T) {
	w := started(t, quick)
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.maps(second, nil)
	w.modes(map[string]string{first: rw})
	require.Equal(t, []string{"ReplicaAdd", "ReplicaRemove"}, w.server.changes())
	w.maps(third, addresses[third])
	w.modes(map[string]string{first: rw, third: wo})
}

func TestAReplicaThatCannotBeAddedCountsAsFailedAfterThreeTries(t *testing.T) {
	w := started(t, quick)
	w.server.refuse(t, "ReplicaAdd", status.Error(codes.Unknown, "connection refused"))
	w.maps(second, addresses[second])
	e := w.modes(map[string]string{first: rw, second: failed})
	require.Len(t, w.server.changes(), 3)
	require.NotEmpty(t, e.Status.ReplicaTransitionTimeMap[second])
	require.NotContains(t, e.Status.CurrentReplicaAddressMap, second)

	w.server.refuse(t, "ReplicaAdd", nil)
	w.maps(second, nil)
	w.modes(map[string]string{first: rw})
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
}

func TestWhoDidNotAnswerAnAdditionHasNotFailedIt(t *testing.T) {
	w := started(t, quick)
	w.server.refuse(t, "ReplicaAdd", status.Error(codes.Unavailable, "gone"))
	w.maps(second, addresses[second])
	w.eventually("it is not tried again", func() bool { return len(w.server.changes()) >= 4 })
	require.Equal(t, map[string]string{first: rw}, w.get().Status.ReplicaModeMap)
}

// small makes the volume so small that no per cent of it takes long.
func (w *world) small() {
	w.t.Helper()
	w.spec(map[string]any{"volumeSize": "1048576"})
	w.server.do(func() { w.server.size = 1 << 20 })
}

func TestARebuildWithoutProgressIsGivenUp(t *testing.T) {
	impatient := quick
	impatient.RebuildStallTimeout = 500 * time.Millisecond
	w := newWorld(t, impatient)
	w.small()
	w.start()
	w.modes(map[string]string{first: rw})
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: failed})
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes(), "its owner takes it out of the spec")
	w.eventually("no one reports it", func() bool { return w.emitted("RebuildAborted") })
	w.maps(second, nil, third, addresses[third])
	w.eventually("the next one has no turn", func() bool { return len(w.server.changes()) == 3 })
	require.Equal(t, []string{"ReplicaAdd", "ReplicaRemove", "ReplicaAdd"}, w.server.changes())
}

func TestARebuildThatAnotherProcessBeganIsGivenUp(t *testing.T) {
	impatient := quick
	impatient.RebuildStallTimeout = 500 * time.Millisecond
	w := newWorld(t, impatient)
	w.small()
	w.server.has(addresses[second], ptypes.ReplicaMode_WO)
	w.maps(second, addresses[second])
	w.start()
	w.modes(map[string]string{first: rw, second: failed})
	require.Empty(t, w.server.changes())
}

func TestARebuildThatMovesIsNotGivenUp(t *testing.T) {
	impatient := quick
	impatient.RebuildStallTimeout = 2 * time.Second
	w := newWorld(t, impatient)
	w.small()
	w.start()
	w.maps(first, addresses[first], second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	for began := time.Now(); time.Since(began) < 2*impatient.RebuildStallTimeout; {
		w.server.do(func() { w.server.find("tcp://"+addresses[second]).progress++ })
		w.polls(1)
		require.Equal(t, wo, w.get().Status.ReplicaModeMap[second])
	}
}

func TestWhoOnlyObservesCallsNothing(t *testing.T) {
	w := newWorld(t, quick)
	w.observe = true
	w.server.has("10.9.9.9:1", ptypes.ReplicaMode_ERR)
	w.maps(second, addresses[second])
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.start()
	w.polls(5)
	require.Empty(t, w.server.changes())
}

// rebuild lets the second replica be rebuilt, whatever dies meanwhile, and plays attach-controller, which takes one out and back that
// counts as failed.
func (w *world) rebuild() {
	w.t.Helper()
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.server.rebuilt(addresses[second])
	w.until("it never counts as rebuilt", func(e *v1beta2.Engine) bool {
		switch e.Status.ReplicaModeMap[second] {
		case rw:
			return true
		case failed:
			w.repeat()
		}
		return false
	})
	w.modes(map[string]string{first: rw, second: rw})
}

// repeat takes the second replica out of the engine and gives it back, and lets the rebuild end well that follows.
func (w *world) repeat() {
	w.t.Helper()
	w.maps(second, nil)
	w.modes(map[string]string{first: rw})
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.server.rebuilt(addresses[second])
}

// ALL-2: whichever write the process dies at, the replica is whole in the end, and was added again only where its rebuild lost its caller.
func TestAProcessThatDiesDuringARebuildIsFollowedByOneThatWatches(t *testing.T) {
	var writes int
	t.Run("nowhere", func(t *testing.T) {
		w := newWorld(t, quick)
		p := w.start()
		w.rebuild()
		writes = len(p.client.Writes())
	})
	require.GreaterOrEqual(t, writes, 3, "the first poll, the rebuild and its end")
	for _, at := range cut.Points(writes) {
		t.Run(at.String(), func(t *testing.T) {
			w := newWorld(t, quick)
			p := w.startCut(at)
			followed := make(chan error, 1)
			go func() {
				err := <-p.done
				p.done <- err
				if err == nil {
					_, err = w.process(cut.Point{})
				}
				followed <- err
			}()
			w.rebuild()
			p.stop()
			require.NoError(t, <-followed)
			w.server.do(func() { require.LessOrEqual(t, len(w.server.joined), 2) })
		})
	}
}

func TestTheLeaderThatComesAfterARebuildBeganWatchesItAndRepeatsIt(t *testing.T) {
	w := started(t, quick)
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.stop()
	w.start()
	w.polls(3)
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes(), "as long as it continues it is left alone")
	w.server.rebuilt(addresses[second])
	w.modes(map[string]string{first: rw, second: failed})
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes(), "its owner takes it out of the spec")
	w.repeat()
	w.modes(map[string]string{first: rw, second: rw})
	require.Equal(t, []string{"ReplicaAdd", "ReplicaRemove", "ReplicaAdd"}, w.server.changes())
	require.Empty(t, w.server.called("ReplicaVerifyRebuild"))
}

func TestTheLeaderThatComesAfterAnAdditionThatNeverCopiedRepeatsIt(t *testing.T) {
	w := started(t, quick)
	w.server.do(func() { w.server.prepares = true })
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	w.polls(3)
	w.modes(map[string]string{first: rw, second: wo})
	w.stop()
	w.server.do(func() { w.server.prepares = false })
	w.start()
	w.modes(map[string]string{first: rw, second: failed})
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes(), "its owner takes it out of the spec")
	w.repeat()
	w.modes(map[string]string{first: rw, second: rw})
	require.Equal(t, []string{"ReplicaAdd", "ReplicaRemove", "ReplicaAdd"}, w.server.changes())
}

func TestAProcessThatIsAskedToStopHandsItsRebuildsOver(t *testing.T) {
	patient := quick
	patient.HandOver = time.Hour
	w := started(t, patient)
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	before := w.running.controller
	w.stop()
	ended := make(chan struct{})
	go func() { before.HandOver(); close(ended) }()
	w.start()
	w.polls(3)
	w.server.do(func() { require.Zero(t, w.server.cut) })
	select {
	case <-ended:
		require.Fail(t, "the process ends before its rebuild")
	default:
	}
	w.server.rebuilt(addresses[second])
	<-ended
	w.modes(map[string]string{first: rw, second: rw})
	require.Equal(t, []string{"ReplicaAdd"}, w.server.changes())
}

func TestAHandOverEndsAfterItsTime(t *testing.T) {
	patient := quick
	patient.HandOver = 10 * time.Millisecond
	w := started(t, patient)
	w.maps(second, addresses[second])
	w.modes(map[string]string{first: rw, second: wo})
	before := w.running.controller
	w.stop()
	before.HandOver()
	w.server.do(func() { require.True(t, w.server.find("tcp://"+addresses[second]).rebuilding) })
}

// The work began after the poll: a v1 engine refuses every addition until it ends, which says nothing about the replica.
func TestAnEngineThatIsBusyFailsNoReplica(t *testing.T) {
	for name, begin := range map[string]func(*engineServer){
		"it expands":         func(s *engineServer) { s.expanding = true },
		"it purges":          func(s *engineServer) { s.work.purging = true },
		"it does not report": func(s *engineServer) { s.refuses["VolumeGet"] = status.Error(codes.Unknown, "no") },
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, quick)
			w.modes(map[string]string{first: rw})
			w.server.do(func() {
				begin(w.server)
				w.server.refuses["ReplicaAdd"] = status.Error(codes.Unknown, "not now")
			})
			w.maps(second, addresses[second])
			w.eventually("it is not tried again", func() bool { return len(w.server.called("ReplicaAdd")) >= 4 })
			require.Equal(t, map[string]string{first: rw}, w.get().Status.ReplicaModeMap)
		})
	}
}
