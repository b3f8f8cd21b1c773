package checks

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// nvmf is the frontend that is an address and no device.
const nvmf = "spdk-tcp-nvmf"

// v2Frontends are the checks of frontends: their life, suspension, and what a restart leaves of them.
func v2Frontends() []suite.Check {
	return []suite.Check{
		assumed(v2("frontend-create", "a frontend runs with an endpoint, its engine, and one optimized path that is active; what is "+
			"written is read", onSemantics,
			v2FrontendCreate, suite.Content),
			"active_path is ip:port of the target on record"),
		v2("frontend-no-target", "a frontend whose target does not answer is created with OK and is in state error", onSemantics,
			v2FrontendNoTarget),
		found(v2("frontend-no-target-unlisted", "a frontend whose target does not answer is in no list until its creation is answered",
			onSemantics, v2FrontendNoTargetUnlisted), "K8"),
		found(v2("frontend-one-per-volume", "a second frontend of a volume is AlreadyExists, whatever its name is", onRestarts,
			v2FrontendOne),
			"V9"),
		v2("frontend-delete", "deleting a frontend ends it, also without cleanup_required, and the engine runs on", onSemantics,
			v2FrontendDelete),
		v2("frontend-again", "a frontend that was deleted and created again serves what was written", onSemantics, v2FrontendAgain,
			suite.Content),
		found(v2("suspend-device", "a suspended block device holds its I/O until it is resumed; suspending and resuming again are OK",
			onSwitch,
			v2SuspendDevice,
			suite.Content), "V9"),
		found(v2("suspend-nvmf", "suspending a frontend spdk-tcp-nvmf is Unimplemented and sets error_msg", onSwitch, v2SuspendNVMf), "V9"),
		found(v2("suspend-none", "suspending a frontend of no kind is Unimplemented and sets error_msg", onSwitch, v2SuspendNone), "V9"),
		found(v2("frontend-restart", "after a restart a block device comes back from its record, pending first, running then, with the "+
			"same endpoint and content",
			onRestarts, v2FrontendRestart, suite.Restart, suite.SecondManager, suite.SecondDisk, suite.Content), "V9"),
		v2("frontend-restart-nvmf", "after a restart a frontend spdk-tcp-nvmf comes back as an endpoint", onRestarts, v2FrontendRestartNVMf,
			suite.Restart, suite.SecondManager, suite.SecondDisk),
		found(v2("frontend-restart-lost", "a frontend whose target does not answer after a restart is gone after a while, and is created "+
			"again with all content",
			onRestarts, v2FrontendRestartLost, suite.Restart, suite.Content), "V9"),
	}
}

func v2FrontendCreate(k v2kit) {
	f, e, _ := k.served()
	s := k.status(f)
	k.Require(s.GetEndpoint() != "" && s.GetFrontend() == k.FrontendV2 && s.GetEngineName() == e.name,
		"endpoint %q, frontend %q, engine %q",
		s.GetEndpoint(),
		s.GetFrontend(), s.GetEngineName())
	k.Require(s.GetActivePath() == e.address && len(s.GetPaths()) == 1 && s.GetPaths()[0].GetAnaState() == "optimized",
		"active path %q of %v",
		s.GetActivePath(), s.GetPaths())
	k.write(f, 9, "nine")
	k.reads(f, 9, "nine")
	k.reads(f, 10, "")
}

func (k v2kit) status(f spdk) *imrpc.InstanceStatus {
	seen, err := k.get(f.on, f.name, typeFrontend)
	k.OK(err, "getting frontend %s", f.name)
	return seen.GetStatus()
}

func v2FrontendNoTarget(k v2kit) {
	e := k.engine(k.Manager, 0, k.replica(k.Manager, 1))
	k.stop(e)
	name := k.volume + "-ef-0"
	_, err := k.create(k.Manager, k.frontendSpec(name, k.FrontendV2, e))
	k.OK(err, "creating a frontend whose target is gone")
	k.Require(k.inState(k.Manager, name, typeFrontend, failed).GetStatus().GetErrorMsg() != "", "error_msg is empty")
}

// v2FrontendNoTargetUnlisted asks for lists while the creation is under way, in a goroutine, since its answer comes late.
func v2FrontendNoTargetUnlisted(k v2kit) {
	e := k.engine(k.Manager, 0, k.replica(k.Manager, 1))
	k.stop(e)
	name := k.volume + "-ef-0"
	answered := underWay(func() error {
		_, err := k.create(k.Manager, k.frontendSpec(name, k.FrontendV2, e))
		return err
	})
	for lists := 0; ; lists++ {
		seen := list(k.T, k.Manager)[name]
		select {
		case err := <-answered:
			k.OK(err, "creating a frontend whose target is gone")
			k.Require(lists > 0, "no list was answered while the frontend was being created")
			k.inState(k.Manager, name, typeFrontend, failed)
			return
		default:
			k.Require(seen == nil || seen.GetStatus().GetState() == failed, "the frontend is listed as %s while it is being created",
				seen.GetStatus().GetState())
		}
	}
}

// underWay makes a call in a goroutine; its answer comes over the channel.
func underWay(call func() error) <-chan error {
	answered := make(chan error, 1)
	go func() { answered <- call() }()
	return answered
}

func v2FrontendOne(k v2kit) {
	f, e, _ := k.served()
	_, err := k.create(k.Manager, k.frontendSpec(k.volume+"-ef-1", k.FrontendV2, e))
	k.Refused(err, codes.AlreadyExists, []string{"already exists"}, "creating a second frontend of another name")
	k.runs(k.Manager, f.name, typeFrontend)
	k.Require(list(k.T, k.Manager)[k.volume+"-ef-1"] == nil, "the second frontend is listed")
}

func v2FrontendDelete(k v2kit) {
	f, e, _ := k.served()
	out, err := k.delete(f, false)
	k.OK(err, "deleting the frontend")
	k.Require(out.GetDeleted(), "deleted is false")
	k.Eventually("the frontend is gone", func() (bool, string) { return list(k.T, k.Manager)[f.name] == nil, "it is listed" })
	k.runs(k.Manager, e.name, typeEngine)
}

func v2FrontendAgain(k v2kit) {
	f, e, _ := k.served()
	k.write(f, 3, "three")
	k.stop(f)
	k.reads(k.frontend(e), 3, "three")
}

func (k v2kit) suspend(f spdk) error {
	_, err := f.on.Instance.InstanceSuspend(k.Context(), &imrpc.InstanceSuspendRequest{Name: f.name, Type: typeFrontend,
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2})
	return err
}

func (k v2kit) resume(f spdk) error {
	_, err := f.on.Instance.InstanceResume(k.Context(), &imrpc.InstanceResumeRequest{Name: f.name, Type: typeFrontend,
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2})
	return err
}

func v2SuspendDevice(k v2kit) {
	f, _, _ := k.served()
	k.OK(k.resume(f), "resuming a frontend that runs")
	k.OK(k.suspend(f), "suspending")
	k.inState(k.Manager, f.name, typeFrontend, "suspended")
	k.OK(k.suspend(f), "suspending again")
	short, cancel := context.WithTimeout(k.Context(), 500*time.Millisecond)
	defer cancel()
	err := k.Content.Write(short, k.at(f), 1, "held")
	k.Require(err != nil, "a suspended frontend acknowledged a write")
	k.OK(k.resume(f), "resuming")
	k.runs(k.Manager, f.name, typeFrontend)
	k.write(f, 1, "held")
	k.reads(f, 1, "held")
}

func v2SuspendNVMf(k v2kit) {
	f := k.frontendFor(nvmf, k.engineFor(k.Manager, 0, nvmf, k.replica(k.Manager, 1)))
	k.Refused(k.suspend(f), codes.Unimplemented, nil, "suspending")
	k.Require(k.status(f).GetErrorMsg() != "", "error_msg is empty")
}

func v2SuspendNone(k v2kit) {
	e := k.engine(k.Manager, 0, k.replica(k.Manager, 1))
	f := spdk{name: k.volume + "-ef-0", typ: typeFrontend, on: k.Manager}
	_, err := k.create(k.Manager, k.frontendSpec(f.name, "", e))
	k.OK(err, "creating a frontend of no kind")
	k.Refused(k.suspend(f), codes.Unimplemented, nil, "suspending")
	k.Require(k.status(f).GetErrorMsg() != "", "error_msg is empty")
}

// elsewhere is a volume whose engine and replica are on the second node, with its frontend on the first.
func (k v2kit) elsewhere(kind string) (f, e spdk) {
	e = k.engineFor(k.Second, 0, kind, k.replica(k.Second, 1))
	return k.frontendFor(kind, e), e
}

func v2FrontendRestart(k v2kit) {
	f, e := k.elsewhere(k.FrontendV2)
	k.write(f, 1, "before")
	before := k.status(f)
	k.restart()
	k.runs(k.Manager, f.name, typeFrontend)
	after := k.status(f)
	k.Require(after.GetEndpoint() == before.GetEndpoint() && after.GetActivePath() == e.address,
		"endpoint %q and active path %q were %q and %q",
		after.GetEndpoint(), after.GetActivePath(), before.GetEndpoint(), before.GetActivePath())
	k.reads(f, 1, "before")
	k.write(f, 2, "after")
	k.reads(f, 2, "after")
}

func v2FrontendRestartNVMf(k v2kit) {
	f, _ := k.elsewhere(nvmf)
	k.Require(k.status(f).GetEndpoint() != "", "the endpoint is empty")
	before := k.status(f).GetEndpoint()
	k.restart()
	k.runs(k.Manager, f.name, typeFrontend)
	k.Require(k.status(f).GetEndpoint() == before, "the endpoint was %q and is %q", before, k.status(f).GetEndpoint())
}

func v2FrontendRestartLost(k v2kit) {
	f, _, r := k.served()
	k.write(f, 1, "before")
	k.restart()
	k.Eventually("the frontend is gone", func() (bool, string) {
		seen := list(k.T, k.Manager)[f.name]
		k.Require(seen.GetStatus().GetState() != running, "the frontend runs without its target")
		return seen == nil, seen.GetStatus().GetState()
	})
	k.disk(k.Manager)
	k.inState(k.Manager, r.name, typeReplica, stopped)
	f = k.frontend(k.engine(k.Manager, 1, k.attach(r)))
	k.reads(f, 1, "before")
}
