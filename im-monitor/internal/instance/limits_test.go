package instance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
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
