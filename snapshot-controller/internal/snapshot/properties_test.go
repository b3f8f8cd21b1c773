package snapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// changes are the ways in which worlds differ.
var changes = []func(*World){
	detached, listed, taken, requested, deleted, system, noOwner, owner("other"), approved, failed, cancelled, withdrawn,
	granted, refused, two, leaving, rebuilding,
	func(w *World) { marked(w) }, func(w *World) { forked(w) }, v2, copied, mirrored, branched, unnamed, retried,
	refusedAgo(5*time.Second, 0), refusedAgo(time.Minute, time.Minute), unremovedAgo(5*time.Second, 0),
	unremovedAgo(time.Minute, time.Hour),
	func(w *World) { w.Settings.PurgeDisabled = true }, func(w *World) { w.Settings.MaxCount = 2 },
	func(w *World) { w.Candidate = "" }, func(w *World) { w.Engine.Status.Snapshots = map[string]v1beta2.SnapshotInfo{} },
	func(w *World) { w.Volume.Status.Robustness = v1beta2.VolumeRobustnessFaulted },
	func(w *World) { w.Volume.Spec.MigrationNodeID = "node-2" }, func(w *World) { w.Clones = []string{"c"} },
	func(w *World) { w.Snapshot.Labels = nil }, func(w *World) { w.Snapshot.Finalizers = nil },
	func(w *World) {
		if t := w.wanted(); t != nil {
			holdsTicket(w)
		}
	},
}

func anyWorld(t *rapid.T) World {
	w := world()
	for _, i := range rapid.SliceOfDistinct(rapid.IntRange(0, len(changes)-1), rapid.ID).Draw(t, "changes") {
		changes[i](&w)
	}
	if rapid.IntRange(0, 9).Draw(t, "absent") == 0 {
		w.Volume, w.Attachment, w.Engine = nil, nil, nil
	}
	return w
}

func TestDecideIsTotalAndDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		require.Equal(t, Decide(w), Decide(w))
	})
}

func TestItComesToAnEndAndThenIsQuiet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, _ := settled(t, anyWorld(t))
		if w.Snapshot == nil {
			return
		}
		if Decide(w).NeedsPlace {
			return
		}
		if w.deleting() && len(w.Snapshot.Finalizers) > 0 {
			require.NotEmpty(t, conditions.Reason(w.Snapshot.Status.Conditions, v1beta2.SnapshotRemovalApproved),
				"ALL-3: it states what it waits for")
		}
	})
}

// SNP-1: no Snapshot is removed that was not deleted, unless its volume or its data is proven gone.
func TestOnlyEvidenceDeletes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := Decide(w)
		if v.Step != StepDelete {
			return
		}
		gone := w.Volume == nil || w.Volume.DeletionTimestamp != nil || UID(w.Snapshot) != w.Volume.UID
		require.True(t, gone || w.isTrue(v1beta2.SnapshotWithdrawn))
	})
}

// SNP-2: taking is approved once, and never while the engine's list is unknown.
func TestTakingIsApprovedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := Decide(w)
		if v.Step != StepStatus || v.Status.RequestedTime == w.Snapshot.Status.RequestedTime {
			return
		}
		require.True(t, w.Snapshot.Status.RequestedTime == "" || w.failed(), "but for what the engine refused")
		require.True(t, w.known() && w.info() == nil && !w.deleting() && !w.seen() && w.Snapshot.Spec.CreateSnapshot)
	})
}

// No data is removed without a deletion, and a Snapshot holds no ticket that cannot help it.
func TestRemovalIsApprovedForWhatIsDeleted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := Decide(w)
		if v.Step == StepStatus && conditions.IsTrue(v.Status.Conditions, v1beta2.SnapshotRemovalApproved) &&
			v.Reason == v1beta2.ReasonRequested {
			require.True(t, w.deleting() && w.Attached() && w.Place == PlaceGranted && len(w.Clones)+len(w.Backups) == 0 &&
				!w.Settings.PurgeDisabled)
		}
		if v.Step == StepTakeTicket {
			require.NotEmpty(t, w.Candidate)
			require.NotEqual(t, v1beta2.VolumeRobustnessFaulted, w.Volume.Status.Robustness)
		}
	})
}
