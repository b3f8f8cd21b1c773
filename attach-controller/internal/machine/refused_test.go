package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// said is a volume whose engine ended with this message.
func said(dataEngine, words string) *fixture {
	s := attached(dataEngine, "x", "y")
	e := s.Engines[0]
	e.Status.CurrentState = v1beta2.InstanceStateError
	e.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceCreation, Status: v1beta2.ConditionFalse,
		Reason:  v1beta2.ReasonInstanceCreationFailure,
		Message: "im-1 lists it as error: " + words}}
	return s
}

func TestReplicasThatTheirEngineRefusesAreOpenedAsASalvageAndNoneIsMarkedAsFailed(t *testing.T) {
	const refused = "exit status 61: no usable replica"
	asked := func(v Verdict) (names []string) {
		for _, w := range v.Writes {
			require.NotContains(t, w.Spec, "failedAt")
			if w.Spec["salvageRequested"] == true {
				names = append(names, w.Object.GetName())
			}
		}
		return names
	}
	s := said(v1beta2.DataEngineV1, refused)
	v := Decide(s.World)
	require.Equal(t, []string{"vol-r-0", "vol-r-1"}, asked(v))
	require.Contains(t, conditions.Get(v.Conditions, v1beta2.VolumeFaulted).Message, refused, "the volume reports why")
	for _, r := range s.Replicas {
		r.Spec.SalvageRequested = true
	}
	require.Empty(t, asked(Decide(s.World)), "it is asked for once")
	by := said(v1beta2.DataEngineV1, refused)
	by.Settings.AutoSalvage = false
	require.Empty(t, asked(Decide(by.World)), "a person decides")
	require.Empty(t, asked(Decide(said(v1beta2.DataEngineV1, "exit status 1").World)), "no server answered: a retry may succeed")
	require.Empty(t, asked(Decide(said(v1beta2.DataEngineV2, refused).World)))
}

func TestAVolumeThatWaitsForAnInstanceReportsWhatBlocksIt(t *testing.T) {
	s, r := stuck(v1beta2.InstanceStateStopped, "x", "y")
	r.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceCreation, Status: v1beta2.ConditionFalse,
		Reason:  v1beta2.ReasonEngineImageNotDeployed,
		Message: "EngineImage ei-1 is not deployed on node y (status.nodeDeploymentMap)."}}
	said := conditions.Get(Decide(s.World).Conditions, v1beta2.VolumeAttached)
	require.Equal(t, v1beta2.ReasonWaitingForReplicas, said.Reason)
	require.Contains(t, said.Message, "status.nodeDeploymentMap")
	r.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.WaitForBackingImage, Status: v1beta2.ConditionTrue,
		Message: "It waits for bi-1."}}
	require.Contains(t, conditions.Get(Decide(s.World).Conditions, v1beta2.VolumeAttached).Message, "must run. It waits for bi-1.")
	r.Status.Conditions[0].Status = v1beta2.ConditionFalse
	require.NotContains(t, conditions.Get(Decide(s.World).Conditions, v1beta2.VolumeAttached).Message, "bi-1")
}
