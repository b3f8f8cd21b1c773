package replica

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

type row struct {
	world  World
	want   string
	reason string
}

func check(t *testing.T, rows map[string]row) {
	t.Helper()
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			v := decide(c.world)
			require.Equal(t, c.want, reported(v))
			if c.reason != "" {
				require.Equal(t, c.reason, reason(c.world, v))
			}
		})
	}
}

func TestFirstReplicasArePlacedAllAtOnce(t *testing.T) {
	here := volume(func(v *v1beta2.Volume) { v.Spec.NodeID = "b" })
	check(t, map[string]row{
		"three, each on its own node": {fresh(), "create:a create:b create:c", v1beta2.ReasonPlaced},
		"as many as find a place": {fresh(closed("a b")), "create:c create:d",
			v1beta2.ReasonAntiAffinity},
		"none, where none finds a place": {fresh(closed("a b c d")), "", v1beta2.ReasonNoUsableNode},
		"two on one node where that is soft, and disks too": {fresh(closed("a b c"),
			settings(func(s *setting.Values) { s.NodeSoftAntiAffinity = true })), "create:d create:d create:d", v1beta2.ReasonPlaced},
		"the volume's own softness counts first": {fresh(closed("a b c"),
			settings(func(s *setting.Values) { s.NodeSoftAntiAffinity = true }),
			volume(func(v *v1beta2.Volume) { v.Spec.ReplicaSoftAntiAffinity = "disabled" })), "create:d", v1beta2.ReasonAntiAffinity},
		"softness that only the volume has": {fresh(closed("a b c"),
			volume(func(v *v1beta2.Volume) { v.Spec.ReplicaSoftAntiAffinity = "enabled" })), "create:d create:d create:d",
			v1beta2.ReasonPlaced},
		"of which each is counted at once": {fresh(closed("a b c"),
			volume(func(v *v1beta2.Volume) { v.Spec.Size, v.Spec.ReplicaSoftAntiAffinity = 40*gib, "enabled" })), "create:d create:d",
			v1beta2.ReasonInsufficientSpace},
		"what is there already counts": {fresh(coming("a")), "create:b create:c", v1beta2.ReasonPlaced},
		"all are there": {fresh(coming("a"), coming("b"), coming("c")), "",
			v1beta2.ReasonPlaced},
		"nothing new is to be reported": {fresh(coming("a"), coming("b"), coming("c"),
			isScheduled(v1beta2.ReasonPlaced)), "", v1beta2.ReasonPlaced},
		"the rest comes when there is a place": {fresh(coming("a"), coming("b"),
			isScheduled(v1beta2.ReasonAntiAffinity)), "create:c", v1beta2.ReasonPlaced},
		"one that must leave is no use": {fresh(coming("a"), coming("b"), coming("c"), evicted("a")),
			"create:d mark:a", v1beta2.ReasonPlaced},
		"the limit of rebuilds is not theirs": {fresh(settings(func(s *setting.Values) { s.RebuildsPerNode = 0 })),
			"create:a create:b create:c", v1beta2.ReasonPlaced},
		"a replica that cannot start is not replaced again and again": {fresh(coming("a"), coming("b"), coming("c"),
			replica("a", func(r *v1beta2.Replica) { r.Spec.FailedAt = ago(time.Minute) })), "", ""},
		"nor has another one its node": {fresh(closed("d"), coming("a"),
			replica("a", func(r *v1beta2.Replica) { r.Spec.FailedAt = ago(time.Minute) })), "create:b create:c", v1beta2.ReasonPlaced},
		"strict-local waits for the node": {fresh(wants(1), locality("strict-local")), "",
			v1beta2.ReasonWaitingForNode},
		"strict-local that takes the data of a backup goes anywhere": {fresh(wants(1), locality("strict-local"), restored), "create:a",
			v1beta2.ReasonPlaced},
		"and that of another volume": {fresh(wants(1), locality("strict-local"), cloned), "create:a", v1beta2.ReasonPlaced},
		"or, where a workload waits for it, there": {fresh(wants(1), locality("strict-local"), cloned, waitedForOn("c")), "create:c",
			v1beta2.ReasonPlaced},
		"and nowhere else": {fresh(wants(1), locality("strict-local"), cloned, waitedForOn("c"), closed("c")), "",
			v1beta2.ReasonNoUsableNode},
		"one that has its data waits for the node": {fresh(wants(1), locality("strict-local"), cloned, waitedForOn("c"),
			volume(func(v *v1beta2.Volume) { v.Status.CloneStatus.State = v1beta2.CloneCompleted })), "", v1beta2.ReasonWaitingForNode},
		"where it is wanted counts first": {fresh(wants(1), locality("strict-local"), cloned, waitedForOn("c"), here), "create:b",
			v1beta2.ReasonPlaced},
		"strict-local goes to the node": {fresh(wants(1), locality("strict-local"), here), "create:b",
			v1beta2.ReasonPlaced},
		"strict-local goes nowhere else": {fresh(wants(1), locality("strict-local"), here, closed("b")), "",
			v1beta2.ReasonNoUsableNode},
		"best-effort prefers the node": {fresh(wants(1), locality("best-effort"), here), "create:b",
			v1beta2.ReasonPlaced},
		"best-effort goes elsewhere where it has to": {fresh(wants(1), locality("best-effort"), here, closed("b")),
			"create:a", v1beta2.ReasonPlaced},
	})
}

func restored(w *World) { w.Volume.Status.RestoreRequired = true }

func cloned(w *World) { w.Volume.Spec.DataSource = "vol://source" }

func waitedForOn(node string) change { return func(w *World) { w.WorkloadNode = node } }

func TestNothingIsPlacedForAVolumeThatIsNotReady(t *testing.T) {
	for name, of := range map[string]func(*v1beta2.Volume){
		"without a finalizer":            func(v *v1beta2.Volume) { v.Finalizers = nil },
		"without a data engine":          func(v *v1beta2.Volume) { v.Spec.DataEngine = "" },
		"without a number":               func(v *v1beta2.Volume) { v.Spec.NumberOfReplicas = 0 },
		"without a state yet":            func(v *v1beta2.Volume) { v.Status.State = "" },
		"that the machine still creates": func(v *v1beta2.Volume) { v.Status.State = v1beta2.VolumeStateCreating },
	} {
		t.Run(name, func(t *testing.T) {
			w := fresh(volume(of))
			require.False(t, Needs(w))
			require.Equal(t, Verdict{}, decide(w))
		})
	}
}

func TestAPlacedReplicaKnowsItsDiskItsImageAndItsEngine(t *testing.T) {
	w := attached("a b", wants(3), volume(func(v *v1beta2.Volume) { v.Spec.Image = "" }),
		settings(func(s *setting.Values) { s.DefaultEngineImage = "default" }))
	v := decide(w)
	require.Equal(t, []placement.Disk{{Node: "c", Zone: "zone-c", UUID: "disk-c", Path: "/dev/c"}}, v.Create)
	require.Equal(t, "default", v.Image)
	require.Equal(t, "vol-1-e-0", v.Engine)
	require.True(t, v.Rebuild)
	require.False(t, decide(fresh()).Rebuild, "the first replicas are not rebuilt")
}

func TestTheConditionReportsWhatIsMissing(t *testing.T) {
	v := decide(fresh(closed("a b c d")))
	require.Equal(t, v1beta2.ConditionFalse, v.Scheduled.Status)
	require.Equal(t, "No place for a replica of 10Gi: 4 spec.allowScheduling is false (a, b, c, …).", v.Scheduled.Message)
	require.Equal(t, now.Format(time.RFC3339), v.Scheduled.LastTransitionTime)
}

// A replica that was created without an image, or that must leave, is marked once.
func TestReplicasAreMarked(t *testing.T) {
	noImage := replica("a", func(r *v1beta2.Replica) { r.Spec.Image = "" })
	v := decide(attached("a b", noImage, evicted("a"), wants(1)))
	require.Equal(t, map[string]any{"evictionRequested": true, "image": "image"}, v.Patches[0].Spec)
	require.Len(t, v.Patches, 1)
	v = decide(attached("a b", replica("a", func(r *v1beta2.Replica) { r.Spec.EvictionRequested = true })))
	require.Equal(t, map[string]any{"evictionRequested": false}, v.Patches[0].Spec)
}

func TestReplicasOfADetachedVolumeFollowItsEngineImage(t *testing.T) {
	newer := volume(func(v *v1beta2.Volume) { v.Spec.Image = "newer" })
	images := func(w World) map[string]any {
		out := map[string]any{}
		for _, p := range decide(w).Patches {
			if p.Spec["image"] != nil {
				out[p.Replica.Name] = p.Spec["image"]
			}
		}
		return out
	}
	stopped := func(w *World) {
		for _, r := range w.Replicas {
			r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
		}
	}
	w := attached("a b", newer, detached, stopped)
	w.Volume.Spec.DataEngine = v1beta2.DataEngineV1
	require.Len(t, images(w), 2)
	w.Volume.Spec.DataEngine = v1beta2.DataEngineV2
	require.Empty(t, images(w), "a v2 replica runs what its instance manager is")
	require.Empty(t, images(attached("a b", newer, func(w *World) { w.Volume.Spec.DataEngine = v1beta2.DataEngineV1 })),
		"one that runs keeps its image")
	w.Volume.Spec.DataEngine = v1beta2.DataEngineV1
	w.Replicas[0].Status.CurrentState = v1beta2.InstanceStateRunning
	require.Len(t, images(w), 1, "one that still runs follows when it has stopped")
}

func TestARebuildNeedsRoomForTheDataThatItsEngineReports(t *testing.T) {
	snapshots := func(sizes ...string) change {
		return func(w *World) {
			if w.Engine == nil {
				w.Engine = &v1beta2.Engine{}
			}
			w.Engine.Status.Snapshots = map[string]v1beta2.SnapshotInfo{}
			for i, size := range sizes {
				w.Engine.Status.Snapshots[string(rune('a'+i))] = v1beta2.SnapshotInfo{Size: size}
			}
		}
	}
	w := attached("a b", wants(3), snapshots("10", "unknown", "", "-1", "32"))
	require.EqualValues(t, 42, w.request(nil).Data)
	w = fresh(snapshots("10"))
	require.Zero(t, w.request(nil).Data, "a new replica of a new volume copies nothing")
}

// A detached volume is attached to rebuild its missing replicas only if they have a place: an old refusal does not stay.
func TestADetachedVolumeWithoutAPlaceIsEvaluatedAgain(t *testing.T) {
	none := isScheduled(v1beta2.ReasonAntiAffinity)
	lost := func(changes ...change) World {
		return attached("a b c", slices.Concat([]change{down("c"), failed("c", time.Hour), detached, none}, changes)...)
	}
	full := lost(closed("d"))
	check(t, map[string]row{
		"there is a place now": {lost(), "", v1beta2.ReasonPlaced},
		"there still is none":  {full, "", v1beta2.ReasonAntiAffinity},
		"the failed one can be taken back": {attached("a b c", failed("c", time.Hour), detached, none, closed("d")), "",
			v1beta2.ReasonPlaced},
		"the limit of rebuilds is for another day":   {lost(rebuilds("d", 5)), "", v1beta2.ReasonPlaced},
		"without a copy there is nothing to rebuild": {lost(failed("a", 0), failed("b", 0)), "", v1beta2.ReasonAntiAffinity},
		"while it is attached only an attempt shows it": {attached("a b c", down("c"), failed("c", time.Hour), down("a"), none), "",
			v1beta2.ReasonAntiAffinity},
	})
	require.True(t, Needs(lost()))
	require.False(t, Needs(attached("a b c", down("c"), failed("c", time.Hour), detached, isScheduled(v1beta2.ReasonPlaced))),
		"no candidates are read while nothing is missing")
}
