package instance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const (
	running  = v1beta2.InstanceStateRunning
	halted   = v1beta2.InstanceStateStopped
	starting = v1beta2.InstanceStateStarting
	stopping = v1beta2.InstanceStateStopping
	failed   = v1beta2.InstanceStateError
	unknown  = v1beta2.InstanceStateUnknown
	im       = "im-1"
)

// change is one difference from a plain World.
type change func(*World)

// world is a v1 engine on a node in service whose instance manager lists nothing, unless changed.
func world(changes ...change) World {
	w := World{
		Now: now, Node: Node{Name: "node-1"},
		Object: Object{Kind: v1beta2.InstanceTypeEngine, Name: "vol-e-0", Volume: "vol", NodeID: "node-1", Image: "image:v1",
			DataEngine: "v1", Active: true,
			Size: 1 << 30, Frontend: "blockdev", Engine: EngineSpec{Replicas: map[string]string{"vol-r-1": "10.0.0.9:10000"}}},
		EngineImage: EngineImage{Name: "ei-1", Found: true, CLI: 12, Deployed: true},
		Here:        &Place{InstanceManager: im, Node: "node-1", IP: "10.0.0.1", Running: true, Known: true},
		Settings: Settings{EnginePrefix: "/engine-binaries/", HostPrefix: "/host", ControlPath: "/var/lib/longhorn",
			Rediscovery: 5 * time.Second, ReplicaTimeout: 8, FileSyncTimeout: 30,
			RebuildConcurrency: 1},
	}
	for _, c := range changes {
		c(&w)
	}
	return w
}

func wanted(w *World) { w.Object.Running = true }

func status(s Status) change { return func(w *World) { w.Status = s } }

func lists(state string) change {
	return func(w *World) { w.Here.Entry = &Entry{Type: w.Object.Kind, State: state, UUID: "u-1", Port: 10010} }
}

func without(w *World) { w.Here.Entry.UUID = "" }

func unread(w *World) { w.Here.Known, w.Here.Entry = false, nil }

func unheard(w *World) { unread(w); w.Here.Unheard = true }

func absent(w *World) { w.Here.Absent = true }

func notLoaded(w *World) { w.Here.Unloaded = []string{"disk-1"} }

func down(w *World) { w.Node.Down = true }

func v2(w *World) { w.Object.DataEngine = "v2" }

func asReplica(w *World) {
	w.Object.Kind, w.Object.Name, w.DiskName = v1beta2.InstanceTypeReplica, "vol-r-1", "disk-1"
	w.Object.Replica = ReplicaSpec{DiskID: "disk-uuid", DiskPath: "/var/lib/longhorn", Directory: "vol-abc"}
}

func asFrontend(w *World) {
	w.Object.Kind, w.Object.Name, w.Object.DataEngine = v1beta2.InstanceTypeEngineFrontend, "vol-ef-0", "v2"
	w.Object.Target = TargetSpec{Engine: "vol-e-0", IP: "10.0.0.9", Port: 20001}
}

func nowhere(w *World) { w.Object.NodeID, w.Node, w.Here = "", Node{}, nil }

// was is the status of an instance that runs here.
func was(state string) Status {
	return Status{State: state, Started: true, InstanceManager: im, IP: "10.0.0.1", StorageIP: "10.0.0.1", Port: 10010, UUID: "u-1"}
}

func elsewhere(node, state string) change {
	return func(w *World) {
		w.Elsewhere = append(w.Elsewhere, Place{InstanceManager: "im-2", Node: node, Known: true, Entry: &Entry{State: state, UUID: "u-2"}})
	}
}

// outcome is what a row compares: the state to be reported, the call, and why.
type outcome struct {
	state  string
	op     Op
	at     string
	reason string
}

func outcomeOf(v Verdict) outcome {
	return outcome{v.Status.State, v.Call.Op, v.Call.InstanceManager, v.Reason}
}

func TestAnInstanceIsStartedOnceNoObstacleIsLeft(t *testing.T) {
	begun := Status{State: starting, Starting: true, InstanceManager: im}
	for _, c := range []struct {
		name  string
		world World
		want  outcome
	}{
		{"a stopped engine is created", world(wanted, status(stopped(""))), outcome{halted, OpCreate, im, ReasonCalling}},
		{"one without any status, too", world(wanted), outcome{"", OpCreate, im, ReasonCalling}},
		{"a creation without a visible effect is sent again", world(wanted, status(begun)),
			outcome{starting, OpCreate, im, ReasonCalling}},
		{"listed starting is starting", world(wanted, status(begun), lists(starting)),
			outcome{starting, OpNone, "", ReasonChanging}},
		{"listed running is running", world(wanted, status(begun), lists(running)), outcome{running, OpNone, "", ReasonDone}},
		{"an instance that failed while starting is in error",
			world(wanted, status(begun), lists(failed)), outcome{failed, OpNone, "", ReasonFailed}},
		{"an instance that the status never began ends first", world(wanted, status(stopped("")), lists(running)),
			outcome{halted, OpDelete, im, ReasonCalling}},
		{"an instance of its name on another node ends first", world(wanted, status(stopped("")), elsewhere("node-2", running)),
			outcome{halted, OpDelete, "im-2", ReasonCalling}},
		{"an instance that is ending is awaited",
			world(wanted, status(stopped("")), lists(stopping)), outcome{halted, OpNone, "", ReasonChanging}},
		{"a v1 process that is listed as stopped is ending", world(wanted, status(stopped("")), lists(halted)),
			outcome{halted, OpNone, "", ReasonChanging}},
		{"a v2 replica's data is served again", world(wanted, v2, asReplica, status(stopped("")), lists(halted)),
			outcome{halted, OpCreate, im, ReasonCalling}},
		{"nothing is started for an object that is being deleted",
			world(wanted, status(stopped("")), func(w *World) { w.Object.Deleting = true }),
			outcome{halted, OpNone, "", ReasonDeleting}},
		{"the last copy is started though it is being deleted",
			world(wanted, v2, asReplica, status(stopped("")), lists(halted), func(w *World) { w.Object.Deleting, w.Object.Kept = true, true }),
			outcome{halted, OpCreate, im, ReasonCalling}},
		{"nothing is started without a node", world(wanted, nowhere), outcome{halted, OpNone, "", ReasonNoNode}},
		{"nothing is started on a node that is down", world(wanted, down), outcome{halted, OpNone, "", ReasonNodeOut}},
		{"nothing is started where the inventory is unknown", world(wanted, status(stopped("")), unread),
			outcome{halted, OpNone, "", ReasonUnknown}},
		{"a start in progress is not reported stopped because its inventory is unknown", world(wanted, status(begun), unread),
			outcome{starting, OpNone, "", ReasonUnknown}},
		{"nothing is started while the pod of the instance manager cannot start",
			world(wanted, func(w *World) { w.Here.Running, w.Here.CannotStart = false, "why" }),
			outcome{halted, OpNone, "", ReasonManagerCannotStart}},
		{"nothing is started where no instance manager serves", world(wanted, func(w *World) { w.Here = nil }),
			outcome{halted, OpNone, "", ReasonNoInstanceManager}},
		{"an engine needs replicas", world(wanted, func(w *World) { w.Object.Engine.Replicas = nil }),
			outcome{halted, OpNone, "", ReasonIncomplete}},
		{"a frontend needs a target", world(wanted, asFrontend, func(w *World) { w.Object.Target.Port = 0 }),
			outcome{halted, OpNone, "", ReasonIncomplete}},
		{"a v2 replica needs a disk that its node has", world(wanted, v2, asReplica, func(w *World) { w.DiskName = "" }),
			outcome{halted, OpNone, "", ReasonIncomplete}},
		{"a v2 server that just started may not list everything",
			world(wanted, v2, asReplica, func(w *World) { w.Here.Since = now.Add(-time.Second) }),
			outcome{halted, OpNone, "", ReasonRediscovering}},
		{"a v2 replica that was complete is not created empty",
			world(wanted, v2, asReplica, absent, func(w *World) { w.Object.Replica.HasData = true }),
			outcome{halted, OpNone, "", ReasonDataMissing}},
		{"one that is to be rebuilt is", world(wanted, v2, asReplica), outcome{"", OpCreate, im, ReasonCalling}},
		{"and one that was complete is served over its data",
			world(wanted, v2, asReplica, status(stopped("")), lists(halted), func(w *World) { w.Object.Replica.HasData = true }),
			outcome{halted, OpCreate, im, ReasonCalling}},
		{"nothing starts at a pod that a deleted InstanceManager left", world(wanted, status(begun), podOnly),
			outcome{starting, OpNone, "", ReasonUnknown}},
		{"an instance whose creation the server refuses repeatedly has failed",
			world(wanted, status(begun), func(w *World) { w.Refusals, w.Refusal = 3, "no" }),
			outcome{failed, OpNone, "", ReasonRefused}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, outcomeOf(Decide(c.world))) })
	}
}

// podOnly is the pod that a deleted InstanceManager left.
func podOnly(w *World) {
	w.Here, w.HereGone = &Place{InstanceManager: im, Node: "node-1", PodOnly: true}, false
}

func TestAListedInstanceIsSupervisedAndNeverStartedAgain(t *testing.T) {
	gone := func(w *World) { w.HereGone, w.Here = true, nil }
	upgrading := func(w *World) { w.Node.Upgrading = true }
	podless := func(w *World) { unread(w); w.Here.PodMissing = true }
	for _, c := range []struct {
		name  string
		world World
		want  outcome
	}{
		{"listed running is running", world(wanted, status(was(running)), lists(running)), outcome{running, OpNone, "", ReasonDone}},
		{"listed suspended is suspended", world(wanted, status(was(running)), lists("suspended")),
			outcome{"suspended", OpNone, "", ReasonDone}},
		{"listed in error is an error", world(wanted, status(was(running)), lists(failed)), outcome{failed, OpNone, "", ReasonFailed}},
		{"a process that ended without a request has failed", world(wanted, status(was(running)), lists(halted)),
			outcome{failed, OpNone, "", ReasonFailed}},
		{"a list that lacks it is no proof", world(wanted, status(was(running))), outcome{running, OpNone, "", ReasonUnproven}},
		{"proven absent is an error", world(wanted, status(was(running)), absent), outcome{failed, OpNone, "", ReasonMissing}},
		{"an unknown inventory makes it unknown, not stopped", world(wanted, status(was(running)), unread),
			outcome{unknown, OpNone, "", ReasonUnknown}},
		{"so does a node that is down", world(wanted, status(was(running)), unread, down), outcome{unknown, OpNone, "", ReasonUnknown}},
		{"the state of an earlier process stays until the server was called", world(wanted, status(was(running)), unheard),
			outcome{running, OpNone, "", ReasonUnknown}},
		{"a node that is down is reported before that", world(wanted, status(was(running)), unheard, down),
			outcome{unknown, OpNone, "", ReasonUnknown}},
		{"an instance that answers on a node that is down is reported as listed", world(wanted, status(was(running)), lists(running), down),
			outcome{running, OpNone, "", ReasonDone}},
		{"an error stays one until it was stopped", world(wanted, status(was(failed)), unread), outcome{failed, OpNone, "", ReasonFailed}},
		{"a list of a server that has not loaded the disk proves nothing", world(wanted, asReplica, v2, status(was(running)), notLoaded),
			outcome{unknown, OpNone, "", ReasonDiskNotLoaded}},
		{"an error is not started again", world(wanted, status(was(failed)), absent), outcome{failed, OpNone, "", ReasonFailed}},
		{"a pod that is gone took its engine with it", world(wanted, status(was(running)), podless),
			outcome{failed, OpNone, "", ReasonMissing}},
		{"an instance manager that is gone, too", world(wanted, status(was(running)), gone), outcome{failed, OpNone, "", ReasonMissing}},
		{"frontends outlive the pod", world(wanted, asFrontend, status(was(running)), podless),
			outcome{unknown, OpNone, "", ReasonUnknown}},
		{"a frontend that is pending after it ran is being recovered", world(wanted, asFrontend, status(was(running)), lists("pending")),
			outcome{unknown, OpNone, "", ReasonChanging}},
		{"while its node is upgraded a missing frontend is unknown", world(wanted, asFrontend, status(was(running)), absent, upgrading),
			outcome{unknown, OpNone, "", ReasonFrontendLost}},
		{"else it is an error", world(wanted, asFrontend, status(was(running)), absent), outcome{failed, OpNone, "", ReasonMissing}},
		{"an instance that was deleted on request is stopped, although it is requested again",
			world(wanted, status(was(running)), absent, func(w *World) { w.Here.Ended = true }), outcome{halted, OpNone, "", ReasonDone}},
		{"package orphan handles a duplicate elsewhere", world(wanted, status(was(running)), lists(running), elsewhere("node-2", running)),
			outcome{running, OpNone, "", ReasonDone}},
		{"an unknown state is unknown", world(wanted, status(was(running)), lists("dancing")),
			outcome{unknown, OpNone, "", ReasonChanging}},
		{"a frontend outlives the instance manager that is gone", world(wanted, asFrontend, status(was(running)), gone),
			outcome{unknown, OpNone, "", ReasonNoInstanceManager}},
		{"a pod that is missing on a node that is down proves nothing", world(wanted, status(was(running)), podless, down),
			outcome{unknown, OpNone, "", ReasonUnknown}},
		{"nor does it where the newest list is known", world(wanted, status(was(running)), func(w *World) { w.Here.PodMissing = true }),
			outcome{running, OpNone, "", ReasonUnproven}},
		{"an upgrade loses frontends only", world(wanted, v2, status(was(running)), absent, upgrading),
			outcome{failed, OpNone, "", ReasonMissing}},
		{"an instance manager that was deleted may run it until its pod ends", world(wanted, status(was(running)), podOnly),
			outcome{unknown, OpNone, "", ReasonUnknown}},
		{"also on a node that is down", world(wanted, status(was(running)), podOnly, down), outcome{unknown, OpNone, "", ReasonUnknown}},
		{"an instance manager that was replaced took its engine with it",
			world(wanted, status(was(running)), func(w *World) { w.HereGone, w.Here.InstanceManager = true, "im-9" }),
			outcome{failed, OpNone, "", ReasonMissing}},
		{"an entry of a list that is no longer known does not count",
			world(wanted, status(was(running)), lists(running), func(w *World) { w.Here.Known = false }),
			outcome{unknown, OpNone, "", ReasonUnknown}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, outcomeOf(Decide(c.world))) })
	}
}

func TestStoppedIsReportedOnEvidenceOnly(t *testing.T) {
	peers := func(list ...Peer) change { return func(w *World) { w.Peers = Peers{Read: true, Replicas: list} } }
	gone := func(w *World) { w.HereGone, w.Here = true, nil }
	for _, c := range []struct {
		name  string
		world World
		want  outcome
	}{
		{"a running instance is deleted, and stays running until a list shows otherwise", world(status(was(running)), lists(running)),
			outcome{running, OpDelete, im, ReasonCalling}},
		{"a failed instance is deleted", world(status(was(failed)), lists(failed)), outcome{failed, OpDelete, im, ReasonCalling}},
		{"a starting instance is deleted", world(status(Status{State: starting, Starting: true, InstanceManager: im}), lists(starting)),
			outcome{starting, OpDelete, im, ReasonCalling}},
		{"an ending instance is stopping", world(status(was(running)), lists(stopping)), outcome{stopping, OpNone, "", ReasonChanging}},
		{"a v1 process that is listed as stopped has stopped", world(status(was(running)), lists(halted)),
			outcome{halted, OpNone, "", ReasonDone}},
		{"a v2 replica that is listed as stopped has stopped", world(v2, asReplica, status(was(running)), lists(halted)),
			outcome{halted, OpNone, "", ReasonDone}},
		{"a v2 engine is stopped only when it is absent", world(v2, status(was(running)), lists(halted)),
			outcome{running, OpDelete, im, ReasonCalling}},
		{"a list that lacks it is no proof", world(status(was(running))), outcome{running, OpNone, "", ReasonUnproven}},
		{"nor is one of a server that has not loaded the disk", world(asReplica, v2, status(was(running)), notLoaded),
			outcome{running, OpNone, "", ReasonDiskNotLoaded}},
		{"a detached replica stays stopped although its disk is not loaded", world(asReplica, v2, status(Status{State: halted}), notLoaded),
			outcome{halted, OpNone, "", ReasonDone}},
		{"proven absent is stopped", world(status(was(running)), absent), outcome{halted, OpNone, "", ReasonDone}},
		{"an unknown inventory is unknown", world(status(was(running)), unread), outcome{unknown, OpNone, "", ReasonUnknown}},
		{"but not before the server was called", world(status(was(running)), unheard), outcome{running, OpNone, "", ReasonUnknown}},
		{"an instance that was stopped stays stopped", world(status(stopped("")), unread), outcome{halted, OpNone, "", ReasonDone}},
		{"an instance that never had a node is stopped", world(nowhere), outcome{halted, OpNone, "", ReasonDone}},
		{"an instance that never began is stopped once a list lacks it", world(), outcome{halted, OpNone, "", ReasonDone}},
		{"an instance that never began has no state where the inventory is unknown", world(unread), outcome{"", OpNone, "", ReasonUnknown}},
		{"an instance manager that is gone runs nothing", world(status(was(running)), gone), outcome{halted, OpNone, "", ReasonDone}},
		{"a stopped object whose instance runs is stopping, and the instance ends (O6)", world(status(stopped("")), lists(running)),
			outcome{stopping, OpDelete, im, ReasonCalling}},
		{"so is one on another instance manager of the node", world(status(stopped("")), elsewhere("node-1", running)),
			outcome{stopping, OpDelete, "im-2", ReasonCalling}},
		{"package orphan handles one on another node", world(status(stopped("")), elsewhere("node-2", running)),
			outcome{halted, OpNone, "", ReasonDone}},
		{"on a node that is down nothing is concluded while a replica in service runs",
			world(status(was(running)), unread, down, peers(Peer{Name: "r-2", State: running, On: true})),
			outcome{unknown, OpNone, "", ReasonNotCutOff}},
		{"nor while one in service must run", world(status(was(running)), unread, down,
			peers(Peer{Name: "r-2", State: halted, Wanted: true, On: true})), outcome{unknown, OpNone, "", ReasonNotCutOff}},
		{"nor while one in service may be starting",
			world(status(was(running)), unread, down, peers(Peer{Name: "r-2", State: halted, Begun: true, On: true})),
			outcome{unknown, OpNone, "", ReasonNotCutOff}},
		{"nor before the peers were read", world(status(was(running)), unread, down), outcome{unknown, OpNone, "", ReasonNotCutOff}},
		{"once every replica in service is stopped, the instance is fenced",
			world(status(was(running)), unread, down, peers(Peer{Name: "r-1", State: running}, Peer{Name: "r-2", State: halted, On: true})),
			outcome{halted, OpNone, "", ReasonDone}},
		{"without a replica in service there is nothing to fence from",
			world(status(was(running)), unread, down, peers(Peer{Name: "r-1", State: running})), outcome{halted, OpNone, "", ReasonDone}},
		{"an instance that answers on a node that is down is stopped as usual", world(status(was(running)), lists(running), down),
			outcome{running, OpDelete, im, ReasonCalling}},
		{"a v2 engine that a frontend still leads to keeps running",
			world(v2, status(was(running)), lists(running), func(w *World) { w.LedBy = "vol-ef-0" }),
			outcome{running, OpNone, "", ReasonLed}},
		{"unless it has failed, so that it has no I/O",
			world(v2, status(was(failed)), lists(failed), func(w *World) { w.LedBy = "vol-ef-0" }),
			outcome{failed, OpDelete, im, ReasonCalling}},
		{"unless it is fenced already, also if its server hangs",
			world(status(was(running)), lists(running), down, peers(Peer{Name: "r-2", State: halted, On: true})),
			outcome{halted, OpNone, "", ReasonDone}},
		{"and then it is not called until the node is back", world(status(stopped(v1beta2.ReasonNodeDown)), lists(running), down),
			outcome{halted, OpNone, "", ReasonDone}},
		{"a listed instance is not fenced by a status that never was concluded", world(status(stopped("")), lists(running), down),
			outcome{stopping, OpDelete, im, ReasonCalling}},
		{"nor by one that a start changed since",
			world(status(Status{State: halted, NodeDown: v1beta2.ReasonNodeDown, InstanceManager: im}), unread, down),
			outcome{unknown, OpNone, "", ReasonNotCutOff}},
		{"an instance that never began keeps its state on a node that is down", world(unread, down),
			outcome{"", OpNone, "", ReasonNotCutOff}},
		{"proven absent is stopped also on a node that is down", world(status(was(running)), absent, down),
			outcome{halted, OpNone, "", ReasonDone}},
		{"a replica that was concluded stopped, and whose node is back, may run",
			world(status(was(running)), unread, down, peers(Peer{Name: "r-2", State: halted, NodeDown: true, On: true})),
			outcome{unknown, OpNone, "", ReasonNotCutOff}},
		{"a replica that never began does not", world(status(was(running)), unread, down, peers(Peer{Name: "r-2", On: true})),
			outcome{halted, OpNone, "", ReasonDone}},
		{"an instance manager without a pod runs no engine",
			world(status(was(running)), unread, func(w *World) { w.Here.PodMissing = true }), outcome{halted, OpNone, "", ReasonDone}},
		{"a frontend it may", world(asFrontend, status(was(running)), unread, func(w *World) { w.Here.PodMissing = true }),
			outcome{unknown, OpNone, "", ReasonUnknown}},
		{"a pod that is missing is no proof beside a list", world(status(was(running)), func(w *World) { w.Here.PodMissing = true }),
			outcome{running, OpNone, "", ReasonUnproven}},
		{"an instance manager that was replaced, and whose pod ended, runs nothing",
			world(status(was(running)), func(w *World) { w.HereGone = true }), outcome{halted, OpNone, "", ReasonDone}},
		{"one that was deleted may run it until its pod ends", world(status(was(running)), podOnly),
			outcome{unknown, OpNone, "", ReasonUnknown}},
		{"unless its node is out, and no replica in service runs", world(status(was(running)), podOnly, down, peers()),
			outcome{halted, OpNone, "", ReasonDone}},
		{"an instance without a node is stopped although no list is known", world(unread, func(w *World) { w.Object.NodeID = "" }),
			outcome{halted, OpNone, "", ReasonDone}},
		{"an instance that never began and has no instance manager is stopped also on a node that is down",
			world(down, func(w *World) { w.Here = nil }), outcome{halted, OpNone, "", ReasonDone}},
		{"an instance without a status that is listed is stopping", world(lists(running)), outcome{stopping, OpDelete, im, ReasonCalling}},
		{"an ending instance that the status never began stays stopped", world(status(stopped("")), lists(stopping)),
			outcome{halted, OpNone, "", ReasonChanging}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, outcomeOf(Decide(c.world))) })
	}
}

func TestAConclusionIsMarkedUntilTheNextList(t *testing.T) {
	cutOff := func(w *World) { w.Peers = Peers{Read: true} }
	require.Equal(t, stopped(v1beta2.ReasonNodeDown), Decide(world(status(was(running)), unread, down, cutOff)).Status)
	out := func(w *World) { w.Node.OutOfService = true }
	require.Equal(t, stopped(v1beta2.ReasonOutOfService), Decide(world(status(was(running)), unread, out, cutOff)).Status)
	concluded := status(stopped(v1beta2.ReasonNodeDown))
	require.Equal(t, stopped(v1beta2.ReasonNodeDown), Decide(world(concluded, unread, down)).Status)
	require.Equal(t, stopped(v1beta2.ReasonNodeDown), Decide(world(concluded, unread)).Status, "the node is back, but "+
		"its list was not read")
	require.Equal(t, stopped(""), Decide(world(concluded)).Status, "the list lacks it")
	back := Decide(world(concluded, lists(running)))
	require.Equal(t, Status{State: stopping, InstanceManager: im}, back.Status, "the old engine still exists")
	require.Equal(t, OpDelete, back.Call.Op)
	require.Equal(t, stopped(""), Decide(world(status(stopped("")), down)).Status, "a listed stop is not marked")
	require.Equal(t, stopped(""), Decide(world(concluded, func(w *World) { w.Here = nil })).Status, "no instance manager is left to list it")
	marked := was(unknown)
	marked.NodeDown = v1beta2.ReasonNodeDown
	require.Equal(t, stopped(""), Decide(world(status(marked), absent, down)).Status, "it is proven absent, not concluded")
	require.Empty(t, Decide(world(wanted, status(marked), lists(running))).Status.NodeDown, "it is listed")
	require.Empty(t, Decide(world(status(marked), lists(running))).Status.NodeDown, "it is listed, and ends")
}

func TestADeletionIsMarkedWhereItsNodeIsOut(t *testing.T) {
	require.True(t, Decide(world(status(was(running)), lists(running), down)).Call.Out)
	require.False(t, Decide(world(status(was(running)), lists(running))).Call.Out)
}

func TestAListThatMayProveAnAbsenceIsRequestedWhereOneLacksTheInstance(t *testing.T) {
	for _, spec := range []change{wanted, func(*World) {}} {
		require.True(t, Decide(world(spec, status(was(running)))).ExpectAbsence)
		require.True(t, Decide(world(spec, asReplica, v2, status(was(running)), notLoaded)).ExpectAbsence)
		require.False(t, Decide(world(spec, status(was(running)), absent)).ExpectAbsence, "it is proven")
		require.False(t, Decide(world(spec, status(was(running)), unread)).ExpectAbsence, "no list lacks it")
	}
}

func TestAStartedInstanceStaysStartedInEveryState(t *testing.T) {
	for _, state := range []string{running, v1beta2.InstanceStateSuspended, failed} {
		for name, c := range map[string]change{"unknown": unread, "absent": absent, "unlisted": func(*World) {}, "ends": lists(stopping)} {
			require.True(t, Decide(world(wanted, status(Status{State: state, InstanceManager: im}), c)).Status.Started, "%s, %s", state, name)
		}
	}
	begun := Status{State: starting, Starting: true, NodeDown: v1beta2.ReasonNodeDown}
	for name, c := range map[string]change{"listed in error": lists(failed), "refused": func(w *World) { w.Refusals = 3 }} {
		s := Decide(world(wanted, status(begun), c)).Status
		require.Equal(t, Status{State: failed, Started: true, InstanceManager: im, Creation: s.Creation}, s, name)
	}
}

func TestADeletionKeepsDataAndCarriesTheUUID(t *testing.T) {
	for _, c := range []struct {
		name  string
		world World
		want  Call
	}{
		{"a v1 engine is polled first", world(status(was(running)), lists(running)),
			Call{Op: OpDelete, InstanceManager: im, UUID: "u-1", Poll: true}},
		{"a v1 engine that failed is not", world(status(was(failed)), lists(failed)), Call{Op: OpDelete, InstanceManager: im, UUID: "u-1"}},
		{"a v2 engine needs clean-up to go", world(v2, status(was(running)), lists(running)),
			Call{Op: OpDelete, InstanceManager: im, UUID: "u-1", Cleanup: true, Poll: true}},
		{"a v2 engine of a server without UUIDs is deleted by name", world(v2, status(was(running)), lists(running), without),
			Call{Op: OpDelete, InstanceManager: im, ByName: true, Cleanup: true, Poll: true}},
		{"a v2 replica keeps its data", world(v2, asReplica, status(was(running)), lists(running)),
			Call{Op: OpDelete, InstanceManager: im, UUID: "u-1"}},
		{"a frontend has no UUID", world(asFrontend, status(was(running)), lists(running), without),
			Call{Op: OpDelete, InstanceManager: im, ByName: true}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Decide(c.world).Call) })
	}
}

func TestNoCallIsMadeForANameThatAServerMayStillDelete(t *testing.T) {
	held := func(w *World) { w.Held = now.Add(time.Minute) }
	for _, w := range []World{world(wanted, held), world(status(was(running)), lists(running), held),
		world(status(was(running)), absent, held)} {
		v := Decide(w)
		require.Equal(t, w.Status, v.Status)
		require.Equal(t, Call{}, v.Call)
		require.Equal(t, w.Held, v.At)
	}
}

func TestARepeatedCallWaitsForItsRetryAndAnotherOneDoesNot(t *testing.T) {
	w := world(wanted, status(stopped("")))
	first := Decide(w)
	w.Tried, w.NotBefore = first.Call.Identity(), now.Add(time.Second)
	again := Decide(w)
	require.Equal(t, OpNone, again.Call.Op)
	require.Equal(t, ReasonBackoff, again.Reason)
	require.Equal(t, w.NotBefore, again.At)
	w.Object.Running, w.Here.Entry = false, &Entry{State: running, UUID: "u-9"}
	require.Equal(t, OpDelete, Decide(w).Call.Op)
	due := world(wanted, status(stopped("")))
	due.Tried, due.NotBefore = first.Call.Identity(), now
	require.Equal(t, first, Decide(due), "it is due")
}
