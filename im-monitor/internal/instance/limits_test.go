package instance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

func TestNothingIsCreatedFromAnObjectThatIsIncomplete(t *testing.T) {
	for _, c := range []struct {
		name   string
		change []change
		reason string
		text   string
	}{
		{"no size", []change{func(w *World) { w.Object.Size = 0 }}, ReasonIncomplete, "It has no size."},
		{"a negative size", []change{asReplica, func(w *World) { w.Object.Size = -1 }}, ReasonIncomplete, "It has no size."},
		{"a frontend without a size", []change{v2, asFrontend, func(w *World) { w.Object.Size = 0 }}, ReasonIncomplete, "It has no size."},
		{"an engine without replicas", []change{func(w *World) { w.Object.Engine.Replicas = nil }}, ReasonIncomplete, "no replicas"},
		{"a v1 engine without an image", []change{func(w *World) { w.Object.Image = "" }}, ReasonIncomplete, "no engine image"},
		{"a v1 frontend", []change{asFrontend, func(w *World) { w.Object.DataEngine = "v1" }}, ReasonIncomplete, "Only v2 volumes"},
		{"a v1 replica without a path", []change{asReplica, func(w *World) { w.Object.Replica.DiskPath = "" }}, ReasonIncomplete,
			"no data directory"},
		{"a v1 replica without a directory", []change{asReplica, func(w *World) { w.Object.Replica.Directory = "" }}, ReasonIncomplete,
			"no data directory"},
		{"a v2 replica whose disk is not loaded", []change{v2, asReplica, func(w *World) { w.DiskName = "" }}, ReasonIncomplete,
			"Node node-1 has no disk with UUID disk-uuid"},
		{"its Volume was read and does not exist", []change{func(w *World) { w.VolumeRead = true }}, ReasonVolumeMissing,
			"Volume vol does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(world(append([]change{wanted, status(stopped(""))}, c.change...)...))
			require.Zero(t, v.Call)
			require.Equal(t, c.reason, v.Reason)
			require.Contains(t, v.Message, c.text)
			require.Equal(t, halted, v.Status.State)
		})
	}
}

func TestAV1EngineGetsTheFrontendInTheWordsOfItsProcess(t *testing.T) {
	for frontend, word := range map[string]string{"blockdev": "tgt-blockdev", "iscsi": "tgt-iscsi", "": "", "tgt-blockdev": "tgt-blockdev"} {
		set := func(w *World) { w.Object.Frontend = frontend }
		require.Contains(t, args(t, set), "controller vol --frontend "+word+" ", frontend)
		require.Contains(t, args(t, set, func(w *World) { w.Object.DisableFrontend = true }), "controller vol --frontend  ", frontend)
	}
}

func TestAnEndpointIsReportedOnlyWhereItIsKnown(t *testing.T) {
	iscsi := func(w *World) { w.Object.Frontend = "iscsi" }
	entry := &Entry{}
	require.Empty(t, endpoint(world(iscsi), entry, Status{}), "no address, no endpoint")
	require.Equal(t, "iscsi://10.0.0.7:3260/iqn.2019-10.io.longhorn:vol/1", endpoint(world(iscsi), entry, Status{StorageIP: "10.0.0.7"}))
	require.Empty(t, endpoint(world(func(w *World) { w.Object.Frontend = "else" }), entry, Status{StorageIP: "10.0.0.7"}))
	require.Empty(t, endpoint(world(v2), entry, Status{StorageIP: "10.0.0.7"}), "a v2 server reports it itself")
	require.Equal(t, "/dev/x", endpoint(world(v2), &Entry{Endpoint: "/dev/x"}, Status{}))
}

func TestAPeerThatNoListShowsYetIsReportedAsThat(t *testing.T) {
	v := Decide(world(wanted, func(w *World) { w.Peers.Read, w.Peers.Same = true, []Peer{{Name: "vol-e-1", Begun: true}} }))
	require.Equal(t, ReasonOtherLive, v.Reason)
	require.Contains(t, v.Message, "vol-e-1 of the same volume is not listed yet")
}

func TestTheReplicasOfTheVolumeAreReadOnlyForAStopOnANodeThatIsOut(t *testing.T) {
	out := func(w *World) { w.Node.OutOfService = true }
	require.True(t, world(down, status(was(running))).AwaitsCutOff())
	require.True(t, world(out, status(was(running))).AwaitsCutOff())
	require.False(t, world(status(was(running))).AwaitsCutOff(), "its node is in service")
	require.False(t, world(wanted, down, status(was(running))).AwaitsCutOff(), "it is to run")
	require.False(t, world(down, status(stopped(""))).AwaitsCutOff(), "nothing was begun")
}

func TestOnlyAnInstanceThatWasListedIsSupervised(t *testing.T) {
	for state, want := range map[string]bool{running: true, v1beta2.InstanceStateSuspended: true, failed: true, starting: false,
		halted: false, unknown: false, "": false} {
		require.Equal(t, want, Status{State: state}.supervised(), state)
		require.True(t, Status{State: state, Started: true}.supervised(), state)
	}
}

func TestAListedReplicaThatEndsIsWaitedForAndOneThatStoppedIsStopped(t *testing.T) {
	for _, engine := range []change{func(*World) {}, v2} {
		for state, want := range map[string]outcome{
			v1beta2.InstanceStateStopping:    {stopping, "", "", ReasonChanging},
			v1beta2.InstanceStateTerminating: {stopping, "", "", ReasonChanging},
			halted:                           {halted, "", "", ReasonDone},
			failed:                           {running, OpDelete, im, ReasonCalling},
			unknown:                          {running, OpDelete, im, ReasonCalling},
		} {
			require.Equal(t, want, outcomeOf(Decide(world(engine, asReplica, status(was(running)), lists(state)))), state)
		}
	}
}

// A path counts as lost a whole PathLoss after the latest of: the phase, the suspension, and the time since when the node is out.
func TestAPathIsLostOnlyAfterTheLatestOfItsCauses(t *testing.T) {
	late := now.Add(30 * time.Second)
	for _, c := range []struct {
		name           string
		suspend, phase string
		out            time.Time
		lostAt         time.Time
	}{
		{"the phase is the latest", now.Add(-time.Hour).Format(time.RFC3339), now.Format(time.RFC3339), time.Time{}, now.Add(time.Minute)},
		{"the suspension is", late.Format(time.RFC3339), now.Format(time.RFC3339), now, late.Add(time.Minute)},
		{"the node is out for the shortest time", now.Format(time.RFC3339), now.Format(time.RFC3339), late, late.Add(time.Minute)},
		{"the time of the suspension cannot be read", "soon", now.Format(time.RFC3339), time.Time{}, now.Add(time.Minute)},
		{"the time of the phase cannot be read", "soon", "then", time.Time{}, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lost := func(at time.Time, held bool) bool {
				w := world(func(w *World) { w.Object.Suspend, w.Settings.PathLoss, w.Now = c.suspend, time.Minute, at })
				p := &mover{w: w, s: Switchover{Since: c.phase}, held: held}
				return p.pathLost(EngineFacts{NodeOut: true, OutSince: c.out})
			}
			if c.lostAt.IsZero() {
				require.False(t, lost(now.Add(time.Hour), true), "unknown is not long ago")
				return
			}
			require.False(t, lost(c.lostAt.Add(-time.Second), true))
			require.True(t, lost(c.lostAt, true))
			require.False(t, lost(c.lostAt.Add(time.Hour), false), "I/O is not suspended: the kernel may reconnect")
		})
	}
}

func TestADiskThatIsLoadedWhereNoCallGoesHoldsUpNoSwitchOver(t *testing.T) {
	begin := func(more ...change) outcome {
		return outcomeOf(Decide(world(append([]change{recordedAt(oldTarget), serving(newTarget), loadingAt(oldTarget)}, more...)...)))
	}
	require.Equal(t, ReasonCalling, begin(gone(oldTarget)).reason, "the old engine is gone")
	require.Equal(t, ReasonCalling, begin(know(oldTarget, func(e *EngineFacts) { e.NodeOut = true })).reason, "its node is out")
	require.NotEqual(t, ReasonCalling, begin().reason, "it would be called")
	require.NotEqual(t, ReasonCalling, begin(gone(oldTarget), loadingAt(newTarget)).reason, "the new one is called")
}

func TestASwitchOverThatReachedItsTargetEndsAlsoWhereTheSpecNamesNone(t *testing.T) {
	v := Decide(world(recordedAt(newTarget), serving(newTarget), at(phasePromoting, false), func(w *World) { w.Object.Target = TargetSpec{} }))
	require.Zero(t, v.Status.Switchover)
	require.Zero(t, v.Call)
}

func TestTheEngineOfARecordIsKnownOnlyFromTheServerOrThePathToIt(t *testing.T) {
	paths := []v1beta2.NvmeTCPPath{pathTo(newTarget, anaOptimized)}
	for _, c := range []struct {
		name  string
		entry Entry
		want  string
	}{
		{"the server names it", Entry{EngineName: "e", ActivePath: newTarget + ":20001", Paths: paths}, "e"},
		{"its path does", Entry{ActivePath: newTarget + ":20001", Paths: paths}, engineAt(newTarget)},
		{"no path has the active address", Entry{ActivePath: oldTarget + ":20001", Paths: paths}, ""},
		{"the active path has no port", Entry{ActivePath: oldTarget, Paths: paths}, engineAt(newTarget)},
		{"the port is no number", Entry{ActivePath: oldTarget + ":nvme", Paths: paths}, engineAt(newTarget)},
	} {
		require.Equal(t, c.want, record(&c.entry).Engine, c.name)
		if c.want != "" {
			require.True(t, Leads(&c.entry, c.want), c.name)
		}
		require.False(t, Leads(&c.entry, "another"), c.name)
	}
}

func TestAfterASwitchBackAnotherTargetIsPreparedWhileTheOldOneIsOnRecord(t *testing.T) {
	back := func(more ...change) string {
		base := []change{recordedAt(oldTarget), serving(thirdTarget), at(phaseReverting, true), wants(thirdTarget)}
		return do(Decide(world(append(base, more...)...)))
	}
	require.Equal(t, "preparing "+thirdTarget, back())
	require.Empty(t, back(declined), "its server refused; it is asked again later")
	require.NotEqual(t, "preparing "+thirdTarget, back(at(phaseReverting, false)), "the switch back is not accepted yet")
}

func TestAnObjectNeedsOnlyTheFieldsOfItsKind(t *testing.T) {
	start := func(changes ...change) opAndReason {
		v := Decide(world(append([]change{wanted, status(stopped(""))}, changes...)...))
		return opAndReason{v.Call.Op, v.Reason}
	}
	created := opAndReason{OpCreate, ReasonCalling}
	require.Equal(t, created, start(asReplica, func(w *World) { w.Object.Engine = EngineSpec{} }), "a replica has no replicas")
	require.Equal(t, created, start(asReplica, func(w *World) { w.DiskName = "" }), "a v1 replica needs no disk's name")
	require.Equal(t, created, start(asReplica, v2, func(w *World) { w.Object.Replica.DiskPath, w.Object.Replica.Directory = "", "" }))
	for _, kind := range []change{func(*World) {}, asReplica, asFrontend} {
		imageless := func(w *World) { w.Object.Image, w.EngineImage = "", EngineImage{} }
		require.Equal(t, created, start(v2, kind, imageless), "a v2 instance is a part of its instance manager")
	}
	nameless := func(w *World) { w.Object.Target.Engine = "" }
	require.Equal(t, opAndReason{OpNone, ReasonIncomplete}, start(asFrontend, nameless), "an address without an engine is no target")
	require.Empty(t, TargetSpec{Engine: "e", Port: 20001}.Address(), "nor is a port without an IP")
}

// opAndReason is the call and the reason of a verdict.
type opAndReason struct {
	op     Op
	reason string
}

func TestAnImageIsUsedOnlyWhereItAcceptsTheNewestFlagsThatAreKnown(t *testing.T) {
	for _, c := range []struct {
		cli, oldest int
		text        string
	}{{cliOldest, 0, ""}, {cliOldest - 1, 0, "has CLI API version 2"}, {cliNewest, cliNewest, ""}, {cliNewest + 1, cliNewest, ""},
		{cliNewest + 1, 1, ""}, {cliNewest + 1, 0, "has CLI API version 13 (oldest 0)"}, {cliNewest + 1, -1, "(oldest -1)"},
		{cliNewest + 1, cliNewest + 1, "(oldest 13)"}, {0, 0, "does not report its CLI API version"}} {
		v := Decide(world(wanted, status(stopped("")), func(w *World) { w.EngineImage.CLI, w.EngineImage.CLIMin = c.cli, c.oldest }))
		require.Equal(t, c.text == "", v.Call.Op == OpCreate, c)
		require.Contains(t, v.Message, c.text, c)
	}
	v := Decide(world(wanted, status(stopped("")), func(w *World) { w.EngineImage.Found = false }))
	require.Contains(t, v.Message, "There is no EngineImage ei-1 of image image:v1")
}

// An event is emitted once, for what a person has to check.
func TestAnEventReportsAFailureOrAConclusionOnce(t *testing.T) {
	fenced := func(w *World) { unread(w); down(w); w.Peers.Read = true }
	for _, c := range []struct {
		name  string
		world World
		want  string
	}{
		{"it failed", world(wanted, status(was(running)), lists(failed)), ReasonFailed},
		{"it is missing", world(wanted, status(was(running)), absent), ReasonMissing},
		{"its creation is refused", world(wanted, func(w *World) { w.Refusals, w.Refusal = 3, "no" }), ReasonRefused},
		{"it failed before", world(wanted, status(was(failed)), lists(failed)), ""},
		{"it runs", world(wanted, status(was(failed)), lists(running)), ""},
		{"it stopped", world(status(was(running)), absent), ""},
		{"it is concluded stopped", world(status(was(running)), fenced), v1beta2.ReasonNodeDown},
		{"it was concluded stopped before", world(status(stopped(v1beta2.ReasonNodeDown)), fenced), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			if c.want == "" {
				require.Empty(t, v.Events)
				return
			}
			require.Equal(t, []events.Event{{Type: "Warning", Reason: c.want, Action: actionRun, Note: v.Message}}, v.Events)
			require.NotEmpty(t, v.Message)
		})
	}
}

func TestAPlaceElsewhereIsCalledOnlyWhereItsNewestListHasTheNameLiveOnANodeInService(t *testing.T) {
	for name, hides := range map[string]func(*Place){
		"its list is unknown":         func(p *Place) { p.Known = false },
		"its node is out":             func(p *Place) { p.Out = true },
		"it lacks the name":           func(p *Place) { p.Entry = nil },
		"its instance ends":           func(p *Place) { p.Entry.State = stopping },
		"its instance has terminated": func(p *Place) { p.Entry.State = v1beta2.InstanceStateTerminating },
		"its instance has stopped":    func(p *Place) { p.Entry.State = halted },
	} {
		require.NotEqual(t, "im-2", Decide(world(wanted, status(stopped("")), returned(hides))).Call.InstanceManager, name)
	}
	require.Equal(t, "im-2", Decide(world(wanted, status(stopped("")), returned())).Call.InstanceManager)
	for name, hides := range map[string]func(*Place){
		"its list is unknown": func(p *Place) { p.Known = false },
		"it lacks the name":   func(p *Place) { p.Entry = nil },
		"its instance ends":   func(p *Place) { p.Entry.State = stopping },
		"it is another node":  func(p *Place) { p.Node = "node-2" },
	} {
		v := Decide(world(status(stopped("")), returned(func(p *Place) { p.Node = "node-1"; hides(p) })))
		require.Equal(t, outcome{halted, OpNone, "", ReasonDone}, outcomeOf(v), name)
	}
}

func TestAListedInstanceOfAnEarlierRunEndsBeforeAStart(t *testing.T) {
	begun := status(Status{State: starting, Starting: true, InstanceManager: im})
	for _, c := range []struct {
		name  string
		world World
		want  outcome
	}{
		{"a v1 replica that is listed as stopped is ending", world(wanted, asReplica, status(stopped("")), lists(halted)),
			outcome{halted, OpNone, "", ReasonChanging}},
		{"a v2 engine that is listed as stopped is deleted", world(wanted, v2, status(stopped("")), lists(halted)),
			outcome{halted, OpDelete, im, ReasonCalling}},
		{"also while it is being started", world(wanted, v2, begun, lists(halted)), outcome{starting, OpDelete, im, ReasonCalling}},
		{"a v2 replica that runs is deleted, and then served", world(wanted, v2, asReplica, status(stopped("")), lists(running)),
			outcome{halted, OpDelete, im, ReasonCalling}},
		{"an instance that was deleted on request is created while it is being started",
			world(wanted, begun, absent, func(w *World) { w.Here.Ended = true }), outcome{starting, OpCreate, im, ReasonCalling}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, outcomeOf(Decide(c.world))) })
	}
}

func TestAnInstanceManagerStartsInstancesAsSoonAsItRunsAndItsListIsComplete(t *testing.T) {
	start := func(changes ...change) Verdict { return Decide(world(append([]change{wanted}, changes...)...)) }
	broken := func(w *World) { w.Here.CannotStart = "ImagePullBackOff" }
	halt := func(w *World) { w.Here.Running = false }
	require.Equal(t, OpCreate, start(broken).Call.Op, "it runs: what its pod reported before does not count")
	require.Equal(t, ReasonUnknown, start(halt).Reason, "its pod may still start")
	require.Contains(t, start(halt, broken).Message, "Instance manager im-1 of node node-1 does not run: ImagePullBackOff")
	young := func(w *World) { w.Here.Since = now.Add(-time.Second) }
	require.Equal(t, OpCreate, start(young).Call.Op, "only a v2 server recovers instances")
	v := start(v2, young)
	require.Equal(t, ReasonRediscovering, v.Reason)
	require.Equal(t, now.Add(4*time.Second), v.At)
	require.Equal(t, OpCreate, start(v2, func(w *World) { w.Here.Since = now.Add(-5 * time.Second) }).Call.Op)
}

func TestDataIsMissedOnlyOfAV2ReplicaWhoseDiskIsLoaded(t *testing.T) {
	full := func(w *World) { w.Object.Replica.HasData = true }
	require.Equal(t, OpCreate, Decide(world(wanted, asReplica, full)).Call.Op, "a v1 process finds its data, or fails")
	require.Equal(t, ReasonDataMissing, Decide(world(wanted, v2, asReplica, full, absent)).Reason)
	v := Decide(world(wanted, v2, asReplica, full))
	require.Equal(t, ReasonUnproven, v.Reason, "a disk is ready before its replicas are listed")
	require.True(t, v.ExpectAbsence)
	require.Equal(t, OpNone, v.Call.Op)
	v = Decide(world(wanted, v2, asReplica, full, notLoaded))
	require.Equal(t, ReasonIncomplete, v.Reason, "what a disk holds that is not loaded is not known")
	require.Contains(t, v.Message, "im-1 has not loaded disk disk-1 of node node-1")
	nameless := func(w *World) { w.DiskName = "" }
	for name, more := range map[string]change{"its server reports nothing about it": func(*World) {}, "it reports it": notLoaded,
		"a list counts": absent} {
		v = Decide(world(wanted, v2, asReplica, full, nameless, more))
		require.Equal(t, ReasonIncomplete, v.Reason, "the Node does not show that the disk is loaded, and %s", name)
		require.Contains(t, v.Message, "no disk with UUID disk-uuid that is loaded")
	}
}

func TestAPeerIsLiveUnlessItIsKnownToBeStopped(t *testing.T) {
	second := func(w *World) { w.Object.Active = false }
	migrating := func(w *World) { w.Peers.Migrating = true }
	with := func(p Peer, read bool) change { return func(w *World) { w.Peers.Read, w.Peers.Same = read, []Peer{p} } }
	runs := Peer{Name: "vol-e-1", State: running}
	v := Decide(world(wanted, with(runs, true)))
	require.Equal(t, ReasonOtherLive, v.Reason)
	require.Contains(t, v.Message, "vol-e-1 of the same volume is running;")
	require.Equal(t, OpCreate, Decide(world(wanted, with(runs, false))).Call.Op, "it is decided again once the peers are read")
	v = Decide(world(wanted, asFrontend, second, migrating, with(runs, true)))
	require.Equal(t, OpCreate, v.Call.Op, "a frontend of a migration has no replicas of its own")
	left := func(w *World) { w.Peers.Read, w.Peers.Leftovers = true, []string{"vol-e-7 on im-2"} }
	require.Equal(t, OpCreate, Decide(world(wanted, second, migrating, left)).Call.Op, "the volume may have two engines")
	require.Contains(t, Decide(world(wanted, left)).Message, "vol-e-7 on im-2 of the same volume may still run")
}

func TestAnInstanceMayExistWhereAnyPartOfTheStatusReportsIt(t *testing.T) {
	for _, c := range []struct {
		status Status
		want   bool
	}{{Status{}, false}, {Status{State: halted}, false}, {Status{State: halted, NodeDown: v1beta2.ReasonNodeDown}, false},
		{Status{State: halted, Starting: true}, true}, {Status{State: halted, Started: true}, true},
		{Status{State: halted, InstanceManager: im}, true}, {Status{State: unknown}, true}, {Status{State: stopping}, true}} {
		require.Equal(t, c.want, c.status.Begun(), c.status)
	}
}

func TestOnlyTheFirstPreparingBeginsASwitchOver(t *testing.T) {
	for _, op := range []Op{OpNone, OpCreate, OpDelete, OpSwitchOver, OpSuspend, OpResume, OpRevert} {
		for _, phase := range []string{"", phasePreparing, phaseSwitching, phasePromoting, phaseReverting} {
			require.Equal(t, op == OpSwitchOver && phase == phasePreparing, Call{Op: op, Phase: phase}.BeginsSwitchOver(), "%s %s", op, phase)
		}
	}
	require.True(t, Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget))).Call.BeginsSwitchOver())
}
