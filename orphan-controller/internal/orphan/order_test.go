package orphan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// In each world two rules apply; the table names the one that wins.
func TestTheOrderOfRules(t *testing.T) {
	const running = v1beta2.InstanceStateRunning
	gone := with(v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	claimedHere := claim(running, "im-1", "node-1")
	flooded := func(w *World) {
		w.NodeInstances = 20
		siblings(9, v1beta2.ReasonNoOwnerCR, "", 0)(w)
	}
	for name, c := range map[string]struct {
		world World
		want  string
	}{
		"released before withdrawn": {quiet(deletedByPerson, released1, withdrawnFor(v1beta2.ReasonClaimed)),
			OutcomeReleased},
		"withdrawn before terminated": {quiet(deletedByPerson, withdrawnFor(v1beta2.ReasonInstanceGone), gone),
			OutcomeWithdrawn},
		"withdrawn before the node's end":  {quiet(withdrawnFor(v1beta2.ReasonClaimed), nodeAbsent), OutcomeWithdrawn},
		"terminated before the node's end": {quiet(deletedByPerson, gone, nodeAbsent), OutcomeTerminated},
		"terminated before a stored end":   {quiet(deletedByPerson, gone, heldBackFor(v1beta2.ReasonNodeGone)), OutcomeTerminated},
		"a stored end before another": {quiet(deletedByPerson, heldBackFor(v1beta2.ReasonInstanceManagerGone), nodeAbsent),
			v1beta2.ReasonInstanceManagerGone},
		"the node's end before the data's": {quiet(deletedByPerson, nodeAbsent, ofType(v1beta2.OrphanTypeReplicaData)),
			v1beta2.ReasonNodeGone},
		"the node's end before the manager's": {quiet(nodeAbsent, instanceManagerAbsent), v1beta2.ReasonNodeGone},
		"the manager's end before the evaluation": {quiet(deletedByPerson, instanceManagerAbsent, without(v1beta2.OrphanOrphaned)),
			v1beta2.ReasonInstanceManagerGone},
		"the evaluation before the claim": {quiet(deletedByPerson, claimedHere, without(v1beta2.OrphanOrphaned)),
			v1beta2.ReasonNotJudged},
		"the claim before a fallen premise":     {quiet(deletedByPerson, approvedByPolicy, claimedHere), v1beta2.ReasonClaimed},
		"a fallen premise before the last copy": {quiet(deletedByPerson, approvedByPolicy, volumeExists), v1beta2.ReasonAcknowledged},
		"a dry run before the last copy, deleting": {quiet(deletedByPerson, approvedByPolicy, volumeExists, autoDeletionOn, dryRunOn),
			v1beta2.ReasonDryRun},
		"no deletion before the claim":          {quiet(claimedHere), OutcomeStanding},
		"the claim before the grace period":     {quiet(autoDeletionOn, claimedHere, aged(0)), v1beta2.ReasonClaimed},
		"the grace period before the last copy": {quiet(autoDeletionOn, aged(0), volumeExists), v1beta2.ReasonGracePeriod},
		"the last copy before the flood":        {quiet(autoDeletionOn, flooded, volumeExists), v1beta2.ReasonLastCopy},
		"the flood before the dry run":          {quiet(autoDeletionOn, flooded, dryRunOn), v1beta2.ReasonFlood},
		"the dry run before the rate limit":     {quiet(autoDeletionOn, dryRunOn, inFlight(10)), v1beta2.ReasonDryRun},
		"eviction before auto deletion":         {quiet(autoDeletionOn, evicting, aged(0)), v1beta2.ReasonApproved},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.want, v.Outcome, v.Message)
			checkVerdict(t, c.world, v)
		})
	}
}

func TestLimitsThatMakeNoSenseAreNamed(t *testing.T) {
	require.NoError(t, DefaultLimits().Validate())
	err := Limits{FloodPercent: 101, EvaluationWait: -1}.Validate()
	for _, problem := range []string{"flood count 0", "flood percent 101", "flood window 0s", "policy deletions per node 0",
		"evaluation wait -1ns"} {
		require.ErrorContains(t, err, problem)
	}
}
