package checks

import (
	"google.golang.org/grpc/codes"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
)

// The phases of a switch-over.
const (
	preparing = "preparing"
	switching = "switching"
	promoting = "promoting"
	atOnce    = ""
)

// v2Switch are the checks of the switch-over of a frontend to another engine's target, and of each way back.
func v2Switch() []suite.Check {
	two := []suite.Need{suite.SecondManager, suite.Content}
	return []suite.Check{
		found(v2("switch-preparing", "preparing changes neither the record nor the paths, and I/O continues through the old "+
			"target", onSwitch,
			v2SwitchPreparing, two...), "V9"),
		found(v2("switch-switching", "switching changes neither the record nor the paths, and I/O continues", onSwitch, v2SwitchSwitching,
			two...), "V9"),
		found(v2("switch-promoting", "promoting makes the new path optimized and active, and keeps the old one as inaccessible", onSwitch,
			v2SwitchPromoting, two...), "V9"),
		v2("switch-complete", "after promoting the old engine can be deleted: I/O continues and all content is there", onSwitch,
			v2SwitchComplete,
			two...),
		v2("switch-repeat", "each phase may be repeated", onSwitch, v2SwitchRepeat, two...),
		v2("switch-at-once", "a switch-over without a phase executes all of them", onSwitch, v2SwitchAtOnce, two...),
		found(v2("switch-current", "every phase to the target on record is OK and does nothing", onSwitch, v2SwitchCurrent, two...), "V9"),
		found(v2("switch-current-no-way-back", "after switching, promoting to the old target, which is on record, is OK and moves no "+
			"I/O back",
			onSwitch,
			v2SwitchCurrentNoWayBack, two...), "V9"),
		v2("switch-arguments", "a bad address and an unknown phase are InvalidArgument, an unknown frontend is NotFound, and an unknown "+
			"engine Internal",
			onSwitch, v2SwitchArguments, two...),
		found(v2("switch-none", "a frontend of no kind is refused with FailedPrecondition and does not support target switchover", onSwitch,
			v2SwitchNone), "V9"),
		v2("switch-nvmf", "a frontend spdk-tcp-nvmf is switched over: its endpoint is then at the new target", onSwitch, v2SwitchNVMf,
			suite.SecondManager),
		v2("switch-back-prepared", "way back after preparing: the new engine is deleted, and I/O continues", onSwitch, v2BackPrepared,
			two...),
		found(v2("switch-back-switched", "way back after switching: promoting to the new target, then all phases to the old one; no "+
			"write is lost", onSwitch,
			v2BackSwitched, two...), "V9"),
		found(v2("switch-back-dead", "way back after switching to an engine that died: promoting to it fails, and thereby opens the old "+
			"target; no write is lost",
			onSwitch, v2BackDead, two...), "V9"),
		found(v2("switch-back-ana", "way back after switching, exactly: the new engine's listener inaccessible, then the old one's "+
			"optimized; no write is lost",
			onSwitch, v2BackANA, two...), "V9"),
		v2("switch-back-promoted", "way back after promoting: all phases to the old target; no write is lost", onSwitch, v2BackPromoted,
			two...),
	}
}

// both is a volume with a frontend at engine a, and engine b on the second node over the same replica.
func (k v2kit) both() (f, a, b spdk) {
	r := k.replica(k.Manager, 1)
	a = k.engine(k.Manager, 0, r)
	f = k.frontend(a)
	return f, a, k.engine(k.Second, 1, r)
}

// switchOver executes one phase.
func (k v2kit) switchOver(f, to spdk, phase string) error {
	_, err := f.on.Instance.InstanceSwitchOverTarget(k.Context(), &imrpc.InstanceSwitchOverTargetRequest{Name: f.name, Type: typeFrontend,
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, EngineName: to.name, TargetAddress: to.address, SwitchoverPhase: phase})
	return err
}

// switched executes phases that must succeed.
func (k v2kit) switched(f, to spdk, phases ...string) {
	for _, phase := range phases {
		k.OK(k.switchOver(f, to, phase), "phase %q to %s", phase, to.name)
	}
}

// onRecord ends the check unless the frontend's record has one path, which is the engine's and optimized.
func (k v2kit) onRecord(f, e spdk) {
	s := k.status(f)
	k.Require(s.GetActivePath() == e.address && s.GetEngineName() == e.name, "the record is %s at %s, not %s at %s", s.GetEngineName(),
		s.GetActivePath(), e.name, e.address)
	k.Require(len(s.GetPaths()) == 1 && s.GetPaths()[0].GetEngineName() == e.name && s.GetPaths()[0].GetAnaState() == "optimized",
		"the paths are %v", s.GetPaths())
}

// all ends the check unless the blocks from 1 on read as the texts.
func (k v2kit) all(f spdk, texts ...string) {
	for n, text := range texts {
		k.reads(f, int64(n+1), text)
	}
}

func v2SwitchPreparing(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing)
	k.onRecord(f, a)
	k.write(f, 2, "prepared")
	k.all(f, "before", "prepared")
}

func v2SwitchSwitching(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing, switching)
	k.onRecord(f, a)
	k.write(f, 2, "switched")
	k.all(f, "before", "switched")
	k.switched(f, b, promoting)
	k.all(f, "before", "switched")
}

func v2SwitchPromoting(k v2kit) {
	f, a, b := k.both()
	k.switched(f, b, preparing, switching, promoting)
	s := k.status(f)
	k.Require(s.GetActivePath() == b.address && s.GetEngineName() == b.name, "the record is %s at %s", s.GetEngineName(), s.GetActivePath())
	states := map[string]string{}
	for _, p := range s.GetPaths() {
		states[p.GetEngineName()] = p.GetAnaState()
	}
	k.Require(len(states) == 2 && states[b.name] == "optimized" && states[a.name] == "inaccessible", "the paths are %v", s.GetPaths())
}

func v2SwitchComplete(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing, switching, promoting)
	k.write(f, 2, "promoted")
	k.stop(a)
	k.write(f, 3, "alone")
	k.all(f, "before", "promoted", "alone")
}

func v2SwitchRepeat(k v2kit) {
	f, _, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing, preparing, switching, switching, promoting, promoting)
	k.write(f, 2, "promoted")
	k.all(f, "before", "promoted")
}

func v2SwitchAtOnce(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, atOnce)
	k.Require(k.status(f).GetActivePath() == b.address, "the active path is %s", k.status(f).GetActivePath())
	k.stop(a)
	k.write(f, 2, "after")
	k.all(f, "before", "after")
}

func v2SwitchCurrent(k v2kit) {
	f, a, _ := k.both()
	k.write(f, 1, "before")
	for _, phase := range []string{preparing, switching, promoting, atOnce} {
		k.switched(f, a, phase)
		k.onRecord(f, a)
	}
	k.write(f, 2, "after")
	k.all(f, "before", "after")
}

func v2SwitchCurrentNoWayBack(k v2kit) {
	f, a, b := k.both()
	k.switched(f, b, preparing, switching)
	k.write(f, 1, "switched")
	k.switched(f, a, promoting)
	k.onRecord(f, a)
	k.write(f, 2, "still switched")
	k.switched(f, b, promoting)
	k.stop(a)
	k.all(f, "switched", "still switched")
}

func v2SwitchArguments(k v2kit) {
	f, _, b := k.both()
	k.Refused(k.switchOver(f, spdk{name: b.name, address: "no address"}, preparing), codes.InvalidArgument, nil,
		"switching over to a bad address")
	k.Refused(k.switchOver(f, b, "no-such-phase"), codes.InvalidArgument, nil, "an unknown phase")
	k.Refused(k.switchOver(spdk{name: f.name + "-unknown", on: f.on}, b, preparing), codes.NotFound, nil,
		"switching over an unknown frontend")
	k.Refused(k.switchOver(f, spdk{name: b.name + "-unknown", address: b.address}, preparing), codes.Internal, nil,
		"switching over to an unknown engine")
	k.write(f, 1, "undisturbed")
	k.all(f, "undisturbed")
}

func v2SwitchNone(k v2kit) {
	e := k.engine(k.Manager, 0, k.replica(k.Manager, 1))
	f := spdk{name: k.volume + "-ef-0", typ: typeFrontend, on: k.Manager}
	_, err := k.create(k.Manager, k.frontendSpec(f.name, "", e))
	k.OK(err, "creating a frontend of no kind")
	other := spdk{name: e.name + "-other", address: e.address}
	k.Refused(k.switchOver(f, other, preparing), codes.FailedPrecondition, []string{"does not support target switchover"},
		"switching it over")
}

func v2SwitchNVMf(k v2kit) {
	r := k.replica(k.Manager, 1)
	f := k.frontendFor(nvmf, k.engineFor(k.Manager, 0, nvmf, r))
	before := k.status(f).GetEndpoint()
	b := k.engineFor(k.Second, 1, nvmf, r)
	k.switched(f, b, preparing, switching, promoting)
	s := k.status(f)
	k.Require(s.GetActivePath() == b.address && s.GetEndpoint() != "" && s.GetEndpoint() != before,
		"active path %q, endpoint %q, before %q",
		s.GetActivePath(),
		s.GetEndpoint(), before)
}

func v2BackPrepared(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing)
	k.write(f, 2, "prepared")
	k.stop(b)
	k.write(f, 3, "back")
	k.onRecord(f, a)
	k.all(f, "before", "prepared", "back")
}

func v2BackSwitched(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing, switching)
	k.write(f, 2, "switched")
	k.switched(f, b, promoting)
	k.switched(f, a, preparing, switching, promoting)
	k.write(f, 3, "back")
	k.stop(b)
	k.write(f, 4, "alone")
	k.all(f, "before", "switched", "back", "alone")
}

func v2BackDead(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing, switching)
	k.write(f, 2, "switched")
	k.stop(b)
	k.Fails(k.switchOver(f, b, promoting), nil, "promoting to an engine that is gone")
	k.write(f, 3, "back")
	k.onRecord(f, a)
	k.all(f, "before", "switched", "back")
}

func v2BackPromoted(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing, switching, promoting)
	k.write(f, 2, "promoted")
	k.switched(f, a, preparing, switching, promoting)
	k.stop(b)
	k.write(f, 3, "back")
	k.all(f, "before", "promoted", "back")
}

// setANA sets the state of the listener of an engine, at the SPDK service of its node.
func (k v2kit) setANA(e spdk, state string) {
	_, err := e.on.SPDK.EngineSetTargetListenerANAState(k.Context(), &spdkrpc.EngineSetTargetListenerANAStateRequest{Name: e.name,
		AnaState: state})
	k.OK(err, "making the listener of %s %s", e.name, state)
}

func v2BackANA(k v2kit) {
	f, a, b := k.both()
	k.write(f, 1, "before")
	k.switched(f, b, preparing, switching)
	k.write(f, 2, "switched")
	k.setANA(b, "inaccessible")
	k.setANA(a, "optimized")
	k.write(f, 3, "back")
	k.stop(b)
	k.write(f, 4, "alone")
	k.onRecord(f, a)
	k.all(f, "before", "switched", "back", "alone")
}
