package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func limits(ofVolume, ofSetting int) func(*World) {
	return func(w *World) { w.Volume.Spec.SnapshotMaxCount, w.Settings.MaxCount = ofVolume, ofSetting }
}

func has(number int) func(*World) { return func(w *World) { w.Taken = number } }

// The volume's own number of snapshots goes before the setting's, whichever is greater; 0 is none of its own.
func TestWhichLimitOfAVolumeCounts(t *testing.T) {
	for sentence, c := range map[string]struct {
		world   World
		refused bool
	}{
		"the setting's, reached":                         {world(two, limits(0, 2)), true},
		"the setting's, one below":                       {world(two, limits(0, 3)), false},
		"the volume's, reached below the setting's":      {world(two, limits(2, 250)), true},
		"the volume's, one below, above the setting's":   {world(two, limits(3, 2)), false},
		"a volume's below zero is none":                  {world(two, limits(-1, 2)), true},
		"detached, the volume's, reached":                {world(detached, has(2), limits(2, 250)), true},
		"detached, the volume's, one below":              {world(detached, has(2), limits(3, 2)), false},
		"detached, the setting's, exceeded":              {world(detached, has(3), limits(0, 2)), true},
		"an engine's list counts, not what Snapshots do": {world(two, has(9), limits(0, 3)), false},
		"an unknown list leaves what Snapshots show": {world(has(2), limits(0, 2),
			func(w *World) { w.Engine.Status.Snapshots = nil }), true},
		"bytes limit no v2 volume":                   {world(two, v2, func(w *World) { w.Volume.Spec.SnapshotMaxSize = 1 }), false},
		"one that was approved is not checked again": {world(two, requested, limits(0, 1)), false},
		"one that was approved and refused is":       {world(two, requested, failed, retried, limits(0, 1)), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.refused, v.Reason == v1beta2.ReasonLimitReached, "%s %s", v.Reason, v.Message)
			if c.refused {
				require.Empty(t, v.Status.RequestedTime)
				require.Nil(t, v.Ticket, "no volume is attached for a snapshot that may not be taken")
			}
		})
	}
}

func TestALimitNamesItsNumbersAndWhatToDo(t *testing.T) {
	const want = "Volume vol-1 has 2 snapshots and may have 2; delete some, or raise snapshotMaxCount."
	require.Equal(t, want, Decide(world(two, limits(0, 2))).Message)
	require.Equal(t, want, Decide(world(detached, has(2), limits(0, 2))).Message, "the same sentence, so that detaching writes nothing")
}

// im-monitor's refusal is about the limit that it found at the engine, and no other condition of the same reason.
func TestOnlyImMonitorsRefusalForALimitHoldsAnApprovedSnapshot(t *testing.T) {
	v := Decide(world(requested, atLimit))
	require.Equal(t, v1beta2.ReasonLimitReached, v.Reason)
	require.Equal(t, "Volume vol-1 has 2 snapshots and may have 2.", v.Message)
	for sentence, change := range map[string]func(*World){
		"our own condition": condition(v1beta2.SnapshotReady, v1beta2.ConditionFalse, v1beta2.ReasonLimitReached),
		"a snapshot that was taken": condition(v1beta2.SnapshotProvisioned, v1beta2.ConditionTrue,
			v1beta2.ReasonLimitReached),
		"a reason that is newer": condition(v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, "OfTheNextVersion"),
	} {
		require.Equal(t, v1beta2.ReasonCreating, Decide(world(requested, change)).Reason, sentence)
	}
}
