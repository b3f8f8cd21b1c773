package instance

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// args are the arguments of what is created, as one line.
func args(t *testing.T, changes ...change) string {
	t.Helper()
	v := Decide(world(append([]change{wanted, status(stopped(""))}, changes...)...))
	require.Equal(t, OpCreate, v.Call.Op, "%s: %s", v.Reason, v.Message)
	return strings.Join(v.Call.Create.Args, " ")
}

func cli(version int) change { return func(w *World) { w.EngineImage.CLI = version } }

func volume(v Volume) change { return func(w *World) { w.VolumeRead, w.Volume = true, &v } }

func backed(w *World) {
	w.Object.Replica.BackingImage = "bi-1"
	w.BackingImage = BackingImage{Found: true, UUID: "eeee4444", Wanted: true, State: "ready", FirstCopy: "ready"}
}

// A flag that is not known ends a replica at once, and has no effect on an engine. [A3]
func TestAProcessGetsTheFlagsOfItsImagesCLIAPIVersion(t *testing.T) {
	everything := func(w *World) {
		w.VolumeRead, w.Volume = true, &Volume{}
		w.Object.RevisionCounterDisabled, w.Object.SalvageRequested = true, w.engine()
		w.Object.Engine.UnmapMarkRemoved, w.Object.Replica.UnmapMarkRemoved = true, true
	}
	const directory = "replica /host/var/lib/longhorn/replicas/vol-abc --size 1073741824 --disableRevCounter"
	for _, c := range []struct {
		versions        []int
		replica, engine string
	}{
		{[]int{3, 4, 5}, directory + " --sync-agent-port-count 7",
			"controller vol --frontend tgt-blockdev --disableRevCounter --salvageRequested --replica tcp://10.0.0.9:10000"},
		{[]int{6}, directory + " --sync-agent-port-count 7",
			"controller vol --frontend tgt-blockdev --disableRevCounter --salvageRequested --size 1073741824 --current-size 0 --replica " +
				"tcp://10.0.0.9:10000"},
		{[]int{7, 8}, directory + " --volume-name vol --unmap-mark-disk-chain-removed --sync-agent-port-count 7",
			"controller vol --frontend tgt-blockdev --disableRevCounter --salvageRequested --size 1073741824 --current-size 0 " +
				"--engine-replica-timeout 8 --file-sync-http-client-timeout 30 " +
				"--unmap-mark-snap-chain-removed --replica tcp://10.0.0.9:10000"},
		{[]int{9}, "--volume-name vol " + directory +
			" --unmap-mark-disk-chain-removed --replica-instance-name vol-r-1 --sync-agent-port-count 7",
			"--engine-instance-name vol-e-0 controller vol --frontend tgt-blockdev --disableRevCounter --salvageRequested --size " +
				"1073741824 --current-size 0 --engine-replica-timeout 8 --file-sync-http-client-timeout 30 " +
				"--unmap-mark-snap-chain-removed --replica tcp://10.0.0.9:10000"},
		{[]int{10}, "--volume-name vol " + directory +
			" --unmap-mark-disk-chain-removed --replica-instance-name vol-r-1 " +
			"--snapshot-max-count 250 --snapshot-max-size 0 --sync-agent-port-count 7",
			"--engine-instance-name vol-e-0 controller vol --frontend tgt-blockdev --disableRevCounter --salvageRequested --size " +
				"1073741824 --current-size 0 --engine-replica-timeout 8 --file-sync-http-client-timeout 30 " +
				"--unmap-mark-snap-chain-removed --snapshot-max-count 250 --snapshot-max-size 0 --replica tcp://10.0.0.9:10000"},
	} {
		for _, version := range c.versions {
			require.Equal(t, c.replica, args(t, asReplica, everything, cli(version)), "replica, CLI %d", version)
			require.Equal(t, c.engine, args(t, everything, cli(version)), "engine, CLI %d", version)
		}
	}
	require.NotContains(t, args(t, asReplica, everything, cli(12)), "unix", "a real replica leaves its socket behind, and the next one ends")
	require.Contains(t, args(t, everything, cli(11)), "--rebuild-sync-concurrent-limit 1")
	require.NotContains(t, args(t, asReplica, volume(Volume{Encrypted: true}), cli(11)), "--encrypted")
	require.Contains(t, args(t, asReplica, volume(Volume{Encrypted: true}), cli(12)), "--encrypted")
	require.NotContains(t, args(t, volume(Volume{Encrypted: true}), cli(12)), "--encrypted", "no engine knows it")
	require.NotContains(t, args(t, cli(12), volume(Volume{})), "unix")
	require.NotContains(t, args(t, asReplica, cli(12), volume(Volume{})), "--encrypted")
}

// 16 MiB too few drop every replica. [A3]
func TestTheBackendsOfAnEncryptedVolumeHaveRoomForTheLUKSHeader(t *testing.T) {
	secret := volume(Volume{Encrypted: true})
	known := func(w *World) { w.Object.Engine.CurrentSize = 1 << 30 }
	require.Contains(t, args(t, secret, known), "--size 1090519040 --current-size 1090519040 ")
	require.Contains(t, args(t, secret, known, cli(11)), "--size 1073741824 --current-size 1073741824 ", "older images "+
		"have no room for the header")
	require.Contains(t, args(t, secret), "--size 1090519040 --current-size 0 ", "an unknown size stays unknown")
	require.Contains(t, args(t, asReplica, secret), "--size 1090519040 ")
	for _, kind := range []change{asReplica, asFrontend, func(*World) {}} {
		size := func(v Volume) int64 {
			return int64(Decide(world(wanted, status(stopped("")), v2, kind, volume(v))).Call.Create.SPDK.Size)
		}
		require.EqualValues(t, 1090519040, size(Volume{Encrypted: true, LUKSLabel: true}))
		require.EqualValues(t, 1073741824, size(Volume{Encrypted: true}), "restored from a backup without room")
	}
}

// Without its backing file every block that was never written reads as zeros. [A2]
func TestAReplicaStartsOverItsBackingImageOrNotAtAll(t *testing.T) {
	require.Contains(t, args(t, asReplica, backed), "--backing-file /host/var/lib/longhorn/backing-images/bi-1-eeee4444/backing ")
	for name, c := range map[string]struct {
		change change
		reason string
		copied bool
	}{
		"no such object": {func(w *World) { w.BackingImage = BackingImage{} }, ReasonNoBackingImage, false},
		"no copy on the disk": {func(w *World) { w.BackingImage.State, w.BackingImage.Wanted = "", false },
			ReasonWaitsForBackingImage, true},
		"a copy on its way":       {func(w *World) { w.BackingImage.State = "in-progress" }, ReasonWaitsForBackingImage, false},
		"a copy that failed":      {func(w *World) { w.BackingImage.State = "failed" }, ReasonWaitsForBackingImage, false},
		"an image without UUID":   {func(w *World) { w.BackingImage.UUID = "" }, ReasonWaitsForBackingImage, false},
		"v2, no copy on the disk": {func(w *World) { v2(w); w.BackingImage.State = "" }, ReasonWaitsForBackingImage, false},
		"v2, the first copy is not yet": {func(w *World) { v2(w); w.BackingImage.FirstCopy = "in-progress" }, ReasonWaitsForBackingImage,
			false},
	} {
		v := Decide(world(wanted, status(stopped("")), asReplica, backed, c.change))
		require.Equal(t, OpNone, v.Call.Op, name)
		require.Equal(t, c.reason, v.Reason, name)
		require.Equal(t, c.copied, v.WantsCopy, name)
		require.Equal(t, Problem{v.Reason, v.Message}, v.Status.BackingImage, name)
	}
}

func TestAReplicaNamesTheCopyThatItWaitsForAndNeedsNoOther(t *testing.T) {
	copied := func(c change) change { return func(w *World) { asReplica(w); backed(w); c(w) } }
	for _, c := range []struct {
		name   string
		engine change
		copied change
		text   string
	}{
		{"a v1 replica needs no v2 copy", func(*World) {}, copied(func(w *World) { w.BackingImage.FirstCopy = "" }), ""},
		{"a v2 replica starts over its copy and the first one", v2, copied(func(*World) {}), ""},
		{"a v2 copy has no UUID of its own", v2, copied(func(w *World) { w.BackingImage.UUID = "" }), ""},
		{"the first v2 copy is not there", v2, copied(func(w *World) { w.BackingImage.FirstCopy = "" }),
			"The first v2 copy of BackingImage bi-1 is not there, not ready."},
		{"neither copy is there", v2, copied(func(w *World) { w.BackingImage.State, w.BackingImage.FirstCopy = "", "" }),
			"The copy of BackingImage bi-1 on disk disk-uuid is not there, not ready"},
		{"it is on its way", v2, copied(func(w *World) { w.BackingImage.State = "in-progress" }), "on disk disk-uuid is in-progress, not ready"},
		{"it has failed", v2, copied(func(w *World) { w.BackingImage.State, w.BackingImage.Message = "failed", "no space." }),
			"has failed: no space. See kubectl get lhbi bi-1."},
		{"it has failed without a cause", v2, copied(func(w *World) { w.BackingImage.State = "failed" }), "has failed: it reports no cause."},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(world(wanted, status(stopped("")), c.engine, c.copied))
			require.Equal(t, c.text == "", v.Call.Op == OpCreate, v.Message)
			require.Contains(t, v.Message, c.text)
		})
	}
}

func TestACopyIsRequestedWhereTheSpecOfTheImageLacksTheDisk(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		want   bool
	}{
		"the spec lacks the disk, also where a copy is there": {func(w *World) { w.BackingImage.Wanted = false }, true},
		"the spec names the disk":                             {func(*World) {}, false},
		"the disk is not known": {func(w *World) {
			w.BackingImage.Wanted, w.Object.Replica.DiskID = false, ""
		}, false},
		"the replica has no backing image": {func(w *World) {
			w.BackingImage.Wanted, w.Object.Replica.BackingImage = false, ""
		}, false},
	} {
		v := Decide(world(wanted, status(stopped("")), asReplica, backed, c.change))
		require.Equal(t, OpCreate, v.Call.Op, name)
		require.Equal(t, c.want, v.WantsCopy, name)
	}
}

func TestAnUnknownImageStartsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		image  EngineImage
		reason string
	}{
		"no such object":   {EngineImage{Name: "ei-1"}, ReasonImageUnknown},
		"no version":       {EngineImage{Name: "ei-1", Found: true, Deployed: true}, ReasonImageUnknown},
		"too old":          {EngineImage{Name: "ei-1", Found: true, CLI: 2, Deployed: true}, ReasonImageUnknown},
		"too new":          {EngineImage{Name: "ei-1", Found: true, CLI: 14, CLIMin: 13, Deployed: true}, ReasonImageUnknown},
		"not on this node": {EngineImage{Name: "ei-1", Found: true, CLI: 12}, ReasonImageNotDeployed},
	} {
		for _, kind := range []change{asReplica, func(*World) {}} {
			v := Decide(world(wanted, status(stopped("")), kind, func(w *World) { w.EngineImage = c.image }))
			require.Equal(t, OpNone, v.Call.Op, name)
			require.Equal(t, c.reason, v.Reason, name)
			require.Equal(t, Problem{v.Reason, v.Message}, v.Status.Creation, name)
			again := Decide(world(wanted, kind, status(v.Status), lists(running)))
			require.NotEqual(t, Problem{}, again.Status.Creation, "an instance that the status never began ends first")
		}
	}
	newer := func(w *World) { w.EngineImage.CLI, w.EngineImage.CLIMin = 14, 8 }
	require.Equal(t, args(t, cli(12)), args(t, newer), "a newer image that accepts the newest flags gets those")
}

func TestTheObstacleOfAStartIsReportedUntilTheInstanceRuns(t *testing.T) {
	begun := Status{State: starting, Starting: true, InstanceManager: im}
	exits := Decide(world(wanted, status(begun), lists(failed), func(w *World) { w.Here.Entry.Error = "exit status 61" }))
	require.Equal(t, "InstanceCreationFailure", exits.Status.Creation.Reason)
	require.Contains(t, exits.Status.Creation.Message, "exit status 61")
	after := Decide(world(status(exits.Status), absent))
	require.Equal(t, halted, after.Status.State)
	require.Equal(t, exits.Status.Creation, after.Status.Creation, "it was stopped in between")
	begun.Creation = after.Status.Creation
	require.Empty(t, Decide(world(wanted, status(begun), lists(running))).Status.Creation)
	require.Empty(t, Decide(world(wanted, asFrontend, status(begun), lists(v1beta2.InstanceStateSuspended))).Status.Creation)
	ran := Decide(world(wanted, status(was(running)), absent))
	require.Equal(t, ReasonMissing, ran.Reason)
	require.Empty(t, ran.Status.Creation, "it was created, and ran")
	require.Empty(t, Decide(world(wanted, status(was(failed)), lists(failed))).Status.Creation, "it had failed before")
}

func TestUblkAndQueuesComeFromTheSettingsWhereTheObjectNamesNone(t *testing.T) {
	settings := func(w *World) {
		w.Settings.UblkQueueDepth, w.Settings.UblkNumberOfQueue, w.Settings.IOQueues = 128, 1, 4
	}
	spdk := func(changes ...change) *SPDK {
		return Decide(world(append([]change{wanted, status(stopped("")), asFrontend, settings}, changes...)...)).Call.Create.SPDK
	}
	got := spdk(func(w *World) { w.Object.Frontend = "ublk" })
	require.Equal(t, []int{128, 1, 0}, []int{got.UblkQueueDepth, got.UblkNumberOfQueue, got.IOQueues})
	require.Equal(t, 4, spdk().IOQueues, "a block device")
	require.Zero(t, spdk(func(w *World) { w.Object.DisableFrontend = true }).IOQueues, "no device, no queues")
	got = spdk(func(w *World) {
		w.Object.UblkQueueDepth, w.Object.UblkNumberOfQueue, w.Object.Target.IOQueues = 64, 2, 8
	})
	require.Equal(t, []int{64, 2, 8}, []int{got.UblkQueueDepth, got.UblkNumberOfQueue, got.IOQueues})
	require.False(t, slices.Contains(Decide(world(wanted, status(stopped("")), asReplica)).Call.Create.Args, "--encrypted"))
}
