package instance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func noPlace(w *World) { w.Here, w.NoPlace = nil, "No instance manager serves node node-1." }

func podless(w *World) { unread(w); w.Here.PodMissing = true }

// A status that lost its address while it waits would detach every volume whose server is silent for a moment.
func TestAVerdictThatWaitsKeepsTheRestOfTheStatus(t *testing.T) {
	full := was(running)
	full.Image, full.Endpoint, full.UblkID, full.TargetIP, full.TargetPort, full.Size = "image:v0", "/dev/x", 7, oldTarget, 20001, 3<<30
	upgrading := func(w *World) { asFrontend(w); w.Node.Upgrading = true; absent(w) }
	for name, c := range map[string]struct {
		change  change
		reasons [2]string // for one that is to run, and one that is to stop
	}{
		"no list":                   {unread, [2]string{ReasonUnknown, ReasonUnknown}},
		"no list yet":               {unheard, [2]string{ReasonUnknown, ReasonUnknown}},
		"a list lacks it":           {func(*World) {}, [2]string{ReasonUnproven, ReasonUnproven}},
		"its disk is not loaded":    {notLoaded, [2]string{ReasonDiskNotLoaded, ReasonDiskNotLoaded}},
		"it is missing":             {absent, [2]string{ReasonMissing, ""}},
		"its pod is missing":        {podless, [2]string{ReasonMissing, ""}},
		"its manager is gone":       {func(w *World) { w.HereGone = true; noPlace(w) }, [2]string{ReasonMissing, ""}},
		"there is no manager":       {noPlace, [2]string{ReasonNoInstanceManager, ""}},
		"an upgrade lost it":        {upgrading, [2]string{ReasonFrontendLost, ""}},
		"it ends":                   {lists(stopping), [2]string{ReasonChanging, ReasonChanging}},
		"its node is out":           {func(w *World) { unread(w); down(w) }, [2]string{ReasonUnknown, ReasonNotCutOff}},
		"it is out without a list":  {func(w *World) { noPlace(w); down(w) }, [2]string{ReasonNoInstanceManager, ReasonNotCutOff}},
		"a frontend still leads to": {func(w *World) { v2(w); lists(running)(w); w.LedBy = "vol-ef-0" }, [2]string{"", ReasonLed}},
		"it failed":                 {func(w *World) { v2(w); lists(failed)(w) }, [2]string{"", ReasonCalling}},
	} {
		for i, spec := range []change{wanted, func(*World) {}} {
			if c.reasons[i] == "" {
				continue
			}
			v := Decide(world(spec, status(full), c.change))
			require.Equal(t, c.reasons[i], v.Reason, name)
			v.Status.State = full.State
			require.Equal(t, full, v.Status, name)
		}
	}
}

func TestAnObstacleOfAStartLeavesAStartInProgressAsItIs(t *testing.T) {
	begun := Status{State: starting, Starting: true, InstanceManager: im, Image: "image:v0", TargetIP: oldTarget}
	data := func(w *World) { v2(w); asReplica(w); w.Object.Replica.HasData = true }
	live := func(p Peer) change {
		return func(w *World) { w.Peers = Peers{Read: true, Same: []Peer{p}, Migrating: true} }
	}
	for name, c := range map[string]struct {
		change change
		reason string
	}{
		"deleted":              {func(w *World) { w.Object.Deleting = true }, ReasonDeleting},
		"no node":              {func(w *World) { w.Object.NodeID = "" }, ReasonNoNode},
		"the node is out":      {down, ReasonNodeOut},
		"it lives elsewhere":   {elsewhere("node-2", running), ReasonCalling},
		"no manager":           {noPlace, ReasonNoInstanceManager},
		"it cannot start":      {func(w *World) { w.Here.Running, w.Here.CannotStart = false, "why" }, ReasonManagerCannotStart},
		"no list":              {unread, ReasonUnknown},
		"it ends":              {lists(stopping), ReasonChanging},
		"an earlier run":       {func(w *World) { v2(w); lists(halted)(w) }, ReasonCalling},
		"just started":         {func(w *World) { v2(w); w.Here.Since = now }, ReasonRediscovering},
		"not loaded":           {func(w *World) { data(w); notLoaded(w) }, ReasonIncomplete},
		"data is missing":      {func(w *World) { data(w); absent(w) }, ReasonDataMissing},
		"data is not listed":   {data, ReasonUnproven},
		"another one is live":  {live(Peer{Name: "vol-e-1", State: running}), ReasonOtherLive},
		"a replica is not RW":  {func(w *World) { w.Object.Active = false; live(Peer{State: running})(w) }, ReasonReplicaNotReady},
		"one without object":   {func(w *World) { w.Peers = Peers{Read: true, Leftovers: []string{"x"}} }, ReasonUnclaimedLive},
		"it is incomplete":     {func(w *World) { w.Object.Size = 0 }, ReasonIncomplete},
		"nothing, it is begun": {func(*World) {}, ReasonCalling},
	} {
		v := Decide(world(wanted, status(begun), c.change))
		require.Equal(t, c.reason, v.Reason, name)
		if refused(v.Reason) {
			require.Equal(t, Problem{v.Reason, v.Message}, v.Status.Creation, name)
		}
		v.Status.Creation = Problem{}
		require.Equal(t, begun, v.Status, name)
	}
}

// The first obstacle is named: a person who removes it is shown the next one.
func TestTheObstaclesOfAStartAreNamedOneAfterTheOther(t *testing.T) {
	w := world(wanted, v2, asReplica, backed, elsewhere("node-2", running), func(w *World) {
		w.Object.Deleting, w.Object.NodeID, w.Object.Size, w.Node.Down, w.VolumeRead = true, "", 0, true, true
		w.Object.Replica.HasData, w.BackingImage, w.DiskName = true, BackingImage{}, ""
		w.Refusals, w.Refusal = refusalsToFail, "The server has no port left."
		noPlace(w)
	})
	here := &Place{InstanceManager: im, Node: "node-1", CannotStart: "ImagePullBackOff", Absent: true, Unloaded: []string{"a", "b"},
		Since: now}
	for _, step := range []struct {
		reason, message string
		then            func()
	}{
		{ReasonDeleting, "The object is being deleted.", func() { w.Object.Deleting = false }},
		{ReasonNoNode, "The object has no node.", func() { w.Object.NodeID = "node-1" }},
		{ReasonNodeOut, "Node node-1 is down or out of service.", func() { w.Node.Down = false }},
		{ReasonCalling, "im-2 is asked to delete it.", func() { w.Elsewhere = nil }},
		{ReasonNoInstanceManager, "No instance manager serves node node-1.", func() { w.Here = here }},
		{ReasonManagerCannotStart, "Instance manager im-1 of node node-1 does not run: ImagePullBackOff", func() { here.CannotStart = "" }},
		{ReasonUnknown, "The instances on im-1 are unknown.", func() { here.Running = true }},
		{ReasonUnknown, "The instances on im-1 are unknown.", func() { here.Known = true; here.Entry = &Entry{State: stopping} }},
		{ReasonChanging, "It is still ending.", func() { here.Entry = nil }},
		{ReasonRediscovering, "im-1 just started and may not list everything yet.", func() { here.Since = time.Time{}; w.DiskName = "disk-1" }},
		{ReasonIncomplete, "im-1 has not loaded disk a, b of node node-1, so it is unknown whether its data is there; see the conditions of " +
			"the disk in the Node's status.", func() { here.Unloaded = nil }},
		{ReasonDataMissing, "Disk disk-uuid of node node-1 has no data of replica vol-r-1, which was complete: an empty one in its place " +
			"would count as the volume's data. If an earlier state of etcd was restored, the data has another name now, see the orphans of " +
			"the volume. Else, if another replica of the volume is complete, delete this one, and it is rebuilt.",
			func() { here.Absent = false }},
		{ReasonUnproven, "im-1 does not list the data of this replica, which was complete; one list is no proof.",
			func() { w.Object.Replica.HasData = false }},
		{ReasonRefused, "The server has no port left.", func() { w.Refusals = refusalsToFail - 1 }},
		{ReasonIncomplete, "It has no size.", func() { w.Object.Size = 1; w.DiskName = "" }},
		{ReasonIncomplete, "Node node-1 has no disk with UUID disk-uuid that is loaded; see its status.diskStatus.",
			func() { w.DiskName = "disk-1" }},
		{ReasonVolumeMissing, "Volume vol does not exist, so it is not known whether it is encrypted and what size its replicas have.",
			func() { w.Volume = &Volume{} }},
		{ReasonNoBackingImage, "There is no BackingImage bi-1, which the volume starts from: restore that object. Without its file every block " +
			"that was never written would read as zeros.", func() { w.BackingImage.Found = true }},
		{ReasonWaitsForBackingImage, "The copy of BackingImage bi-1 on disk disk-uuid is not there, not ready: Longhorn's backing image " +
			"manager of node node-1 brings it there.", func() { w.BackingImage.State, w.BackingImage.Message = "failed", "No space." }},
		{ReasonWaitsForBackingImage, "The copy of BackingImage bi-1 on disk disk-uuid has failed: No space. See kubectl get lhbi bi-1.",
			func() { w.BackingImage.State, w.BackingImage.FirstCopy = "ready", "in-progress" }},
		{ReasonWaitsForBackingImage, "The first v2 copy of BackingImage bi-1 is in-progress, not ready.",
			func() { w.BackingImage.FirstCopy = "ready" }},
		{ReasonCalling, "im-1 is asked to create it.", func() {}},
	} {
		v := Decide(w)
		require.Equal(t, Problem{step.reason, step.message}, Problem{v.Reason, v.Message})
		step.then()
	}
}

func TestAV1ImageIsNamedWithWhatItLacks(t *testing.T) {
	for want, image := range map[string]EngineImage{
		"There is no EngineImage ei-1 of image image:v1, so it is not known which flags its processes understand: create it, or set the " +
			"image of the volume to a deployed one (kubectl get lhei).": {Name: "ei-1"},
		"EngineImage ei-1 of image image:v1 does not report its CLI API version (status.cliAPIVersion): the start waits until a pod " +
			"has read it; condition ready of the EngineImage shows what that waits for.": {Name: "ei-1", Found: true},
		"EngineImage ei-1 of image image:v1 has CLI API version 2 (oldest 1); im-monitor knows the flags of versions 3 to 12: use an image " +
			"with one of these.": {Name: "ei-1", Found: true, CLI: 2, CLIMin: 1},
		"EngineImage ei-1 is not deployed on node node-1 (status.nodeDeploymentMap): its binary may be missing there. The start " +
			"waits until the pod of DaemonSet engine-image-ei-1 on that node is ready; condition ready of the EngineImage shows why it is " +
			"not.": {Name: "ei-1", Found: true, CLI: 12},
	} {
		require.Equal(t, want, Decide(world(wanted, func(w *World) { w.EngineImage = image })).Message)
	}
}

func TestAMessageNamesTheInstanceManagerThatIsWaitedFor(t *testing.T) {
	lost := func(w *World) { asFrontend(w); w.Node.Upgrading = true; absent(w) }
	served := func(w *World) { w.Engines = map[string]EngineFacts{"vol-e-0": {Address: "10.0.0.9:20001"}} }
	runs := status(was(running))
	for want, w := range map[string]World{
		"The instance manager that ran it no longer exists.": world(wanted, runs, noPlace, func(w *World) { w.HereGone = true }),
		"No instance manager serves node node-1.":            world(wanted, runs, noPlace),
		"im-1 has no pod.":                      world(wanted, runs, podless),
		"im-1 no longer lists it.":              world(wanted, runs, absent),
		"The first list of im-1 is being read.": world(wanted, runs, unheard),
		"The instances on im-1 are unknown.":    world(wanted, runs, unread),
		"InstanceManager im-1 was deleted, and its pod has not ended: what runs there is unknown until it has.": world(wanted, runs, podOnly),
		"im-1 lists it as dancing.":                    world(wanted, runs, lists("dancing")),
		"im-1 does not list it; one list is no proof.": world(runs),
		"It is ending.":                                world(runs, lists(stopping)),
		"Frontend vol-ef-0 still leads to it.":         world(v2, runs, lists(running), func(w *World) { w.LedBy = "vol-ef-0" }),
		"Node node-1 is out; replica r-2 is not stopped yet.": world(runs, unread, down, func(w *World) {
			w.Peers = Peers{Read: true, Replicas: []Peer{{Name: "r-1", State: running}, {Name: "r-2", State: running, On: true}}}
		}),
		"Node node-1 is out, and every replica in service is stopped.": world(runs, unread, down,
			func(w *World) { w.Peers.Read = true }),
		"im-1 lost it, and it cannot be created again yet: engine vol-e-0 does not serve at 10.0.0.9:20001.": world(wanted, runs, lost),
		"im-1 lost it, and it cannot be created again yet: The object is being deleted.": world(wanted, runs, lost, served,
			func(w *World) { w.Object.Deleting = true }),
		"Replica vol-r-1 is not in mode RW of engine vol-e-1.": world(wanted, func(w *World) {
			w.Object.Active, w.Peers = false, Peers{Read: true, Migrating: true, Same: []Peer{{Name: "vol-e-1", State: running}}}
		}),
		"A server may still execute a deletion of the leader before this one.": world(wanted, func(w *World) { w.Held = now.Add(1) }),
		"im-2 still lists an earlier run of it, which engine x uses; that other instance ends first.": world(wanted, v2,
			status(was(running)), lists(running), returned(func(p *Place) { p.UsedBy = "engine x" })),
	} {
		require.Equal(t, want, Decide(w).Message)
	}
	for _, spec := range []change{wanted, func(*World) {}} {
		require.Equal(t, "im-1 has not loaded disk disk-1 of node node-1, so it is unknown whether its data is there; see the conditions of the "+
			"disk in the Node's status.", Decide(world(spec, runs, notLoaded)).Message)
	}
	require.Equal(t, "Its target is not known yet.", Decide(world(wanted, asFrontend, func(w *World) { w.Object.Target.IP = "" })).Message)
	ends := returned(func(p *Place) { p.UsedBy = "engine x"; p.Entry.State = stopping })
	require.Equal(t, ReasonDone, Decide(world(wanted, v2, runs, lists(running), ends)).Reason, "one that ends is waited for by no one")
	v := Decide(world(wanted, runs, lost, served))
	require.Equal(t, "Instance manager im-1 lost the frontend of volume vol while node node-1 was upgraded. It is created again; the device "+
		"that pods had is gone.", v.Call.Lost)
	require.Equal(t, OpCreate, Decide(world(wanted, func(w *World) { w.Held = now })).Call.Op, "it is over at its moment")
}

func TestAStateOfAListIsReportedInTheWordsOfTheObject(t *testing.T) {
	for _, first := range []bool{true, false} {
		start := map[bool]string{true: starting, false: unknown}[first]
		for state, want := range map[string]string{running: running, v1beta2.InstanceStateSuspended: v1beta2.InstanceStateSuspended,
			stopping: stopping, v1beta2.InstanceStateTerminating: stopping, failed: failed, halted: failed, starting: start,
			v1beta2.InstanceStatePending: start, unknown: unknown, "": unknown, "Running": unknown} {
			require.Equal(t, want, seen(state, first), "%s, first %t", state, first)
		}
	}
	require.Equal(t, running, Decide(world(wanted, status(was(failed)), lists(running))).Status.State, "a list is newer than an error")
}

func TestAStopConcludesNothingFromAnInstanceManagerThatIsNotThere(t *testing.T) {
	notCutOff := outcome{unknown, OpNone, "", ReasonNotCutOff}
	gone := func(w *World) { w.HereGone = true }
	require.Equal(t, notCutOff, outcomeOf(Decide(world(status(was(running)), down, noPlace))))
	require.Equal(t, notCutOff, outcomeOf(Decide(world(status(was(running)), down, noPlace, gone))))
	require.Equal(t, notCutOff, outcomeOf(Decide(world(status(was(running)), down, podless))))
	concluded := status(stopped(v1beta2.ReasonNodeDown))
	out := func(w *World) { w.Node.OutOfService = true }
	require.Equal(t, stopped(v1beta2.ReasonOutOfService), Decide(world(concluded, unread, out)).Status, "it is out for another reason now")
	require.Equal(t, stopped(v1beta2.ReasonNodeDown), Decide(world(concluded, down)).Status, "a list that lacks it is no news")
	marked := was(unknown)
	marked.NodeDown = v1beta2.ReasonNodeDown
	require.Equal(t, stopped(""), Decide(world(status(marked), podless)).Status, "it ended with its pod, which is no conclusion")
	both := Decide(world(status(was(running)), lists(running), elsewhere("node-1", running)))
	require.Equal(t, im, both.Call.InstanceManager, "the instance of the status ends first")
}

func TestEachReasonThatAPersonHasToRemoveIsAnObstacleOfItsCreation(t *testing.T) {
	for reason, want := range map[string]bool{ReasonIncomplete: true, ReasonVolumeMissing: true, ReasonDataMissing: true,
		ReasonImageUnknown: true, ReasonImageNotDeployed: true, ReasonRefused: true, ReasonManagerCannotStart: true, ReasonUnknown: false,
		ReasonNodeOut: false, ReasonCalling: false, ReasonWaitsForBackingImage: false, ReasonNoBackingImage: false, "": false} {
		require.Equal(t, want, refused(reason), reason)
	}
}

func TestStatusesAreEqualOnlyInAllOfTheirFields(t *testing.T) {
	full := was(running)
	require.True(t, full.Equal(was(running)))
	for name, change := range map[string]func(*Status){"state": func(s *Status) { s.State = failed }, "port": func(s *Status) { s.Port++ },
		"switch-over": func(s *Status) { s.Switchover.Accepted = true }, "problem": func(s *Status) { s.Switching.Message = "x" },
		"paths": func(s *Status) { s.Paths = []v1beta2.NvmeTCPPath{{}} }} {
		other := was(running)
		change(&other)
		require.False(t, full.Equal(other), name)
	}
	empty := was(running)
	empty.Paths = []v1beta2.NvmeTCPPath{}
	require.True(t, full.Equal(empty), "no paths are no other paths")
}

func TestOnlyTheSameCallIsARepetition(t *testing.T) {
	call := Call{Op: OpSwitchOver, InstanceManager: im, UUID: "u-1", Target: targetAt(oldTarget), Phase: phasePreparing}
	same := call
	same.Ahead, same.Accepted, same.CloseFirst = was(running), Switchover{Phase: phasePreparing}, true
	require.Equal(t, call.Identity(), same.Identity())
	for name, change := range map[string]func(*Call){
		"another call": func(c *Call) { c.Op = OpRevert }, "another instance manager": func(c *Call) { c.InstanceManager = "im-2" },
		"another instance": func(c *Call) { c.UUID = "u-2" }, "another target": func(c *Call) { c.Target = targetAt(newTarget) },
		"another phase": func(c *Call) { c.Phase = phaseSwitching },
	} {
		other := call
		change(&other)
		require.NotEqual(t, call.Identity(), other.Identity(), name)
	}
}

func TestOnlyAV2ReplicaThatIsToRunHasDataThatAListMayLack(t *testing.T) {
	full := func(w *World) { w.Object.Replica.HasData = true }
	require.True(t, world(wanted, v2, asReplica, full).OverData())
	require.False(t, world(v2, asReplica, full).OverData(), "it is to stop")
	require.False(t, world(wanted, asReplica, full).OverData(), "a v1 process reads its own directory")
	require.False(t, world(wanted, v2, full).OverData(), "an engine has no data")
	require.False(t, world(wanted, v2, asReplica).OverData(), "there is none yet")
	w := world(status(was(running)), v2, asReplica, lists(running), func(w *World) { w.Here.Entry.DiskUUID = "disk-uuid" })
	require.Equal(t, "disk-uuid", Decide(w).Call.DiskUUID, "a v2 server finds a replica by its disk")
}

func TestAV2CreationCarriesWhatItsObjectHas(t *testing.T) {
	salvage := func(w *World) { w.Object.SalvageRequested = true }
	ublk := func(w *World) { w.Object.Frontend, w.Object.UblkQueueDepth, w.Object.UblkNumberOfQueue = "ublk", 64, 2 }
	spdk := func(changes ...change) SPDK {
		return *Decide(world(append([]change{wanted, v2}, changes...)...)).Call.Create.SPDK
	}
	require.Equal(t, SPDK{DiskName: "disk-1", DiskUUID: "disk-uuid", BackingImage: "bi-1", Size: 1 << 30, SalvageRequested: true,
		SnapshotMaxCount: 250}, spdk(asReplica, backed, salvage))
	require.Equal(t, SPDK{Replicas: map[string]string{"vol-r-1": "10.0.0.9:10000"}, Size: 1 << 30, Frontend: "ublk", SalvageRequested: true,
		UblkQueueDepth: 64, UblkNumberOfQueue: 2, SnapshotMaxCount: 250}, spdk(salvage, ublk))
	require.Equal(t, SPDK{Size: 1 << 30, Frontend: "ublk", UblkQueueDepth: 64, UblkNumberOfQueue: 2}, spdk(asFrontend, salvage, ublk))
	for _, v := range []Volume{{}, {LUKSLabel: true}} {
		require.EqualValues(t, 1<<30, spdk(volume(v)).Size, "only an encrypted volume has a header")
		require.Contains(t, args(t, volume(v)), "--size 1073741824 ")
	}
	listed := func(w *World) { lists(running)(w); w.Here.Entry.UblkID, w.Here.Image = 9, "im:v2" }
	s := Decide(world(wanted, v2, status(Status{State: starting, Starting: true}), listed)).Status
	require.EqualValues(t, 9, s.UblkID)
	require.Equal(t, "im:v2", s.Image, "from the first list on")
}
