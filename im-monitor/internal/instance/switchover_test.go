package instance

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	oldTarget, newTarget, thirdTarget = "10.0.0.8", "10.0.0.9", "10.0.0.10"
	anaInaccessible                   = "inaccessible"
)

// engineAt is the engine of the tests that serves at an IP.
func engineAt(ip string) string { return "engine at " + ip }

func targetAt(ip string) TargetSpec { return TargetSpec{Engine: engineAt(ip), IP: ip, Port: 20001} }

func pathTo(ip, state string) v1beta2.NvmeTCPPath {
	return v1beta2.NvmeTCPPath{EngineName: engineAt(ip), TargetIP: ip, TargetPort: 20001, ANAState: state}
}

// know changes what is known of the engine at an IP.
func know(ip string, f func(*EngineFacts)) change {
	return func(w *World) {
		facts := w.Engines[engineAt(ip)]
		f(&facts)
		w.Engines[engineAt(ip)] = facts
	}
}

// serving are the engines that run; of the others only the objects are known.
func serving(ips ...string) change {
	return func(w *World) {
		w.Engines = map[string]EngineFacts{}
		for _, ip := range []string{oldTarget, newTarget, thirdTarget} {
			w.Engines[engineAt(ip)] = EngineFacts{UID: "uid of " + ip, InstanceManager: "im at " + ip}
		}
		for _, ip := range ips {
			know(ip, func(e *EngineFacts) { e.Address = net.JoinHostPort(ip, "20001") })(w)
		}
	}
}

func gone(ip string) change { return know(ip, func(e *EngineFacts) { e.Gone = true }) }

// recordedAt is a running frontend whose server has a target on record, and whose spec names the new one.
func recordedAt(ip string) change {
	return func(w *World) {
		wanted(w)
		asFrontend(w)
		w.Object.Target = targetAt(newTarget)
		status(was(running))(w)
		lists(running)(w)
		w.Here.Entry.EngineName, w.Here.Entry.ActivePath = engineAt(ip), net.JoinHostPort(ip, "20001")
		w.Here.Entry.Paths = []v1beta2.NvmeTCPPath{pathTo(ip, anaOptimized)}
	}
}

func wants(ip string) change { return func(w *World) { w.Object.Target = targetAt(ip) } }

// at is a switch-over from the old target to the new one; accepted reports whether the phase was.
func at(phase string, accepted bool) change {
	return func(w *World) {
		w.Status.Switchover = Switchover{Phase: phase, Accepted: accepted, Engine: engineAt(newTarget), UID: "uid of " + newTarget,
			IP: newTarget, Port: 20001,
			OldClosed: phase != phasePreparing, Since: now.Format(time.RFC3339)}
	}
}

func oldClosed(w *World) { w.Status.Switchover.OldClosed = true }

func declined(w *World) { w.MoveAfter = w.Now.Add(time.Minute) }

func suspendedNow(w *World) {
	w.Object.Suspend, w.Status.Suspended = request, request
	w.Here.Entry.State, w.Status.State = v1beta2.InstanceStateSuspended, v1beta2.InstanceStateSuspended
}

// do is a short form of a verdict's call.
func do(v Verdict) string {
	switch c := v.Call; c.Op {
	case OpSwitchOver:
		first := ""
		if c.CloseFirst {
			first = "switching, "
		}
		return first + c.Phase + " " + c.Target.IP
	case OpRevert:
		out := "close " + c.Revert.Close
		if c.Revert.Open != "" {
			out += ", open " + c.Revert.Open
		}
		return out
	default:
		return string(c.Op)
	}
}

const goBack = "close engine at " + newTarget + ", open engine at " + oldTarget

// Each of the six states of a switch-over, and of the switch back, with the call that follows: a new leader has no other input.
func TestASwitchOverContinuesFromEachOfItsStates(t *testing.T) {
	from, both := recordedAt(oldTarget), serving(oldTarget, newTarget)
	for _, c := range []struct {
		name   string
		world  World
		call   string
		reason string
	}{
		{"none: it is prepared", world(from, both), "preparing " + newTarget, ReasonCalling},
		{"preparing in work: repeated", world(from, both, at(phasePreparing, false)), "preparing " + newTarget, ReasonCalling},
		{"preparing accepted", world(from, both, at(phasePreparing, true)), "switching " + newTarget, ReasonCalling},
		{"switching in work: repeated", world(from, both, at(phaseSwitching, false)), "switching " + newTarget, ReasonCalling},
		{"switching accepted", world(from, both, at(phaseSwitching, true)), "promoting " + newTarget, ReasonCalling},
		{"promoting in work: repeated, the old target closed again, since a promoting that failed opened it",
			world(from, both, at(phasePromoting, false)), "switching, promoting " + newTarget, ReasonCalling},
		{"promoting accepted, and the list is older", world(from, both, at(phasePromoting, true), func(w *World) { w.Unsettled = true }),
			"", ReasonChanging},
		{"promoting accepted, and a newer list reports otherwise", world(from, both, at(phasePromoting, true)), "switching, promoting " +
			newTarget, ReasonCalling},
		{"reverting in work: the target is wanted again, and prepared from the beginning", world(from, both, at(phaseReverting, false)),
			"preparing " + newTarget, ReasonCalling},
		{"reverting in work: repeated", world(from, both, at(phaseReverting, false), wants(oldTarget)), goBack, ReasonCalling},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.reason, v.Reason, v.Message)
			require.Equal(t, c.call, do(v))
			require.Equal(t, running, v.Status.State)
			require.Equal(t, oldTarget, v.Status.TargetIP, "the status has the target on record")
		})
	}
}

// The target on the server's record was accepted, also if the answer was lost.
func TestATargetOnRecordIsReachedWhateverTheStatusHas(t *testing.T) {
	for _, phase := range []string{"", phasePreparing, phaseSwitching, phasePromoting, phaseReverting} {
		for _, accepted := range []bool{false, true} {
			w := world(recordedAt(newTarget), serving(oldTarget, newTarget), declined)
			if phase != "" {
				at(phase, accepted)(&w)
			}
			w.Here.Entry.Paths = append(w.Here.Entry.Paths, pathTo(oldTarget, anaInaccessible))
			v := Decide(w)
			require.Equal(t, ReasonDone, v.Reason)
			require.Zero(t, v.Status.Switchover)
			require.Equal(t, newTarget, v.Status.TargetIP)
		}
	}
	w := world(recordedAt(oldTarget), serving(oldTarget, newTarget))
	w.Here.Entry.EngineName, w.Here.Entry.ActivePath = "another engine", newTarget+":20001"
	require.Equal(t, "preparing "+newTarget, do(Decide(w)), "another engine at the same address is another target")
}

// How a switch-over is aborted: before and after preparing no call is needed, after switching the new target is promoted first, or closed
// before the old one is opened.
func TestASwitchOverIsAborted(t *testing.T) {
	from, both := recordedAt(oldTarget), serving(oldTarget, newTarget)
	back := wants(oldTarget)
	for _, c := range []struct {
		name   string
		world  World
		call   string
		reason string
		phase  string
	}{
		{"not begun", world(from, both, back), "", ReasonDone, ""},
		{"preparing in work: the old target is open", world(from, both, back, at(phasePreparing, false)), "", ReasonDone, phasePreparing},
		{"preparing accepted", world(from, both, back, at(phasePreparing, true)), "", ReasonDone, phasePreparing},
		{"prepared, and the new engine has ended: it is dropped",
			world(from, serving(oldTarget), back, gone(newTarget), at(phasePreparing, true)), "", ReasonDone, ""},
		{"prepared, and the new engine does not answer: it is prepared again later",
			world(from, serving(oldTarget), at(phasePreparing, true)), "",
			ReasonTargetNotServing, phasePreparing},
		{"preparing again after a phase that may have closed the old target: the old target is opened",
			world(from, both, back, at(phasePreparing, true), oldClosed),
			goBack, ReasonCalling, phasePreparing},
		{"switching in work: the new target is promoted first", world(from, both, back, at(phaseSwitching, false)), "switching " +
			newTarget, ReasonCalling, phaseSwitching},
		{"switching accepted, the same", world(from, both, back, at(phaseSwitching, true)), "promoting " + newTarget, ReasonCalling,
			phaseSwitching},
		{"promoted, it goes to the old target like to any other", world(recordedAt(newTarget), both, back, at(phasePromoting, true)),
			"preparing " + oldTarget, ReasonCalling, ""},
		{"a refused switching: it is switched back", world(from, both, at(phaseSwitching, false), declined), goBack, ReasonCalling,
			phaseSwitching},
		{"a refused promoting, too", world(from, both, at(phasePromoting, false), declined), goBack, ReasonCalling, phasePromoting},
		{"switched back, it waits before the retry", world(from, both, declined), "", ReasonMoveRefused, ""},
		{"a refused preparing waits", world(from, both, at(phasePreparing, false), declined), "", ReasonMoveRefused, phasePreparing},
		{"without an old engine the phase is repeated, however often it was refused",
			world(from, serving(newTarget), at(phasePromoting, false), declined),
			"switching, promoting " + newTarget, ReasonCalling, phasePromoting},
		{"the new engine is proven gone", world(from, serving(oldTarget), gone(newTarget), at(phaseSwitching, true)), goBack, ReasonCalling,
			phaseSwitching},
		{"the new engine failed: its server is asked to close it",
			world(from, serving(oldTarget), know(newTarget, func(e *EngineFacts) { e.Failed = true }), at(phasePromoting, false)),
			goBack, ReasonCalling, phasePromoting},
		{"the state of the new engine is unknown: the old one is not opened", world(from, serving(oldTarget), at(phaseSwitching, true)), "",
			ReasonTargetUnknown, phaseSwitching},
		{"nor where all I/O is suspended: the new one may be used after a resume",
			world(from, serving(oldTarget), at(phaseSwitching, true), suspendedNow), "",
			ReasonTargetUnknown, phaseSwitching},
		{"unless the kernel has dropped its path meanwhile",
			world(from, serving(oldTarget), know(newTarget, func(e *EngineFacts) { e.NodeOut = true }), at(phaseSwitching, true),
				suspendedNow,
				func(w *World) { w.Now = now.Add(time.Hour); w.Settings.PathLoss = time.Minute }), goBack, ReasonCalling, phaseSwitching},
		{"neither engine serves: it waits", world(from, serving(), gone(newTarget), at(phaseSwitching, true)), "", ReasonTargetUnknown,
			phaseSwitching},
		{"neither does, and a third one is wanted",
			world(from, serving(thirdTarget), gone(newTarget), at(phaseSwitching, true), wants(thirdTarget)),
			"preparing " + thirdTarget, ReasonCalling, phaseSwitching},
		{"a third one is wanted after preparing: the second is closed before it, or both would be used",
			world(from, serving(oldTarget, newTarget, thirdTarget), at(phasePreparing, true), wants(thirdTarget)),
			goBack, ReasonCalling, phasePreparing},
		{"a third one is wanted after switching",
			world(from, serving(oldTarget, newTarget, thirdTarget), at(phaseSwitching, true), wants(thirdTarget)),
			"promoting " + newTarget, ReasonCalling, phaseSwitching},
		{"closed again, and the old engine does not serve: it waits for it",
			world(from, serving(newTarget), back, at(phaseReverting, true)), "", ReasonTargetNotServing, phaseReverting},
		{"closed again, and the old engine serves", world(from, both, back, at(phaseReverting, true)), goBack, ReasonCalling,
			phaseReverting},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.reason, v.Reason, v.Message)
			require.Equal(t, c.call, do(v))
			require.Equal(t, c.phase, v.Status.Switchover.Phase, "a phase that is not requested is not written")
		})
	}
}

func TestAPhaseIsWrittenBeforeAndAfterItsCall(t *testing.T) {
	w := world(recordedAt(oldTarget), serving(oldTarget, newTarget), at(phasePreparing, true))
	c := Decide(w).Call
	s := Switchover{Phase: phaseSwitching, Engine: engineAt(newTarget), UID: "uid of " + newTarget, IP: newTarget, Port: 20001,
		OldClosed: true, Since: now.Format(time.RFC3339)}
	require.Equal(t, s, c.Ahead.Switchover)
	s.Accepted = true
	require.Equal(t, s, c.Accepted)

	at(phaseSwitching, false)(&w)
	w.Now = now.Add(time.Minute)
	require.Equal(t, now.Format(time.RFC3339), Decide(w).Call.Ahead.Switchover.Since, "a repetition keeps the time")

	w = world(recordedAt(oldTarget), serving(oldTarget, newTarget), at(phaseSwitching, false), declined)
	require.True(t, Decide(w).Call.Accepted.Unanswered, "the phase before may still be executed: the old target is opened once more")

	w = world(recordedAt(oldTarget), serving(oldTarget, newTarget), at(phaseSwitching, true), declined)
	c = Decide(w).Call
	require.Equal(t, phaseReverting, c.Ahead.Switchover.Phase)
	require.Zero(t, c.Accepted, "the old target is open: nothing is under way")
	serving(newTarget)(&w)
	at(phaseReverting, false)(&w)
	wants(oldTarget)(&w)
	c = Decide(w).Call
	require.Empty(t, c.Revert.Open, "an engine that does not serve is not opened")
	require.Equal(t, phaseReverting, c.Accepted.Phase, "so the switch-over is still in progress")
}

func TestATargetWhoseEngineIsAnotherObjectIsPreparedAgain(t *testing.T) {
	renewed := know(newTarget, func(e *EngineFacts) { e.UID = "another" })
	w := world(recordedAt(oldTarget), serving(oldTarget, newTarget), renewed, at(phasePreparing, true))
	v := Decide(w)
	require.Equal(t, "preparing "+newTarget, do(v))
	require.Equal(t, "another", v.Call.Ahead.Switchover.UID)
	for _, phase := range []string{phaseSwitching, phasePromoting} {
		w = world(recordedAt(oldTarget), serving(oldTarget, newTarget), renewed, at(phase, true))
		require.Equal(t, goBack, do(Decide(w)), "the old target is opened, and then the switch-over restarts")
		w = world(recordedAt(oldTarget), serving(newTarget), renewed, at(phase, true))
		require.Equal(t, "preparing "+newTarget, do(Decide(w)), "where there is no old one, at once")
	}
}

// A server may execute an unanswered phase late, and close the old target that was opened meanwhile.
func TestTheOldTargetIsOpenedOnceMoreAfterAPhaseThatWasNotAnswered(t *testing.T) {
	late := func(w *World) { w.Status.Switchover.Unanswered, w.Settings.CallPatience = true, 3*time.Minute }
	after := func(d time.Duration) change { return func(w *World) { w.Now = now.Add(d) } }
	base := []change{recordedAt(oldTarget), serving(oldTarget), wants(oldTarget), gone(newTarget), at(phaseReverting, true), late}
	with := func(more ...change) World { return world(append(append([]change{}, base...), more...)...) }
	v := Decide(with(after(time.Minute)))
	require.Equal(t, OpNone, v.Call.Op)
	require.Equal(t, now.Add(3*time.Minute), v.At)
	v = Decide(with(after(3 * time.Minute)))
	require.Equal(t, goBack, do(v))
	require.Zero(t, v.Call.Accepted, "then it has ended")
}

func TestASwitchOverWithoutATargetIsReported(t *testing.T) {
	w := world(recordedAt(oldTarget), serving(oldTarget, newTarget), at(phaseSwitching, true), suspendedNow)
	w.Object.Target = TargetSpec{}
	v := Decide(w)
	require.Equal(t, ReasonTargetUnknown, v.Reason)
	require.Equal(t, OpNone, v.Call.Op)
}

// Nothing reports that the kernel has dropped a path: the decision is due then.
func TestASwitchOverThatWaitsForTheLossOfAPathIsDecidedOnAgainThen(t *testing.T) {
	w := world(recordedAt(oldTarget), serving(oldTarget), know(newTarget, func(e *EngineFacts) { e.NodeOut = true }), at(phaseSwitching, true),
		suspendedNow, func(w *World) { w.Settings.PathLoss = time.Minute })
	v := Decide(w)
	require.Equal(t, ReasonTargetUnknown, v.Reason)
	require.True(t, v.At.After(w.Now), "%s", v.At)
	w.Now = v.At
	v = Decide(w)
	require.Equal(t, goBack, do(v))
	require.Zero(t, v.At)
}

// An engine that is gone need not be closed. If it cannot be closed, all I/O must be suspended for longer than a kernel tries to reconnect.
func TestAnOldTargetThatCannotBeClosedIsLeftOnlyOnceItsPathIsLost(t *testing.T) {
	out := know(oldTarget, func(e *EngineFacts) { e.NodeOut = true })
	later := func(d time.Duration) change {
		return func(w *World) { w.Now = now.Add(d); w.Settings.PathLoss = time.Minute }
	}
	base := []change{recordedAt(oldTarget), serving(newTarget), at(phaseSwitching, false)}
	with := func(more ...change) World { return world(append(append([]change{}, base...), more...)...) }
	require.Equal(t, "promoting "+newTarget, do(Decide(with(gone(oldTarget)))))
	require.Equal(t, "switching "+newTarget, do(Decide(with(out, later(time.Hour)))), "I/O is not suspended")
	require.Equal(t, "switching "+newTarget, do(Decide(with(out, suspendedNow, later(59*time.Second)))))
	require.Equal(t, "switching "+newTarget, do(Decide(with(suspendedNow, later(time.Hour)))), "its node is in service")
	require.Equal(t, "switching "+newTarget, do(Decide(with(serving(oldTarget, newTarget), out, later(59*time.Second), declined,
		suspendedNow))), "nothing is opened again there")
	require.Equal(t, "promoting "+newTarget, do(Decide(with(out, suspendedNow, later(time.Minute)))))
}

func TestAnUnsupportedFrontendStaysAndReportsIt(t *testing.T) {
	for _, c := range []struct {
		frontend string
		disabled bool
		call     string
	}{{"blockdev", false, "preparing " + newTarget}, {"nvmf", false, "preparing " + newTarget}, {"ublk", false, ""}, {"", false, ""},
		{"blockdev", true, ""}} {
		w := world(recordedAt(oldTarget), serving(oldTarget, newTarget))
		w.Object.Frontend, w.Object.DisableFrontend = c.frontend, c.disabled
		v := Decide(w)
		require.Equal(t, c.call, do(v))
		if c.call == "" {
			require.Equal(t, ReasonSwitchoverUnsupported, v.Reason)
		}
	}
}

// Work that began before the switch-over would go to the engine that no longer gets writes.
func TestNoOldTargetIsClosedWhileWorkIsUnderWayThroughIt(t *testing.T) {
	working := know(oldTarget, func(e *EngineFacts) { e.Working = true })
	v := Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget), at(phasePreparing, true), working))
	require.Equal(t, OpNone, v.Call.Op)
	require.Equal(t, now.Add(workPause), v.At)
	require.Equal(t, "switching "+newTarget, do(Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget),
		at(phaseSwitching, false), working))), "the switch-over continues")
}

// The server rebuilds by itself, and knows one engine only: a replica that is being rebuilt would lack writes through the next
// engine.
func TestNoSwitchOverBeginsOrContinuesWhileTheOldEngineRebuilds(t *testing.T) {
	rebuilding := know(oldTarget, func(e *EngineFacts) { e.Rebuilding = "r-2" })
	for _, phase := range []change{func(*World) {}, at(phasePreparing, true)} {
		v := Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget), phase, rebuilding))
		require.Equal(t, OpNone, v.Call.Op)
		require.Contains(t, v.Message, "has rebuilt replica r-2")
		require.Equal(t, Problem{ReasonEngineRebuilding, v.Message}, v.Status.Switching)
		require.Equal(t, now.Add(workPause), v.At)
	}
	require.Equal(t, "switching "+newTarget, do(Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget),
		at(phaseSwitching, false), rebuilding))), "the switch-over continues")
}

func loadingAt(ip string) change { return know(ip, func(e *EngineFacts) { e.Loading = "disk-1" }) }

func TestNoSwitchOverBeginsOnABusyNodeAndOneInProgressContinues(t *testing.T) {
	busy := func(w *World) { w.Node.Loading = "disk-1" }
	for _, loading := range []change{busy, loadingAt(oldTarget), loadingAt(newTarget)} {
		v := Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget), loading))
		require.Equal(t, ReasonNodeBusy, v.Reason)
		require.Contains(t, v.Message, "until disk disk-1 is loaded")
		require.Equal(t, Problem{v.Reason, v.Message}, v.Status.Switching)
	}
	require.Equal(t, "switching "+newTarget, do(Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget), busy,
		at(phasePreparing, true)))))
}

func TestTheTargetOnRecordIsTheActivePathOrElseTheOnlyOpenOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		entry Entry
		want  TargetSpec
	}{
		{"the active path", Entry{EngineName: "e", ActivePath: "10.0.0.8:20001",
			Paths: []v1beta2.NvmeTCPPath{pathTo(newTarget, anaOptimized)}}, TargetSpec{Engine: "e", IP: oldTarget, Port: 20001}},
		{"without the engine's name, that of its path",
			Entry{ActivePath: "10.0.0.8:20001", Paths: []v1beta2.NvmeTCPPath{pathTo(oldTarget, anaOptimized)}}, targetAt(oldTarget)},
		{"without an active path, the optimized one",
			Entry{Paths: []v1beta2.NvmeTCPPath{pathTo(oldTarget, anaInaccessible), pathTo(newTarget, anaOptimized)}}, targetAt(newTarget)},
		{"of two optimized paths none",
			Entry{Paths: []v1beta2.NvmeTCPPath{pathTo(oldTarget, anaOptimized), pathTo(newTarget, anaOptimized)}},
			TargetSpec{}},
		{"nothing", Entry{}, TargetSpec{}},
	} {
		require.Equal(t, c.want, record(&c.entry), c.name)
	}
}

func TestTwoOpenPathsAreNoRecordAlsoWhereTheServerNamesNoEngine(t *testing.T) {
	unnamed := pathTo(oldTarget, anaOptimized)
	unnamed.EngineName = ""
	open := pathTo(newTarget, anaOptimized)
	for _, paths := range [][]v1beta2.NvmeTCPPath{{unnamed, open}, {open, unnamed}} {
		require.Zero(t, record(&Entry{Paths: paths}), "the order of the paths does not matter")
	}
	require.Equal(t, TargetSpec{IP: oldTarget, Port: 20001}, record(&Entry{Paths: []v1beta2.NvmeTCPPath{unnamed}}))
}

func TestASwitchOverIsReportedWhereItWaitsForWhatAPersonMayCheck(t *testing.T) {
	both := serving(oldTarget, newTarget)
	for reason, w := range map[string]World{
		ReasonTargetUnknown:         world(recordedAt(oldTarget), serving(oldTarget), at(phaseSwitching, true)),
		ReasonSwitchoverUnsupported: world(recordedAt(oldTarget), both, func(w *World) { w.Object.Frontend = "ublk" }),
	} {
		v := Decide(w)
		require.Equal(t, Problem{reason, v.Message}, v.Status.Switching)
	}
	for _, w := range []World{world(recordedAt(oldTarget), serving(oldTarget)), world(recordedAt(oldTarget), both, declined),
		world(recordedAt(newTarget), both)} {
		w.Status.Switching = Problem{ReasonTargetUnknown, "before"}
		require.Zero(t, Decide(w).Status.Switching, "it ends by itself")
	}
}

func TestARefusedPhaseIsRetriedWhenThatIsDue(t *testing.T) {
	both := serving(oldTarget, newTarget)
	for _, phase := range []change{func(*World) {}, at(phasePreparing, true)} {
		v := Decide(world(recordedAt(oldTarget), both, phase, declined))
		require.Equal(t, ReasonMoveRefused, v.Reason)
		require.Equal(t, now.Add(time.Minute), v.At)
	}
	require.Zero(t, Decide(world(recordedAt(oldTarget), serving(oldTarget), declined)).At, "an engine that serves is a change")
}

func TestARecordIsTheTargetOnlyAtItsAddressAndUnderItsName(t *testing.T) {
	both := serving(oldTarget, newTarget)
	unnamed := func(w *World) {
		w.Here.Entry.EngineName = ""
		for i := range w.Here.Entry.Paths {
			w.Here.Entry.Paths[i].EngineName = ""
		}
	}
	require.Equal(t, ReasonDone, Decide(world(recordedAt(newTarget), both, unnamed)).Reason, "a server that names no engine")
	require.Equal(t, "preparing "+newTarget, do(Decide(world(recordedAt(oldTarget), both, unnamed))))
	elsewhere := Decide(world(recordedAt(oldTarget), both, func(w *World) { w.Here.Entry.EngineName = engineAt(newTarget) }))
	require.Equal(t, "preparing "+newTarget, do(elsewhere), "the engine has another address now")
	reached := Decide(world(recordedAt(newTarget), serving(newTarget), at(phaseSwitching, true),
		func(w *World) { w.Object.Target = TargetSpec{} }))
	require.Equal(t, ReasonDone, reached.Reason)
	blank := func(w *World) { w.Here.Entry.EngineName, w.Here.Entry.ActivePath, w.Here.Entry.Paths = "", "", nil }
	v := Decide(world(recordedAt(oldTarget), both, at(phaseSwitching, true), blank))
	require.Equal(t, outcome{running, OpNone, "", ReasonTargetUnknown}, outcomeOf(v), "which target would be closed is not known")
}

func TestAPreparedTargetIsKeptOnlyAtTheAddressThatTheSpecNames(t *testing.T) {
	moved := func(w *World) {
		w.Object.Target.Port = 20002
		know(newTarget, func(e *EngineFacts) { e.Address = newTarget + ":20002" })(w)
	}
	v := Decide(world(recordedAt(oldTarget), serving(oldTarget, newTarget), at(phasePreparing, true), moved))
	require.NotEqual(t, "switching "+newTarget, do(v), "another address was prepared")
	require.Equal(t, OpRevert, v.Call.Op)
}

func TestAnotherTargetIsPreparedOnlyOnceTheOneBeforeItIsClosedOrGone(t *testing.T) {
	stuck := func(more ...change) string {
		base := []change{recordedAt(oldTarget), serving(thirdTarget), at(phaseSwitching, true), wants(thirdTarget)}
		return do(Decide(world(append(base, more...)...)))
	}
	require.Equal(t, "preparing "+thirdTarget, stuck(gone(newTarget)))
	require.Empty(t, stuck(), "the second one may be used")
	require.Empty(t, stuck(know(newTarget, func(e *EngineFacts) { e.UID = "" })), "an engine without an object is not proven gone")
	require.Empty(t, stuck(gone(newTarget), declined), "its server refused; the retry is not due")
	require.Empty(t, stuck(gone(newTarget), serving(), gone(newTarget)), "the third one does not serve")
}

func TestASwitchBackIsFinishedBeforeATargetThatDoesNotServeOrWasRefused(t *testing.T) {
	from := recordedAt(oldTarget)
	for _, c := range []struct {
		name   string
		world  World
		call   string
		reason string
	}{
		{"the new one does not serve", world(from, serving(oldTarget), at(phaseReverting, false)), goBack, ReasonCalling},
		{"the new one was refused", world(from, serving(oldTarget, newTarget), at(phaseReverting, false), declined), goBack, ReasonCalling},
		{"neither the old one nor a third one serves", world(from, serving(), at(phaseReverting, true), wants(thirdTarget)), "",
			ReasonTargetNotServing},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.call, do(v))
			require.Equal(t, c.reason, v.Reason)
		})
	}
}

// Only an unanswered phase is waited for after the old target was opened.
func TestTheOldTargetIsOpenedAtOnceWhereNoPhaseIsUnanswered(t *testing.T) {
	back := func(accepted, unanswered bool, more ...change) Verdict {
		base := []change{recordedAt(oldTarget), serving(oldTarget), wants(oldTarget), at(phaseReverting, accepted), func(w *World) {
			w.Status.Switchover.Unanswered, w.Settings.CallPatience = unanswered, 3*time.Minute
		}}
		return Decide(world(append(base, more...)...))
	}
	require.Equal(t, ReasonChanging, back(true, true).Reason)
	require.Equal(t, goBack, do(back(true, false)))
	require.Equal(t, goBack, do(back(false, true)))
	require.Equal(t, ReasonTargetNotServing, back(true, true, serving()).Reason, "there is nothing to open")
}

func TestAPromotingClosesAnOldTargetThatRunsFirstAndIsNotRepeatedBeforeTheNextList(t *testing.T) {
	promote := func(accepted bool, more ...change) Verdict {
		return Decide(world(append([]change{recordedAt(oldTarget), serving(oldTarget, newTarget), at(phasePromoting, accepted)}, more...)...))
	}
	unsettled := func(w *World) { w.Unsettled = true }
	require.Equal(t, "promoting "+newTarget, do(promote(false, gone(oldTarget))), "an engine that is gone need not be closed")
	require.Equal(t, "switching, promoting "+newTarget, do(promote(false, unsettled)), "it was not accepted: the list does not matter")
	require.Empty(t, do(promote(true, unsettled)))
}

func TestAPhaseRecordsWhetherTheOldTargetMayBeClosed(t *testing.T) {
	open := func(w *World) { w.Status.Switchover.OldClosed = false }
	both := serving(oldTarget, newTarget)
	for _, c := range []struct {
		name   string
		world  World
		phase  string
		closed bool
	}{
		{"a new preparing", world(recordedAt(oldTarget), both), phasePreparing, false},
		{"a repeated one", world(recordedAt(oldTarget), both, at(phasePreparing, false)), phasePreparing, false},
		{"a preparing after it was closed", world(recordedAt(oldTarget), both, at(phasePreparing, false), oldClosed), phasePreparing, true},
		{"a switching", world(recordedAt(oldTarget), both, at(phasePreparing, true)), phaseSwitching, true},
		{"a promoting", world(recordedAt(oldTarget), both, at(phaseSwitching, true), open), phasePromoting, true},
	} {
		c.world.Status.Switchover.Since = ago
		v := Decide(c.world)
		require.Equal(t, c.phase, v.Call.Phase, c.name)
		require.Equal(t, c.closed, v.Call.Ahead.Switchover.OldClosed, c.name)
		same := c.world.Status.Switchover
		repeated := same.Phase == c.phase && !same.Accepted
		require.Equal(t, repeated, v.Call.Ahead.Switchover.Since == ago, "%s: only a repetition keeps its time", c.name)
	}
	renewed := world(recordedAt(oldTarget), both, at(phasePreparing, false), know(newTarget, func(e *EngineFacts) { e.UID = "another" }))
	renewed.Status.Switchover.Since = ago
	require.NotEqual(t, ago, Decide(renewed).Call.Ahead.Switchover.Since, "another engine's phase is another one")
}

const ago = "2026-07-31T12:00:00Z"

func TestASwitchBackRecordsWhichPhaseMayStillBeExecutedAndWhetherItsTargetMustAnswer(t *testing.T) {
	back := func(phase string, accepted bool, more ...change) Call {
		base := []change{recordedAt(oldTarget), serving(oldTarget, newTarget), at(phase, accepted), oldClosed, declined}
		c := Decide(world(append(base, more...)...)).Call
		require.Equal(t, OpRevert, c.Op, phase)
		return c
	}
	for _, c := range []struct {
		phase      string
		accepted   bool
		more       change
		unanswered bool
	}{
		{phaseSwitching, false, func(*World) {}, true},
		{phaseSwitching, true, func(*World) {}, false},
		{phasePromoting, false, func(*World) {}, true},
		{phasePromoting, true, func(*World) {}, false},
		{phasePreparing, false, wants(thirdTarget), false},
		{phaseReverting, false, func(*World) {}, false},
		{phaseReverting, false, func(w *World) { w.Status.Switchover.Unanswered = true }, true},
	} {
		require.Equal(t, c.unanswered, back(c.phase, c.accepted, c.more).Ahead.Switchover.Unanswered, "%s %t", c.phase, c.accepted)
	}
	require.False(t, back(phaseSwitching, true).Revert.Harmless, "it runs, and must be closed")
	require.True(t, back(phaseSwitching, true, gone(newTarget)).Revert.Harmless, "it is gone")
	lost := know(newTarget, func(e *EngineFacts) { e.NodeOut, e.Address = true, "" })
	cut := func(w *World) { suspendedNow(w); w.Now, w.Settings.PathLoss = now.Add(time.Hour), time.Minute }
	require.True(t, back(phaseSwitching, true, lost, cut).Revert.Harmless, "no path leads to it")
}

// What holds a switch-over up is named one after the other: nothing is called before the last one is gone.
func TestTheObstaclesOfASwitchOverAreNamedOneAfterTheOther(t *testing.T) {
	w := world(recordedAt(oldTarget), serving(oldTarget), wants(oldTarget), declined, loadingAt(oldTarget),
		know(oldTarget, func(e *EngineFacts) { e.Rebuilding, e.Working = "r-2", true }), func(w *World) { w.Object.Frontend = "ublk" })
	for _, step := range []struct {
		reason, message string
		then            change
	}{
		{ReasonDone, "", wants(newTarget)},
		{ReasonSwitchoverUnsupported, `Frontend "ublk" does not support a switch-over: it stays at engine engine at 10.0.0.8. Detach the ` +
			"volume to move its target.", func(w *World) { w.Object.Frontend = "blockdev" }},
		{ReasonNodeBusy, "The switch-over to engine engine at 10.0.0.9 waits until disk disk-1 is loaded: every call of its server may wait " +
			"for that.", know(oldTarget, func(e *EngineFacts) { e.Loading = "" })},
		{ReasonTargetNotServing, "Engine engine at 10.0.0.9 does not serve at 10.0.0.9:20001; the frontend stays at its target.",
			know(newTarget, func(e *EngineFacts) { e.Address = newTarget + ":20001" })},
		{ReasonMoveRefused, "The server refused the switch-over to engine engine at 10.0.0.9; it is retried.",
			func(w *World) { w.MoveAfter = w.Now }},
		{ReasonEngineRebuilding, "The switch-over to engine engine at 10.0.0.9 waits until engine engine at 10.0.0.8 has rebuilt replica r-2.",
			know(oldTarget, func(e *EngineFacts) { e.Rebuilding = "" })},
		{ReasonCalling, "It switches over to engine engine at 10.0.0.9 at 10.0.0.9:20001: " + phasePreparing + ".", at(phasePreparing, false)},
		{ReasonCalling, "It switches over to engine engine at 10.0.0.9 at 10.0.0.9:20001: " + phasePreparing + ".", func(w *World) {
			at(phasePreparing, true)(w)
			know(oldTarget, func(e *EngineFacts) { e.Rebuilding = "r-2" })(w)
			declined(w)
		}},
		{ReasonMoveRefused, "The server refused the switch-over to engine engine at 10.0.0.9; it is retried.",
			func(w *World) { w.MoveAfter = time.Time{} }},
		{ReasonChanging, "The switch-over to engine engine at 10.0.0.9 waits for the end of a call to engine engine at 10.0.0.8, and for a " +
			"poll after it.",
			know(oldTarget, func(e *EngineFacts) { e.Working = false })},
		{ReasonEngineRebuilding, "The switch-over to engine engine at 10.0.0.9 waits until engine engine at 10.0.0.8 has rebuilt replica r-2.",
			know(oldTarget, func(e *EngineFacts) { e.Rebuilding = "" })},
		{ReasonCalling, "It switches over to engine engine at 10.0.0.9 at 10.0.0.9:20001: " + phaseSwitching + ".", func(*World) {}},
	} {
		v := Decide(w)
		require.Equal(t, Problem{step.reason, step.message}, Problem{v.Reason, v.Message})
		step.then(&w)
	}
}

func TestASwitchOverThatStoppedNamesBothEngines(t *testing.T) {
	from, late := recordedAt(oldTarget), func(w *World) {
		w.Status.Switchover.Unanswered, w.Settings.CallPatience = true, 3*time.Minute
	}
	for want, w := range map[string]World{
		"The switch-over from engine engine at 10.0.0.8 to engine engine at 10.0.0.9 stopped at switching: neither is known to serve alone. " +
			"The switch-over continues once the node of one of them answers.": world(from, serving(), at(phaseSwitching, true)),
		"A switch-over to engine engine at 10.0.0.9 is under way (switching), and its server has no target on record, or the spec " +
			"names none.": world(from, serving(oldTarget), at(phaseSwitching, true), func(w *World) { w.Object.Target = TargetSpec{} }),
		"Engine engine at 10.0.0.9 was promoted; the next list shows it.": world(from, serving(oldTarget, newTarget), at(phasePromoting, true),
			func(w *World) { w.Unsettled = true }),
		"Engine engine at 10.0.0.9 does not serve at 10.0.0.9:20001; the frontend stays at its target.": world(from, serving(oldTarget),
			at(phasePreparing, true)),
		"The frontend is switched back to engine engine at 10.0.0.8, which does not serve.": world(from, serving(newTarget), wants(oldTarget),
			at(phaseReverting, true)),
		"Engine engine at 10.0.0.8 is opened again. A phase before that was not answered, and its server may still execute it: the engine is " +
			"opened once more at 2026-08-01T12:03:00Z.": world(from, serving(oldTarget), wants(oldTarget), gone(newTarget),
			at(phaseReverting, true), late),
		"It is switched back to engine engine at 10.0.0.8: engine engine at 10.0.0.9 is closed first.": world(from, serving(oldTarget),
			gone(newTarget), at(phaseSwitching, true)),
	} {
		require.Equal(t, want, Decide(w).Message)
	}
}

func TestACallOfASwitchOverGoesToTheServersOfTheFrontendAndOfBothEngines(t *testing.T) {
	both := serving(oldTarget, newTarget)
	c := Decide(world(recordedAt(oldTarget), both)).Call
	require.Equal(t, im, c.InstanceManager)
	require.Equal(t, targetAt(newTarget), c.Target)
	c = Decide(world(recordedAt(oldTarget), both, at(phaseSwitching, true), declined)).Call
	require.Equal(t, im, c.InstanceManager)
	require.Equal(t, targetAt(oldTarget), c.Target, "the one that is on record again")
	require.Equal(t, Revert{Close: engineAt(newTarget), CloseAt: "im at " + newTarget, Open: engineAt(oldTarget),
		OpenAt: "im at " + oldTarget}, c.Revert)
}

func TestWhichWayOutASwitchOverTakesWhereSeveralAreOpen(t *testing.T) {
	from, both := recordedAt(oldTarget), serving(oldTarget, newTarget)
	out := know(oldTarget, func(e *EngineFacts) { e.NodeOut = true })
	moved := func(w *World) {
		w.Object.Target.Port = 20002
		know(newTarget, func(e *EngineFacts) { e.Address = newTarget + ":20002" })(w)
	}
	renamed := func(w *World) {
		w.Object.Target.Engine = "another"
		w.Engines["another"] = EngineFacts{UID: "uid of " + newTarget, Address: newTarget + ":20001"}
	}
	for _, c := range []struct {
		name  string
		world World
		call  string
		phase string
	}{
		{"prepared once more after the old target was closed: it goes on", world(from, both, at(phasePreparing, true), oldClosed),
			"switching " + newTarget, phasePreparing},
		{"its engine ended after the old target was closed: that one is opened before all is forgotten",
			world(from, serving(oldTarget), gone(newTarget), wants(oldTarget), at(phasePreparing, true), oldClosed), goBack, phasePreparing},
		{"its engine ended before: it is forgotten, although the spec still names it",
			world(from, serving(oldTarget), gone(newTarget), at(phasePreparing, true)), "", ""},
		{"switched, and an older call may still be open: the next phase does not wait for a list",
			world(from, both, at(phaseSwitching, true), func(w *World) { w.Unsettled = true }), "promoting " + newTarget, phaseSwitching},
		{"its engine ended, and a third one is wanted: the old one is opened first",
			world(from, serving(oldTarget, thirdTarget), gone(newTarget), at(phaseSwitching, true), wants(thirdTarget)), goBack,
			phaseSwitching},
		{"it ended while it was prepared once more: the third one is prepared at once",
			world(from, serving(oldTarget, thirdTarget), gone(newTarget), at(phasePreparing, true), oldClosed, wants(thirdTarget)),
			"preparing " + thirdTarget, phasePreparing},
		{"its engine ended, and the old one is on a node that is out: no one is prepared there",
			world(from, serving(oldTarget), out, gone(newTarget), at(phaseSwitching, true), wants(oldTarget)), "", phaseSwitching},
		{"its engine serves at another port now", world(from, serving(), at(phaseSwitching, true), moved), "preparing " + newTarget,
			phaseSwitching},
		{"another engine serves at its address", world(from, both, at(phasePreparing, true), renamed), goBack, phasePreparing},
	} {
		v := Decide(c.world)
		require.Equal(t, c.call, do(v), "%s: %s", c.name, v.Message)
		require.Equal(t, c.phase, v.Status.Switchover.Phase, c.name)
	}
	late := Decide(world(from, serving(), know(newTarget, func(e *EngineFacts) { e.NodeOut = true }), at(phaseSwitching, true), suspendedNow,
		func(w *World) { w.Now, w.Settings.PathLoss = now.Add(time.Hour), time.Minute }))
	require.Equal(t, ReasonTargetUnknown, late.Reason)
	require.Zero(t, late.At, "a moment that is over brings no news")
}

func TestAPhaseThatFollowsAnotherBeginsItsOwnTime(t *testing.T) {
	later := func(w *World) { w.Now = now.Add(time.Minute) }
	since := func(changes ...change) string {
		return Decide(world(append([]change{recordedAt(oldTarget)}, changes...)...)).Call.Ahead.Switchover.Since
	}
	require.Equal(t, "2026-08-01T12:01:00Z", since(serving(newTarget), gone(oldTarget), at(phaseSwitching, false), later),
		"promoting follows a switching that was not answered")
	both := serving(oldTarget, newTarget)
	require.Equal(t, "2026-08-01T12:01:00Z", since(both, at(phaseReverting, true), wants(oldTarget), later), "it was accepted before")
	require.Equal(t, "2026-08-01T12:00:00Z", since(both, at(phaseReverting, false), wants(oldTarget), later), "it is repeated")
}

// The old engine's node is out, so it is only closed there: the late phase may still be executed.
func TestAPhaseStaysUnansweredUntilItsTimeIsOver(t *testing.T) {
	back := func(after time.Duration) Switchover {
		out := know(oldTarget, func(e *EngineFacts) { e.NodeOut = true })
		c := Decide(world(recordedAt(oldTarget), serving(oldTarget), out, gone(newTarget), wants(oldTarget),
			at(phaseReverting, true), func(w *World) {
				w.Status.Switchover.Unanswered, w.Settings.CallPatience, w.Now = true, 3*time.Minute, now.Add(after)
			})).Call
		require.Equal(t, OpRevert, c.Op)
		return c.Ahead.Switchover
	}
	require.True(t, back(3*time.Minute-time.Second).Unanswered)
	require.False(t, back(3*time.Minute).Unanswered)
}
