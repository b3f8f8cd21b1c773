package disk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/diskspace"
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
		w.Status["fast"] = v1beta2.DiskStatus{DiskType: v1beta2.DiskTypeBlock, DiskPath: "0000:00:1e.0"}
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
		w.Specs["slow"] = v1beta2.DiskSpec{DiskType: v1beta2.DiskTypeBlock, Path: "/dev/sdc", Initialize: "adopt:" + mine}
		w.Server.Answers["slow"] = loaded
	}))
	require.Equal(t, mine, v.Changes["fast"].DiskUUID)
	require.Empty(t, v.Changes["slow"].DiskUUID)
	require.Contains(t, message(v.Changes["slow"]), "Disk slow at /dev/sdc holds the lvstore of disk fast")
}

func TestALvstoreBelongsToTheDiskThatItIsRecordedOfWhicheverSortsFirst(t *testing.T) {
	adopts := func(key string) func(*World) {
		return func(w *World) {
			w.Specs[key] = v1beta2.DiskSpec{DiskType: v1beta2.DiskTypeBlock, Path: "/dev/sdc", Initialize: "adopt:" + mine}
			w.Server.Answers[key] = loaded
		}
	}
	alsoRecorded := func(key, kind string) func(*World) {
		return func(w *World) {
			adopts(key)(w)
			w.Status[key] = v1beta2.DiskStatus{DiskType: kind, DiskUUID: mine, AcknowledgedAt: ago(time.Hour)}
		}
	}
	silent := Answer{Failed: "deadline"}
	for _, c := range []struct {
		name  string
		world World
		ready map[string]bool
	}{
		{"a disk that adopts it comes first", world(silent, recorded(nil), adopts("aa")), map[string]bool{"aa": false, "fast": false}},
		{"a disk that adopts it comes last", world(loaded, recorded(nil), adopts("zz")), map[string]bool{"fast": true, "zz": false}},
		{"it is recorded of both", world(loaded, recorded(nil), alsoRecorded("aa", v1beta2.DiskTypeBlock)),
			map[string]bool{"aa": true, "fast": false}},
		{"what is recorded of a filesystem disk does not count",
			world(loaded, recorded(nil), alsoRecorded("aa", "filesystem"), func(w *World) { delete(w.Specs, "aa") }), map[string]bool{"fast": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			for key, ready := range c.ready {
				require.Equal(t, ready, conditions.IsTrue(v.Changes[key].Conditions, v1beta2.DiskReady), key)
			}
		})
	}
	require.Contains(t, message(Decide(world(silent, recorded(nil), adopts("aa"))).Changes["aa"]), "holds the lvstore of disk fast")
}

func TestALvstoreWithoutAUUIDIsNeverRecorded(t *testing.T) {
	nameless := Answer{State: v1beta2.DiskLoadReady, Name: "fastn1", Driver: "nvme", TotalBytes: 100, FreeBytes: 60}
	for _, marks := range []func(*World){mark("adopt:"), func(w *World) { mark("new")(w); attempt(newAsked)(w) }} {
		s := Decide(world(nameless, marks)).Changes["fast"]
		require.Equal(t, v1beta2.ReasonDiskFilesystemChanged, conditions.Reason(s.Conditions, v1beta2.DiskReady))
		require.Empty(t, s.DiskName)
	}
}

func TestADiskIsReleasedAlthoughOtherDisksAreInUseAndWaitsOnlyForItsOwn(t *testing.T) {
	left := func(w *World) { delete(w.Specs, "fast") }
	v := Decide(world(loaded, recorded(nil), left, func(w *World) {
		w.Replicas, w.Server.InUse[theirs] = []Replica{{Name: "r-1", DiskID: theirs}}, true
	}))
	require.Len(t, v.Calls, 1)
	for name, held := range map[string]func(*World){
		"a Replica":        func(w *World) { w.Replicas = []Replica{{Name: "r-1", DiskID: mine}} },
		"a running one":    func(w *World) { w.Server.InUse[mine] = true },
		"nothing is known": func(w *World) { w.Server.InUse = nil },
		"no answer":        func(w *World) { w.Server = nil },
	} {
		require.Equal(t, LatePause, Decide(world(loaded, recorded(nil), left, held)).After, "%s: it is decided again", name)
	}
}

func TestAPathIsThatOfTheSpecUntilADiskIsRecorded(t *testing.T) {
	for _, c := range []struct{ uuid, path, want string }{{"", "/dev/old", "/dev/sdb"}, {"", "", "/dev/sdb"}, {mine, "", "/dev/sdb"},
		{mine, "/dev/old", "/dev/old"}} {
		s := Decide(world(Answer{Failed: "deadline"}, recorded(func(s *v1beta2.DiskStatus) {
			s.DiskType, s.DiskUUID, s.DiskPath = "", c.uuid, c.path
		}))).Changes["fast"]
		require.Equal(t, c.want, s.DiskPath, c)
		require.Equal(t, v1beta2.DiskTypeBlock, s.DiskType, "the type is that of the spec")
	}
	require.NotContains(t, message(Decide(world(loaded, recorded(nil))).Changes["fast"]), "loaded from", "the path did not change")
}

func TestADiskIsPolledSlowlyWhileOnlyAPersonOrTimeCanChangeIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		world World
		after time.Duration
	}{
		{"an unknown state", world(Answer{State: "odd"}, recorded(nil)), LatePause},
		{"its device vanished", world(Answer{Failed: "no bdev", Vanished: true}, recorded(nil)), LatePause},
		{"another lvstore", world(foreign, recorded(nil)), LatePause},
		{"no mark allows to record it", world(foreign), LatePause},
		{"replicas run on it", world(inError, recorded(nil), attempt(failed2), func(w *World) { w.Server.InUse[mine] = true }), LatePause},
		{"no answer, a minute after an attempt", world(Answer{Failed: "deadline"}, recorded(nil), attempt(asked)), LatePause},
		{"the next attempt is due", world(inError, recorded(nil), attempt(failed1)), time.Second},
		{"the server is to forget it", world(inError), SoonPause},
		{"a whole list is due", world(loaded, recorded(nil), attempt(v1beta2.DiskLoad{Server: thisRun, State: v1beta2.DiskLoadReady,
			UUID: mine, ReadyAt: ago(time.Minute)}), func(w *World) { w.Server.Listed = now.Add(-time.Minute) }), SoonPause},
	} {
		require.Equal(t, c.after, Decide(c.world).After, c.name)
	}
}

func TestAnAttemptStaysUnderWayAsLongAsItsServerMayAnswerAndALoadedDiskStaysLoaded(t *testing.T) {
	silent := Answer{Failed: "deadline"}
	as := func(load v1beta2.DiskLoad, state string) v1beta2.DiskLoad { load.State = state; return load }
	unreadable := asked
	unreadable.RequestedAt = "just now"
	for _, c := range []struct {
		name   string
		answer Answer
		load   v1beta2.DiskLoad
		want   string
	}{
		{"requested, the call may still be executed", silent, asked, v1beta2.DiskLoadRequested},
		{"requested, it no longer can", silent, askedOld, v1beta2.DiskLoadError},
		{"requested, nobody can read when", silent, unreadable, v1beta2.DiskLoadError},
		{"creating, it no longer can", silent, as(askedOld, v1beta2.DiskLoadCreating), v1beta2.DiskLoadError},
		{"ready, and the server is silent", silent, as(askedOld, v1beta2.DiskLoadReady), v1beta2.DiskLoadReady},
		{"creating, as the server reports", Answer{State: v1beta2.DiskLoadCreating}, asked, v1beta2.DiskLoadCreating},
		{"in error, as the server reports", inError, failed1, v1beta2.DiskLoadError},
		{"in error, after it was requested", inError, asked, v1beta2.DiskLoadError},
	} {
		w := world(c.answer, recorded(nil), attempt(c.load))
		w.RetryMin = time.Hour
		require.Equal(t, c.want, Decide(w).Changes["fast"].Load.State, c.name)
	}
}

func TestADiskIsLoadedAtOnceInANewRunHoweverYoungTheAttemptInTheEarlierOne(t *testing.T) {
	young := asked
	young.Server, young.RequestedAt = "pod/before", ago(time.Second)
	v := Decide(world(unknown, recorded(nil), attempt(young)))
	require.Equal(t, []Call{{Key: "fast", Op: OpCreate, Path: "/dev/sdb", UUID: mine, Driver: "aio"}}, v.Calls)
}

func TestAMarkToFormatWaitsForTheAttemptToAdoptBeforeIt(t *testing.T) {
	adopted := func(age time.Duration) func(*World) {
		return attempt(v1beta2.DiskLoad{Server: thisRun, State: v1beta2.DiskLoadError, UUID: theirs, RequestedAt: ago(age), Attempts: 1})
	}
	require.Empty(t, Decide(world(unknown, mark("new"), adopted(time.Minute))).Calls, "its call may still be executed")
	v := Decide(world(unknown, mark("new"), adopted(3*time.Minute)))
	require.Len(t, v.Calls, 1)
	require.Empty(t, v.Calls[0].UUID)
	for name, w := range map[string]World{
		"what it loaded is not new":       world(foreign, mark("new"), adopted(time.Minute)),
		"nor what a removed mark brought": world(foreign, attempt(newAsked)),
	} {
		s := Decide(w).Changes["fast"]
		require.Equal(t, v1beta2.ReasonNotInitialized, conditions.Reason(s.Conditions, v1beta2.DiskReady), name)
		require.Empty(t, s.DiskUUID, name)
	}
}

func TestADiskThatIsAdoptedIsLoadedAgainWhateverRuns(t *testing.T) {
	v := Decide(world(inError, mark("adopt:"+mine), attempt(failed2), func(w *World) { w.Server.InUse = nil }))
	require.Len(t, v.Calls, 1, "nothing of it is known to be in use: it was never recorded")
	require.Equal(t, OpReload, v.Calls[0].Op)
}

func TestOnlyABlockDiskOrAReplicaAtTheSamePathStopsANewDisk(t *testing.T) {
	beside := func(kind, path string) func(*World) {
		return func(w *World) {
			w.Specs["aa"] = v1beta2.DiskSpec{DiskType: kind, Path: path}
			w.Replicas = []Replica{{Name: "r-1", DiskID: theirs, DiskPath: "/dev/sdc"}}
		}
	}
	require.Len(t, Decide(world(unknown, mark("new"), beside("filesystem", "/dev/sdb"))).Calls, 1)
	require.Len(t, Decide(world(unknown, mark("new"), beside(v1beta2.DiskTypeBlock, "/dev/sdc"))).Calls, 1)
	require.Empty(t, Decide(world(unknown, mark("new"), beside(v1beta2.DiskTypeBlock, "/dev/sdb"))).Calls)
}

func TestOfTwoRecordedDisksWithOnePathTheFirstIsLoaded(t *testing.T) {
	for key, called := range map[string]string{"aa": "aa", "zz": "fast"} {
		v := Decide(world(unknown, recorded(nil), beside(key, theirs), func(w *World) { w.Server.Answers[key] = unknown }))
		require.Len(t, v.Calls, 1)
		require.Equal(t, called, v.Calls[0].Key)
	}
}

func TestOneDiskThatNeedsAWholeListIsEnough(t *testing.T) {
	settled := func(key string, age time.Duration) func(*World) {
		return func(w *World) {
			w.Specs[key], w.Server.Answers[key] = v1beta2.DiskSpec{DiskType: v1beta2.DiskTypeBlock, Path: "/dev/" + key}, foreign
			w.Status[key] = v1beta2.DiskStatus{DiskType: v1beta2.DiskTypeBlock, DiskUUID: theirs, AcknowledgedAt: ago(time.Hour),
				Load: &v1beta2.DiskLoad{Server: thisRun, State: v1beta2.DiskLoadReady, UUID: theirs, ReadyAt: ago(age)}}
			w.Server.Listed = now.Add(-10 * time.Second)
		}
	}
	for _, key := range []string{"aa", "zz"} {
		require.True(t, Decide(world(Answer{Failed: "deadline"}, recorded(nil), settled(key, 30*time.Second))).Relist, key)
		require.False(t, Decide(world(Answer{Failed: "deadline"}, recorded(nil), settled(key, time.Hour))).Relist, key)
	}
}

func TestAnAcknowledgedDiskIsNotListedAgainAndARecordIsWrittenWhole(t *testing.T) {
	ready := attempt(v1beta2.DiskLoad{Server: thisRun, State: v1beta2.DiskLoadReady, UUID: mine, ReadyAt: ago(time.Hour)})
	v := Decide(world(loaded, recorded(nil), ready))
	require.Empty(t, v.List)
	held := func(w *World) { w.Server.Contents = map[string][]string{"fast": {"r-2", "r-1"}} }
	require.Empty(t, Decide(world(loaded, recorded(nil), ready, held)).Changes["fast"].AcknowledgedReplicas)
	half := recorded(func(s *v1beta2.DiskStatus) { s.AcknowledgedAt, s.AcknowledgedReplicas = "", []string{"r-0"} })
	require.Equal(t, []string{"r-1", "r-2"}, Decide(world(loaded, half, ready, held)).Changes["fast"].AcknowledgedReplicas)
	unlisted := Decide(world(loaded, half, ready)).Changes["fast"].Conditions
	require.Contains(t, conditions.Get(unlisted, v1beta2.DiskSchedulable).Message, "are not listed completely yet")
}

func TestADiskWithoutSpaceIsReportedAsThatWhateverTheSettings(t *testing.T) {
	for _, c := range []struct{ total, free int64 }{{0, 0}, {0, 5}, {100, 0}, {100, -1}, {-1, 5}} {
		answer := loaded
		answer.TotalBytes, answer.FreeBytes = c.total, c.free
		s := Decide(world(answer, recorded(nil), func(w *World) { w.Pressure = diskspace.Limits{} })).Changes["fast"]
		require.Contains(t, conditions.Get(s.Conditions, v1beta2.DiskSchedulable).Message, "has no space left", c)
	}
}

func TestAConditionKeepsTheTimeOfItsTransition(t *testing.T) {
	w := world(loaded, recorded(nil), attempt(asked))
	w.Status["fast"] = *Decide(w).Changes["fast"]
	w.Now, w.Server.Answers["fast"] = now.Add(time.Hour), Answer{State: v1beta2.DiskLoadReady, UUID: mine, TotalBytes: 100, FreeBytes: 50}
	for _, kind := range []string{v1beta2.DiskReady, v1beta2.DiskSchedulable} {
		require.Equal(t, stamp(now), conditions.Get(Decide(w).Changes["fast"].Conditions, kind).LastTransitionTime, kind)
	}
	w.Server.Answers["fast"] = Answer{Failed: "deadline"}
	s := Decide(w).Changes["fast"]
	require.Equal(t, stamp(w.Now), conditions.Get(s.Conditions, v1beta2.DiskSchedulable).LastTransitionTime)
	require.Equal(t, v1beta2.ReasonDiskNotReady, conditions.Reason(s.Conditions, v1beta2.DiskSchedulable))
}
