package disk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func message(s *v1beta2.DiskStatus) string {
	return conditions.Get(s.Conditions, v1beta2.DiskReady).Message
}

func TestADiskThatWasNotAskedAboutIsNotOneThatTheServerLacks(t *testing.T) {
	v := Decide(world(unknown, recorded(nil), func(w *World) { w.Server.Answers = nil }))
	require.Empty(t, v.Calls)
	require.Contains(t, message(v.Changes["fast"]), "it was not asked yet")
	require.Equal(t, LatePause, v.After)
}

func TestADiskOfWhichNothingIsRecordedLeavesAtOnce(t *testing.T) {
	left := func(w *World) {
		delete(w.Specs, "fast")
		w.Status["fast"] = v1beta2.DiskStatus{DiskType: TypeBlock, DiskPath: "0000:00:1e.0"}
	}
	v := Decide(world(unknown, left))
	require.Equal(t, map[string]*v1beta2.DiskStatus{"fast": nil}, v.Changes)
	require.Equal(t, []Call{{Key: "fast", Op: OpDelete, Path: "0000:00:1e.0", Driver: "nvme"}}, v.Calls, "the server may hold a failed entry")
	v = Decide(world(unknown, left, func(w *World) { w.Server = nil }))
	require.Equal(t, map[string]*v1beta2.DiskStatus{"fast": nil}, v.Changes)
	require.Empty(t, v.Calls)
}

func TestAMessageNamesTheReplicaThatSortsFirst(t *testing.T) {
	replicas := func(names ...string) func(*World) {
		return func(w *World) {
			for _, name := range names {
				w.Replicas = append(w.Replicas, Replica{Name: name, DiskID: mine, DiskPath: "/dev/sdb"})
			}
		}
	}
	left := func(w *World) { delete(w.Specs, "fast") }
	for _, order := range [][]string{{"r-1", "r-2", "r-3"}, {"r-3", "r-1", "r-2"}, {"r-2", "r-3", "r-1"}} {
		require.Contains(t, message(Decide(world(loaded, recorded(nil), left, replicas(order...))).Changes["fast"]), "replica r-1 has data")
		require.Contains(t, message(Decide(world(unknown, mark("new"), replicas(order...))).Changes["fast"]), "Replica r-1 is on disk")
	}
}

// A mark that is taken back ends what it began, so that the next one begins again.
func TestAnAttemptIsForgottenOnceItsMarkIsRemovedAndItIsOver(t *testing.T) {
	requested := func(server string, age time.Duration) v1beta2.DiskLoad {
		return v1beta2.DiskLoad{Server: server, State: v1beta2.DiskLoadRequested, RequestedAt: ago(age), Attempts: 1}
	}
	for _, c := range []struct {
		name   string
		load   v1beta2.DiskLoad
		forgot bool
	}{
		{"the call may still reach the server", requested(thisRun, time.Minute), false},
		{"no call reaches the server any more", requested(thisRun, 3*time.Minute), true},
		{"it was asked of an earlier run", requested("pod/before", time.Minute), true},
		{"it failed", v1beta2.DiskLoad{Server: thisRun, State: v1beta2.DiskLoadError, RequestedAt: ago(time.Second)}, true},
		{"no one can read when it began", v1beta2.DiskLoad{Server: thisRun, State: v1beta2.DiskLoadRequested, RequestedAt: "soon"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(world(unknown, attempt(c.load)))
			require.Empty(t, v.Calls)
			require.Equal(t, v1beta2.ReasonNotInitialized, conditions.Reason(v.Changes["fast"].Conditions, v1beta2.DiskReady))
			require.Equal(t, c.forgot, v.Changes["fast"].Load == nil)
		})
	}
}

func TestALostAnswerIsWaitedForExactlyAsLongAsTheServerMayWorkOnIt(t *testing.T) {
	since := func(age time.Duration) World {
		return world(unknown, recorded(nil), attempt(v1beta2.DiskLoad{Server: thisRun, State: v1beta2.DiskLoadRequested, UUID: mine,
			RequestedAt: ago(age), Attempts: 1}))
	}
	for age, after := range map[time.Duration]time.Duration{59 * time.Second: SoonPause, time.Minute: LatePause,
		2*time.Minute + 45*time.Second: 15 * time.Second, 2*time.Minute + 59*time.Second: time.Second, -time.Hour: SoonPause} {
		v := Decide(since(age))
		require.Empty(t, v.Calls, age)
		require.Equal(t, after, v.After, age)
	}
	again := Decide(since(3 * time.Minute))
	require.Len(t, again.Calls, 1)
	require.Equal(t, 2, again.Changes["fast"].Load.Attempts, "attempts of one run are counted")
}

func TestAttemptsAreCountedFromOneInEachRunAndAfterEachSuccess(t *testing.T) {
	for name, load := range map[string]v1beta2.DiskLoad{
		"an earlier run": {Server: "pod/before", State: v1beta2.DiskLoadError, UUID: mine, RequestedAt: ago(time.Hour), Attempts: 7},
		"a success":      {Server: thisRun, State: v1beta2.DiskLoadReady, UUID: mine, RequestedAt: ago(time.Hour), Attempts: 7},
	} {
		v := Decide(world(unknown, recorded(nil), attempt(load)))
		require.Equal(t, 1, v.Changes["fast"].Load.Attempts, name)
	}
	ready := Decide(world(loaded, recorded(nil), attempt(failed3))).Changes["fast"].Load
	require.Zero(t, ready.Attempts)
	require.Equal(t, stamp(now), ready.ReadyAt)
}

func TestTheEarliestOfTheDisksDecidesWhenToDecideAgain(t *testing.T) {
	v := &Verdict{}
	for _, c := range []struct{ after, want time.Duration }{{0, 0}, {LatePause, LatePause}, {0, LatePause}, {SoonPause, SoonPause},
		{LatePause, SoonPause}} {
		v.again(c.after)
		require.Equal(t, c.want, v.After)
	}
}

func TestStatusIsWrittenWhereAnyFieldDiffersAndOnlyThere(t *testing.T) {
	base := func() v1beta2.DiskStatus {
		return v1beta2.DiskStatus{ScheduledReplica: map[string]int64{"r": 1}, AcknowledgedReplicas: []string{"r"},
			Load: &v1beta2.DiskLoad{Server: thisRun}, Conditions: ready(nil, now, v1beta2.ConditionTrue, v1beta2.ReasonDiskReady, "loaded")}
	}
	for name, change := range map[string]func(*v1beta2.DiskStatus){
		"uuid":         func(s *v1beta2.DiskStatus) { s.DiskUUID = mine },
		"name":         func(s *v1beta2.DiskStatus) { s.DiskName = "x" },
		"path":         func(s *v1beta2.DiskStatus) { s.DiskPath = "x" },
		"type":         func(s *v1beta2.DiskStatus) { s.DiskType = "x" },
		"driver":       func(s *v1beta2.DiskStatus) { s.DiskDriver = "x" },
		"manager":      func(s *v1beta2.DiskStatus) { s.InstanceManagerName = "x" },
		"acknowledged": func(s *v1beta2.DiskStatus) { s.AcknowledgedAt = "x" },
		"maximum":      func(s *v1beta2.DiskStatus) { s.StorageMaximum = 1 },
		"available":    func(s *v1beta2.DiskStatus) { s.StorageAvailable = 1 },
		"scheduled":    func(s *v1beta2.DiskStatus) { s.StorageScheduled = 1 },
		"a replica":    func(s *v1beta2.DiskStatus) { s.ScheduledReplica["r"] = 2 },
		"held":         func(s *v1beta2.DiskStatus) { s.AcknowledgedReplicas = nil },
		"load":         func(s *v1beta2.DiskStatus) { s.Load.Attempts = 1 },
		"no load":      func(s *v1beta2.DiskStatus) { s.Load = nil },
		"condition":    func(s *v1beta2.DiskStatus) { s.Conditions[0].Reason = "x" },
	} {
		other := base()
		change(&other)
		require.False(t, same(base(), other), name)
		require.False(t, same(other, base()), name)
		require.True(t, same(other, other), name)
	}
	later := base()
	later.Conditions[0].LastTransitionTime = stamp(now.Add(time.Hour))
	require.True(t, same(base(), later), "the time of a transition alone is no change")
}

func TestOfTwoNewDisksWithOneLvstoreTheFirstIsReadyAndTheOtherNamesIt(t *testing.T) {
	v := Decide(world(loaded, mark("adopt:"+mine), func(w *World) {
		w.Specs["slow"] = v1beta2.DiskSpec{DiskType: TypeBlock, Path: "/dev/sdc", Initialize: "adopt:" + mine}
		w.Server.Answers["slow"] = loaded
	}))
	require.Equal(t, mine, v.Changes["fast"].DiskUUID)
	require.Empty(t, v.Changes["slow"].DiskUUID)
	require.Contains(t, message(v.Changes["slow"]), "Disk slow at /dev/sdc holds the lvstore of disk fast")
}
