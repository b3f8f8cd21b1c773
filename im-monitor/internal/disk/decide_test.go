package disk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/diskspace"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const (
	mine    = "11111111-2222-4333-8444-555555555555"
	theirs  = "99999999-2222-4333-8444-555555555555"
	thisRun = "pod/now"
)

func ago(d time.Duration) string { return stamp(now.Add(-d)) }

// world is a node with one block disk, asked and answered.
func world(answer Answer, changes ...func(*World)) World {
	w := World{Now: now, Node: "node-1", Settle: 30 * time.Second, CallTimeout: 3 * time.Minute, RetryMin: 30 * time.Second,
		RetryMax: 10 * time.Minute,
		Pressure: diskspace.Limits{MinimalAvailable: 25, OverProvisioning: 100}, Status: map[string]v1beta2.DiskStatus{},
		Specs: map[string]v1beta2.DiskSpec{"fast": {DiskType: v1beta2.DiskTypeBlock, Path: "/dev/sdb"},
			"hdd": {DiskType: "filesystem", Path: "/data"}},
		Server: &Server{Name: "im-1", Run: thisRun, InUse: map[string]bool{}, Listed: now, Answers: map[string]Answer{"fast": answer}}}
	for _, change := range changes {
		change(&w)
	}
	return w
}

func spec(change func(*v1beta2.DiskSpec)) func(*World) {
	return func(w *World) { s := w.Specs["fast"]; change(&s); w.Specs["fast"] = s }
}

func mark(value string) func(*World) {
	return spec(func(s *v1beta2.DiskSpec) { s.Initialize = value })
}

func recorded(change func(*v1beta2.DiskStatus)) func(*World) {
	return func(w *World) {
		s := v1beta2.DiskStatus{DiskType: v1beta2.DiskTypeBlock, DiskUUID: mine, DiskPath: "/dev/sdb", DiskDriver: "aio", DiskName: "fast",
			AcknowledgedAt: ago(time.Hour)}
		if change != nil {
			change(&s)
		}
		w.Status["fast"] = s
	}
}

func attempt(l v1beta2.DiskLoad) func(*World) {
	return func(w *World) {
		s := w.Status["fast"]
		s.DiskType, s.Load = v1beta2.DiskTypeBlock, &l
		w.Status["fast"] = s
	}
}

// beside is another block disk with the same path.
func beside(key, uuid string) func(*World) {
	return func(w *World) {
		w.Specs[key] = v1beta2.DiskSpec{DiskType: v1beta2.DiskTypeBlock, Path: "/dev/sdb"}
		if uuid != "" {
			w.Status[key] = v1beta2.DiskStatus{DiskType: v1beta2.DiskTypeBlock, DiskUUID: uuid, DiskPath: "/dev/sdb"}
		}
		w.Server.Answers[key] = Answer{Failed: "not asked"}
	}
}

var (
	unknown = Answer{Unknown: true}
	inError = Answer{State: "error"}
	loaded  = Answer{State: "ready", UUID: mine, Name: "fastn1", Driver: "nvme", TotalBytes: 100, FreeBytes: 60}
	foreign = Answer{State: "ready", UUID: theirs, Name: "x", Driver: "aio", TotalBytes: 100, FreeBytes: 60}
	replica = func(w *World) {
		w.Replicas = []Replica{{Name: "r-1", DiskID: theirs, DiskPath: "/dev/sdb"}}
	}
	other    = v1beta2.DiskLoad{Server: "pod/before", State: "ready", UUID: mine, RequestedAt: ago(time.Hour)}
	asked    = v1beta2.DiskLoad{Server: thisRun, State: "requested", UUID: mine, RequestedAt: ago(time.Minute), Attempts: 1}
	askedOld = v1beta2.DiskLoad{Server: thisRun, State: "requested", UUID: mine, RequestedAt: ago(4 * time.Minute), Attempts: 1}
	newAsked = v1beta2.DiskLoad{Server: thisRun, State: "requested", RequestedAt: ago(time.Minute), Attempts: 1}
	newOld   = v1beta2.DiskLoad{Server: thisRun, State: "requested", RequestedAt: ago(4 * time.Minute), Attempts: 1}
	newLost  = v1beta2.DiskLoad{Server: "pod/before", State: "requested", RequestedAt: ago(time.Minute), Attempts: 1}
	newError = v1beta2.DiskLoad{Server: thisRun, State: "error", RequestedAt: ago(time.Hour), Attempts: 1}
	failed1  = v1beta2.DiskLoad{Server: thisRun, State: "error", UUID: mine, RequestedAt: ago(29 * time.Second), Attempts: 1}
	failed2  = v1beta2.DiskLoad{Server: thisRun, State: "error", UUID: mine, RequestedAt: ago(31 * time.Second), Attempts: 1}
	failed3  = v1beta2.DiskLoad{Server: thisRun, State: "error", UUID: mine, RequestedAt: ago(31 * time.Second), Attempts: 2}
)

func TestWhatIsCalledForADiskAndWhatItsConditionSays(t *testing.T) {
	create := func(uuid string) *Call {
		return &Call{Key: "fast", Op: OpCreate, Path: "/dev/sdb", UUID: uuid, Driver: "aio"}
	}
	reload := &Call{Key: "fast", Op: OpReload, Path: "/dev/sdb", UUID: mine, Driver: "aio", DeleteDriver: "aio"}
	const noInfo, notInitialized, changed = v1beta2.ReasonNoDiskInfo, v1beta2.ReasonNotInitialized, v1beta2.ReasonDiskFilesystemChanged
	const uncertain = v1beta2.ReasonInitializationUncertain
	for _, c := range []struct {
		name   string
		world  World
		reason string // of Ready
		call   *Call
		uuid   string // recorded afterwards
		text   string
	}{
		{"no one answers", world(Answer{}, recorded(nil), func(w *World) { w.Server = nil }), noInfo, nil, mine, "InstanceManagers"},
		{"no answer is no unknown disk", world(Answer{Failed: "deadline"}, recorded(nil)), noInfo, nil, mine, "deadline"},

		{"a recorded disk after a start of the server", world(unknown, recorded(nil), attempt(other)), noInfo, create(mine), mine, ""},
		{"a recorded disk that was never loaded by us", world(unknown, recorded(nil)), noInfo, create(mine), mine, ""},
		{"a mark to format changes nothing of a recorded disk", world(unknown, recorded(nil), mark("new")), noInfo, create(mine), mine, ""},
		{"a mark to adopt changes nothing of a recorded disk", world(unknown, recorded(nil), mark("adopt:"+theirs)), noInfo, create(mine),
			mine, ""},
		{"an attempt whose answer is lost is waited for", world(unknown, recorded(nil), attempt(asked)), noInfo, nil, mine, "called again"},
		{"an attempt that never reached the server is repeated", world(unknown, recorded(nil), attempt(askedOld)), noInfo, create(mine),
			mine, ""},

		{"no mark: nothing is touched", world(unknown), notInitialized, nil, "",
			`patch nodes.longhorn.io node-1 --type merge -p '{"spec":{"disks":{"fast":{"initialize":"new"}}}}'`},
		{"adopt: that UUID", world(unknown, mark("adopt:"+theirs)), noInfo, create(theirs), "", ""},
		{"new: without a UUID", world(unknown, mark("new")), noInfo, create(""), "", ""},
		{"new: but a Replica reports that its data is there", world(unknown, mark("new"), replica), notInitialized, nil, "", "r-1"},
		{"new: a lost answer is waited for", world(unknown, mark("new"), attempt(newAsked)), noInfo, nil, "", ""},
		{"new: the same server reports that the call never came", world(unknown, mark("new"), attempt(newOld)), noInfo, create(""), "", ""},
		{"new: the server was restarted in between", world(unknown, mark("new"), attempt(newLost)), uncertain, nil, "",
			`"initialize":null`},
		{"new: the server forgot what it had failed at", world(unknown, mark("new"), attempt(newError)), uncertain, nil, "", ""},
		{"new: failed", world(inError, mark("new"), attempt(newError)), noInfo, nil, "", "only once"},
		{"the mark is removed after a failure", world(inError, attempt(newError)), notInitialized,
			&Call{Key: "fast", Op: OpDelete, Path: "/dev/sdb", Driver: "aio"}, "", ""},

		{"creating", world(Answer{State: "creating"}, recorded(nil), attempt(asked)), noInfo, nil, mine, "is loading"},
		{"in error: the pause lasts", world(inError, recorded(nil), attempt(failed1)), noInfo, nil, mine, "next attempt"},
		{"in error: the first pause is over", world(inError, recorded(nil), attempt(failed2)), noInfo, reload, mine, ""},
		{"in error: the second pause is longer", world(inError, recorded(nil), attempt(failed3)), noInfo, nil, mine, ""},
		{"in error, and something runs on it", world(inError, recorded(nil), attempt(failed2),
			func(w *World) { w.Server.InUse[mine] = true }), noInfo, nil, mine, "lists running replicas"},
		{"in error, and a Replica waits for the disk",
			world(inError, recorded(nil), attempt(failed2), func(w *World) { w.Replicas = []Replica{{Name: "r", DiskID: mine}} }), noInfo,
			reload, mine, ""},
		{"in error, and the clock was set back",
			world(inError, recorded(nil), attempt(failed2), func(w *World) { w.Now = now.Add(-time.Hour) }), noInfo, nil, mine,
			ago(time.Hour - 30*time.Second)},
		{"in error, made by somebody else, and no one reports what to do", world(inError), notInitialized,
			&Call{Key: "fast", Op: OpDelete, Path: "/dev/sdb", Driver: "aio"}, "", ""},
		{"in error after a mark to adopt that was removed", world(inError, attempt(failed2)), notInitialized,
			&Call{Key: "fast", Op: OpDelete, Path: "/dev/sdb", Driver: "aio"}, "", ""},
		{"new: another disk has the path and is recorded", world(unknown, mark("new"), beside("zz", mine)), notInitialized, nil, "",
			"the same path"},
		{"new: another disk has the path and comes first", world(unknown, mark("new"), beside("aa", "")), notInitialized, nil, "",
			"aa and fast"},
		{"new: another disk has the path and comes later", world(unknown, mark("new"), beside("zz", "")), noInfo, create(""), "", ""},
		{"recorded: another disk has the path and is not", world(unknown, recorded(nil), beside("aa", "")), noInfo, create(mine), mine, ""},
		{"in error, and no one knows what runs", world(inError, recorded(nil), attempt(failed2), func(w *World) { w.Server.InUse = nil }),
			noInfo, nil, mine, ""},

		{"ready with the recorded UUID", world(loaded, recorded(nil), attempt(asked)), v1beta2.ReasonDiskReady, nil, mine, ""},
		{"ready with the recorded UUID, loaded by another", world(loaded, recorded(nil)), v1beta2.ReasonDiskReady, nil, mine, ""},
		{"ready with another UUID", world(foreign, recorded(nil), attempt(asked)), changed, nil, mine, mine},
		{"ready without a UUID", world(Answer{State: "ready"}, recorded(nil)), changed, nil, mine, ""},
		{"ready after our own new", world(loaded, mark("new"), attempt(newAsked)), v1beta2.ReasonDiskReady, nil, mine, ""},
		{"ready, new, but not by our attempt", world(foreign, mark("new")), notInitialized, nil, "", "adopt:" + theirs},
		{"ready, new, by an attempt in an earlier run", world(foreign, mark("new"), attempt(newLost)), notInitialized, nil, "", "adopt:" +
			theirs},
		{"ready, no mark", world(foreign), notInitialized, nil, "", "adopt:" + theirs},
		{"ready, and adopted", world(foreign, mark("adopt:"+theirs)), v1beta2.ReasonDiskReady, nil, theirs, ""},
		{"ready, but another one was to be adopted", world(foreign, mark("adopt:"+mine)), changed, nil, "", mine},
		{"ready whose device vanished", world(Answer{Failed: `no disk bdev found with name "fast"`, Vanished: true}, recorded(nil),
			attempt(other)), noInfo, nil, mine, "then restart the pod im-1"},
		{"a word that no one knows", world(Answer{State: "odd"}, recorded(nil)), noInfo, nil, mine, "odd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.NotContains(t, v.Changes, "hdd", "the filesystem disk is not ours")
			s := c.world.Status["fast"]
			if v.Changes["fast"] != nil {
				s = *v.Changes["fast"]
			}
			require.Equal(t, c.reason, conditions.Reason(s.Conditions, v1beta2.DiskReady))
			require.Equal(t, c.reason == v1beta2.ReasonDiskReady, conditions.IsTrue(s.Conditions, v1beta2.DiskReady))
			require.Contains(t, conditions.Get(s.Conditions, v1beta2.DiskReady).Message, c.text)
			require.Equal(t, c.uuid, s.DiskUUID)
			if c.call == nil {
				require.Empty(t, v.Calls)
			} else {
				require.Equal(t, []Call{*c.call}, v.Calls)
			}
			if c.call != nil && c.call.Op != OpDelete {
				require.Equal(t, &v1beta2.DiskLoad{Server: thisRun, State: "requested", UUID: c.call.UUID, RequestedAt: stamp(now),
					Attempts: s.Load.Attempts}, s.Load,
					"the attempt is recorded before the call")
			}
			if c.reason != v1beta2.ReasonDiskReady {
				require.Zero(t, s.StorageMaximum+s.StorageAvailable+s.StorageScheduled)
				require.NotNil(t, s.ScheduledReplica)
				require.False(t, conditions.IsTrue(s.Conditions, v1beta2.DiskSchedulable))
			}
			if c.call == nil {
				for key, change := range v.Changes {
					c.world.Status[key] = *change
				}
				again := Decide(c.world)
				require.Empty(t, again.Changes, "deciding again changes nothing")
			}
		})
	}
}

// The UUID of a v1 disk is no lvstore's: the key is disk-controller's until it removed its status.
func TestABlockDiskWhoseStatusStillIsOfAV1DiskIsNotHandled(t *testing.T) {
	for _, answer := range []Answer{unknown, inError, loaded} {
		for _, leftOver := range []v1beta2.DiskStatus{{DiskType: v1beta2.DiskTypeFilesystem, DiskUUID: mine, DiskPath: "/data"},
			{DiskType: v1beta2.DiskTypeFilesystem}} {
			w := world(answer, mark("new"))
			w.Status["fast"] = leftOver
			v := Decide(w)
			require.Empty(t, v.Changes)
			require.Empty(t, v.Calls)
			require.Empty(t, v.List)
			delete(w.Status, "fast")
			require.Contains(t, Decide(w).Changes, "fast")
		}
	}
}

func TestADiskIsNotReadyWhileItsNodeIsNot(t *testing.T) {
	down := func(w *World) { w.NodeNotReady = "The kubelet is silent." }
	v := Decide(world(loaded, recorded(nil), attempt(asked), down))
	s := v.Changes["fast"]
	require.Equal(t, v1beta2.ReasonNodeNotReady, conditions.Reason(s.Conditions, v1beta2.DiskReady))
	require.Contains(t, conditions.Get(s.Conditions, v1beta2.DiskReady).Message, "The kubelet is silent.")
	require.Equal(t, v1beta2.ReasonNodeNotReady, conditions.Reason(s.Conditions, v1beta2.DiskSchedulable))
	require.Zero(t, s.StorageMaximum+s.StorageAvailable)
	require.Equal(t, v1beta2.DiskLoadReady, s.Load.State, "what its server reported is known all the same")
	silent := Decide(world(Answer{}, recorded(nil), down, func(w *World) { w.Server = nil })).Changes["fast"]
	require.Equal(t, v1beta2.ReasonNodeNotReady, conditions.Reason(silent.Conditions, v1beta2.DiskReady))
	require.Equal(t, mine, silent.DiskUUID)
	require.Len(t, Decide(world(unknown, recorded(nil), down)).Calls, 1, "it is loaded all the same where its server answers")
	for name, undecided := range map[string]World{v1beta2.ReasonNotInitialized: world(unknown, down),
		v1beta2.ReasonDiskFilesystemChanged:   world(foreign, recorded(nil), down),
		v1beta2.ReasonInitializationUncertain: world(unknown, mark("new"), attempt(newLost), down)} {
		require.Equal(t, name, conditions.Reason(Decide(undecided).Changes["fast"].Conditions, v1beta2.DiskReady), "a person must decide")
	}
}

func TestAReadyDiskHasTheNameOfItsLvstoreAndItsFigures(t *testing.T) {
	w := world(loaded, recorded(func(s *v1beta2.DiskStatus) { s.ScheduledReplica = map[string]int64{"gone": 5} }), func(w *World) {
		w.Replicas = []Replica{{Name: "r-1", DiskID: mine, Bytes: 30}, {Name: "r-2", DiskID: mine, Bytes: 20},
			{Name: "r-3", DiskID: theirs, Bytes: 9}}
	})
	s := Decide(w).Changes["fast"]
	require.Equal(t, "fastn1", s.DiskName)
	require.Equal(t, "nvme", s.DiskDriver)
	require.Equal(t, "im-1", s.InstanceManagerName)
	require.Equal(t, []int64{100, 60, 50}, []int64{s.StorageMaximum, s.StorageAvailable, s.StorageScheduled})
	require.Equal(t, map[string]int64{"r-1": 30, "r-2": 20}, s.ScheduledReplica)
	require.True(t, conditions.IsTrue(s.Conditions, v1beta2.DiskSchedulable))
	require.Equal(t, thisRun, s.Load.Server)
	require.Equal(t, stamp(now), s.Load.ReadyAt)
}

func TestADiskIsUnderPressure(t *testing.T) {
	for name, c := range map[string]struct {
		total, free, reserved, promised int64
		pressure                        bool
	}{
		"enough of everything":                    {100, 26, 0, 100, false},
		"as little free as is to be kept":         {100, 25, 0, 0, true},
		"nothing free":                            {100, 0, 0, 0, true},
		"no size":                                 {0, 0, 0, 0, true},
		"more promised than there is":             {100, 90, 0, 101, true},
		"more promised than what is not reserved": {100, 90, 30, 71, true},
		"as much promised as is not reserved":     {100, 90, 30, 70, false},
	} {
		t.Run(name, func(t *testing.T) {
			answer := loaded
			answer.TotalBytes, answer.FreeBytes = c.total, c.free
			w := world(answer, recorded(nil), spec(func(s *v1beta2.DiskSpec) { s.StorageReserved = c.reserved }),
				func(w *World) { w.Replicas = []Replica{{Name: "r", DiskID: mine, Bytes: c.promised}} })
			s := Decide(w).Changes["fast"]
			require.Equal(t, !c.pressure, conditions.IsTrue(s.Conditions, v1beta2.DiskSchedulable))
			if c.pressure {
				require.Equal(t, v1beta2.ReasonDiskPressure, conditions.Reason(s.Conditions, v1beta2.DiskSchedulable))
			}
		})
	}
}

// A server sends no notice of the replicas that a disk brings.
func TestTheWholeListIsReadOnceADiskIsSettled(t *testing.T) {
	ready := func(d time.Duration) func(*World) {
		return attempt(v1beta2.DiskLoad{Server: thisRun, State: "ready", UUID: mine, RequestedAt: ago(d), ReadyAt: ago(d)})
	}
	listed := func(d time.Duration) func(*World) { return func(w *World) { w.Server.Listed = now.Add(-d) } }
	young := Decide(world(loaded, recorded(nil), ready(20*time.Second), listed(time.Second)))
	require.False(t, young.Relist)
	require.Equal(t, 10*time.Second, young.After)
	require.True(t, Decide(world(loaded, recorded(nil), ready(30*time.Second), listed(time.Second))).Relist)
	require.False(t, Decide(world(loaded, recorded(nil), ready(40*time.Second), listed(10*time.Second))).Relist, "it was read since")
}

func TestWhatADiskHeldAtItsFirstLoadIsAcknowledgedOnceItIsListedCompletely(t *testing.T) {
	since := func(d time.Duration) func(*World) {
		return attempt(v1beta2.DiskLoad{Server: thisRun, State: "ready", UUID: mine, RequestedAt: ago(d), ReadyAt: ago(d)})
	}
	fresh := recorded(func(s *v1beta2.DiskStatus) { s.AcknowledgedAt = "" })
	claimed := func(w *World) {
		w.Replicas = []Replica{{Name: "claimed", DiskID: mine}, {Name: "namesake", DiskID: theirs}}
	}
	young := Decide(world(loaded, fresh, since(29*time.Second), claimed))
	require.Empty(t, young.List)
	require.Equal(t, time.Second, young.After)
	require.Equal(t, v1beta2.ReasonContentNotListed, conditions.Reason(young.Changes["fast"].Conditions, v1beta2.DiskSchedulable))
	require.True(t, conditions.IsTrue(young.Changes["fast"].Conditions, v1beta2.DiskReady))
	require.Equal(t, []string{"fast"}, Decide(world(loaded, fresh, since(30*time.Second), claimed)).List)
	listed := Decide(world(loaded, fresh, since(36*time.Second), claimed, func(w *World) {
		w.Server.Contents = map[string][]string{"fast": {"theirs", "claimed", "namesake"}}
	}))
	require.Equal(t, []string{"namesake", "theirs"}, listed.Changes["fast"].AcknowledgedReplicas)
	require.Equal(t, stamp(now), listed.Changes["fast"].AcknowledgedAt)
	require.True(t, conditions.IsTrue(listed.Changes["fast"].Conditions, v1beta2.DiskSchedulable))
}

func TestADiskThatLeavesTheSpecLeavesTheServerFirst(t *testing.T) {
	left := func(w *World) { delete(w.Specs, "fast"); w.Status["hdd"] = v1beta2.DiskStatus{DiskType: "filesystem"} }
	v := Decide(world(loaded, recorded(nil), left))
	require.Equal(t, map[string]*v1beta2.DiskStatus{"fast": nil}, v.Changes)
	require.Equal(t, []Call{{Key: "fast", Op: OpDelete, Path: "/dev/sdb", UUID: mine, Driver: "aio"}}, v.Calls)

	used := Decide(world(loaded, recorded(nil), left, func(w *World) { w.Server.InUse[mine] = true }))
	require.Empty(t, used.Calls)
	require.NotNil(t, used.Changes["fast"])

	held := Decide(world(loaded, recorded(nil), left, func(w *World) { w.Replicas = []Replica{{Name: "r-1", DiskID: mine}} }))
	require.Empty(t, held.Calls)
	require.Contains(t, conditions.Get(held.Changes["fast"].Conditions, v1beta2.DiskReady).Message, "replica r-1 has data on it")

	silent := Decide(world(loaded, recorded(nil), left, func(w *World) { w.Server = nil }))
	require.NotNil(t, silent.Changes["fast"], "the record of what it held stays until the server can release it")

	gone := Decide(world(loaded, recorded(nil), left, func(w *World) { w.Server, w.NoManager = nil, true }))
	require.Empty(t, gone.Calls)
	require.Equal(t, map[string]*v1beta2.DiskStatus{"fast": nil}, gone.Changes)

	retyped := Decide(world(loaded, recorded(nil), spec(func(s *v1beta2.DiskSpec) { s.DiskType = "filesystem" })))
	require.Len(t, retyped.Calls, 1, "a disk that is none of ours any more is released, too")
}

// Switch-overs wait while a disk is requested: an attempt that no one answers for must not hold them for ever.
func TestAnAttemptThatNobodyAnswersForIsNotUnderWayAnyMore(t *testing.T) {
	for name, w := range map[string]World{
		"the server was restarted":         world(unknown, mark("new"), attempt(newLost)),
		"loaded by somebody else":          world(foreign, mark("new"), attempt(newLost)),
		"another lvstore":                  world(foreign, recorded(nil), attempt(newLost)),
		"the server answers with an error": world(Answer{Failed: "no disk bdev found"}, recorded(nil), attempt(askedOld)),
	} {
		t.Run(name, func(t *testing.T) {
			status := v1beta2.NodeStatus{DiskStatus: map[string]v1beta2.DiskStatus{"fast": *Decide(w).Changes["fast"]}}
			require.Empty(t, status.LoadingDisk())
		})
	}
}

func TestAPathThatChangedCountsFromTheNextStartOn(t *testing.T) {
	answer := loaded
	answer.Path = "/dev/sdb"
	s := Decide(world(answer, recorded(nil), spec(func(s *v1beta2.DiskSpec) { s.Path = "/dev/sdz" }))).Changes["fast"]
	require.Equal(t, "/dev/sdb", s.DiskPath)
	require.Contains(t, conditions.Get(s.Conditions, v1beta2.DiskReady).Message, "loaded from /dev/sdb; the path /dev/sdz")
}

// A disk moved to another node with its UUID, and its Replicas still name the old node.
func TestADiskThatReplicasOfAnotherNodeNameReportsThem(t *testing.T) {
	message := func(claims ...Claim) string {
		s := Decide(world(loaded, recorded(nil), func(w *World) { w.Elsewhere = claims })).Changes["fast"]
		require.Equal(t, v1beta2.ReasonDiskReady, conditions.Reason(s.Conditions, v1beta2.DiskReady))
		return conditions.Get(s.Conditions, v1beta2.DiskReady).Message
	}
	require.Contains(t, message(Claim{"r-2", "node-2", mine}, Claim{"r-1", "node-3", mine}), "Replica r-1 of node node-3 names this disk")
	require.NotContains(t, message(Claim{"r-1", "node-2", theirs}), "names this disk")
	require.Equal(t, "Disk fast is loaded.", message())
}

func TestASecondDiskWithTheLvstoreOfAnotherIsNotReady(t *testing.T) {
	w := world(loaded, recorded(nil), func(w *World) {
		w.Specs["twice"] = v1beta2.DiskSpec{DiskType: v1beta2.DiskTypeBlock, Path: "/dev/sdc", Initialize: "adopt:" + mine}
		w.Server.Answers["twice"] = loaded
	})
	s := Decide(w).Changes["twice"]
	require.Equal(t, v1beta2.ReasonDiskFilesystemChanged, conditions.Reason(s.Conditions, v1beta2.DiskReady))
	require.Empty(t, s.DiskUUID)
}

func TestDriversAreExactWhereTheServerWantsThem(t *testing.T) {
	for _, c := range []struct{ path, spec, recorded, create, query, remove string }{
		{"/dev/sdb", "", "", "aio", "aio", "aio"},
		{"/dev/sdb", "auto", "", "aio", "aio", "aio"},
		{"/dev/sdb", "aio", "", "aio", "aio", "aio"},
		{"/dev/disk/by-path/pci-0000:00:1e.0", "", "", "aio", "aio", "aio"},
		{"sdb", "", "", "aio", "aio", "aio"},
		{"0000:00:1e.0", "", "", "auto", "", "nvme"},
		{"0000:00:1e.0", "auto", "", "auto", "", "nvme"},
		{"0000:00:1e.0", "nvme", "", "nvme", "nvme", "nvme"},
		{"0000:00:1e.0", "auto", "virtio-blk", "virtio-blk", "virtio-blk", "virtio-blk"},
	} {
		spec, status := v1beta2.DiskSpec{Path: c.path, DiskDriver: c.spec}, v1beta2.DiskStatus{DiskDriver: c.recorded}
		require.Equal(t, []string{c.create, c.query, c.remove},
			[]string{CreateDriver(spec, status), QueryDriver(spec, status), deleteDriver(spec, status)}, c)
	}
}

func TestThePauseBetweenAttemptsDoublesUpToItsLimit(t *testing.T) {
	w := world(loaded)
	for attempts, pause := range map[int]time.Duration{0: 30 * time.Second, 1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute,
		6: 10 * time.Minute, 99: 10 * time.Minute} {
		require.Equal(t, pause, w.backoff(attempts))
	}
}

// V4: after a start of the server the disk is back within seconds of its load, not at the next poll.
func TestADiskIsAskedAboutSoonAfterAnAttempt(t *testing.T) {
	require.Equal(t, SoonPause, Decide(world(unknown, recorded(nil), attempt(other))).After, "it is called now")
	young := asked
	young.RequestedAt = ago(10 * time.Second)
	require.Equal(t, SoonPause, Decide(world(unknown, recorded(nil), attempt(young))).After)
	require.Equal(t, SoonPause, Decide(world(Answer{State: "creating"}, recorded(nil), attempt(young))).After)
	require.Equal(t, SoonPause, Decide(world(Answer{Failed: "deadline"}, recorded(nil), attempt(young))).After)
	require.Equal(t, LatePause, Decide(world(Answer{Failed: "deadline"}, recorded(nil), attempt(askedOld))).After)
}
