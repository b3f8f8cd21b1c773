package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const request = "snap-1@2026-08-01T12:00:00Z"

// maintained is a v1 volume without a writer, which a user wants reverted.
func maintained(s *fixture) {
	s.Volume.Spec.RevertToSnapshot, s.Volume.Spec.RevertRequestedAt = "snap-1", "2026-08-01T12:00:00Z"
	s.Volume.Spec.DisableFrontend, s.Volume.Status.FrontendDisabled = true, true
}

func revertAsked(s *fixture) {
	maintained(s)
	s.Engines[0].Spec.RequestedRevert = request
}

func revertAnswered(s *fixture) {
	revertAsked(s)
	s.Engines[0].Status.LastRevert = request
}

func TestAVolumeIsRevertedOnlyWithoutWriters(t *testing.T) {
	for name, one := range map[string]struct {
		is func(*fixture)
		// asks is what the engine is asked for, "" to take it back, nil for nothing new.
		asks   any
		reason string
		ended  bool
	}{
		"no request":          {func(*fixture) {}, nil, "", false},
		"a time that is none": {func(s *fixture) { maintained(s); s.Volume.Spec.RevertRequestedAt = "now" }, nil, v1beta2.ReasonFailed, false},
		"a time that is none, after another": {func(s *fixture) { revertAsked(s); s.Volume.Spec.RevertRequestedAt = "now" }, "",
			v1beta2.ReasonFailed, false},
		"a time that is none, and no snapshot": {func(s *fixture) {
			maintained(s)
			s.Volume.Spec.RevertRequestedAt, s.Volume.Spec.RevertToSnapshot = "now", ""
		}, nil, "", false},
		"somebody asks":       {maintained, request, v1beta2.ReasonReverting, false},
		"the engine is asked": {revertAsked, nil, v1beta2.ReasonReverting, false},
		"the engine did it":   {revertAnswered, nil, v1beta2.ReasonReverted, true},
		"the engine refused": {func(s *fixture) { revertAnswered(s); s.Engines[0].Status.LastRevertError = "no such snapshot" }, nil,
			v1beta2.ReasonFailed, true},
		"what ended stays ended": {func(s *fixture) { revertAnswered(s); s.Volume.Status.LastRevert = request }, "", "", false},
		"another time asks again": {func(s *fixture) { maintained(s); s.Volume.Status.LastRevert = "snap-1@2026-07-31T12:00:00Z" }, request,
			v1beta2.ReasonReverting, false},
		"a frontend is there": {func(s *fixture) { maintained(s); s.Volume.Status.FrontendDisabled = false }, nil,
			v1beta2.ReasonWaitingForMaintenance, false},
		"a frontend is wanted": {func(s *fixture) { maintained(s); s.Volume.Spec.DisableFrontend = false }, nil,
			v1beta2.ReasonWaitingForMaintenance, false},
		"it is let go unanswered": {func(s *fixture) { revertAsked(s); s.Volume.Spec.NodeID = "" }, nil, v1beta2.ReasonFailed, true},
		"it moves": {func(s *fixture) { maintained(s); s.Volume.Spec.MigrationNodeID = "y" }, nil, v1beta2.ReasonMigrating,
			false},
		"a replica is rebuilt": {func(s *fixture) {
			maintained(s)
			s.Engines[0].Status.ReplicaModeMap[s.Replicas[1].Name] = v1beta2.ReplicaModeWO
		}, nil, v1beta2.ReasonRebuilding, false},
		"it still waits for data": {func(s *fixture) { maintained(s); s.Volume.Status.RestoreRequired = true }, nil,
			v1beta2.ReasonWaitingForMaintenance, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			one.is(s)
			v := Decide(s.World)
			var asks any
			if w := findWrite(v, s.Engines[0]); w != nil {
				asks = w.Spec["requestedRevert"]
			}
			require.Equal(t, one.asks, asks)
			require.Equal(t, one.reason, conditions.Reason(v.Conditions, v1beta2.VolumeReverted))
			_, ended := v.Status["lastRevert"]
			require.Equal(t, one.ended, ended)
		})
	}
}

func TestARequestWithoutATimeReportsTheNextStep(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	maintained(s)
	s.Volume.Spec.RevertRequestedAt = "yesterday"
	require.Equal(t, `spec.revertRequestedAt "yesterday" is no RFC 3339 time, such as 2026-01-31T09:30:00Z: write another one.`,
		conditions.Get(Decide(s.World).Conditions, v1beta2.VolumeReverted).Message)
	s.step()
	require.False(t, s.step(), "it is reported once")
}

func TestAV2VolumeIsNotReverted(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	maintained(s)
	require.Equal(t, v1beta2.ReasonUnsupported, conditions.Reason(Decide(s.World).Conditions, v1beta2.VolumeReverted))
}
