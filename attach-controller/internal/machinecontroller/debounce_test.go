package machinecontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func attaching(reason, message string) []v1beta2.Condition {
	return []v1beta2.Condition{{Type: v1beta2.VolumeAttached, Status: v1beta2.ConditionFalse, Reason: reason, Message: message}}
}

func TestAShortWaitIsNotWritten(t *testing.T) {
	t.Parallel()
	v := &v1beta2.Volume{}
	v.Name, v.Status.Conditions = vol, attaching(v1beta2.ReasonWaitingForReplicas, "r-1")
	wait := machine.Verdict{Conditions: attaching(v1beta2.ReasonWaitingForReplicas, "r-2")}
	engine := machine.Verdict{Conditions: attaching(v1beta2.ReasonWaitingForEngine, "e-0")}
	var w debouncer
	require.Equal(t, debounce, w.left(v, wait, noon))
	require.Equal(t, debounce/2, w.left(v, engine, noon.Add(debounce/2)), "another wait does not restart the time")
	require.Zero(t, w.left(v, engine, noon.Add(debounce)), "a long one is written")
	require.Equal(t, debounce, w.left(v, wait, noon.Add(debounce)), "what comes after that is another one")
	require.Zero(t, w.left(v, machine.Verdict{Conditions: v.Status.Conditions}, noon.Add(debounce)))
	require.Equal(t, debounce, w.left(v, wait, noon.Add(2*debounce)), "what was over has ended")
	w.forget(vol)
	require.Empty(t, w.since)
}

func TestChangesBeyondAWaitAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	stored := attaching(v1beta2.ReasonWaitingForReplicas, "r-1")
	with := func(other string) machine.Verdict {
		return machine.Verdict{Conditions: append(attaching(v1beta2.ReasonWaitingForEngine, "e-0"),
			v1beta2.Condition{Type: other, Status: v1beta2.ConditionTrue})}
	}
	there := attaching(v1beta2.ReasonAttached, "")
	there[0].Status = v1beta2.ConditionTrue
	for name, verdict := range map[string]machine.Verdict{
		"a state": {Conditions: attaching(v1beta2.ReasonWaitingForEngine, "e-0"),
			Status: map[string]any{"state": v1beta2.VolumeStateAttaching}},
		"what does not go away": {Conditions: attaching(v1beta2.ReasonNodeDown, "node-1")},
		"that it is there":      {Conditions: there},
		"a fault, too":          with(v1beta2.VolumeFaulted),
		"a revert, too":         with(v1beta2.VolumeReverted),
		"an expansion, too":     with(v1beta2.VolumeExpanded),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &v1beta2.Volume{}
			v.Name, v.Status.Conditions = vol, stored
			require.Zero(t, (&debouncer{}).left(v, verdict, noon))
		})
	}
	v := &v1beta2.Volume{}
	require.Zero(t, (&debouncer{}).left(v, machine.Verdict{Conditions: stored}, noon), "the first word")
}
