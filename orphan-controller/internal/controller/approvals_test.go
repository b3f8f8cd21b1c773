package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestApprovalsCountWhatTheCacheDoesNotShowYet(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	a := newApprovals(clock)
	shown := func(uids ...types.UID) []types.UID { return uids }

	a.add("node-1", "a")
	a.add("node-1", "b")
	require.Equal(t, 2, a.count("node-1", "c", nil))
	require.Equal(t, 1, a.count("node-1", "a", nil), "an orphan does not wait for itself")
	require.Equal(t, 0, a.count("node-2", "c", nil), "other nodes do not count")
	require.Equal(t, 2, a.count("node-1", "c", shown("a")), "what is shown is counted once")
	require.Equal(t, 1, a.count("node-1", "c", nil), "what was shown and is gone has finished")
	a.remove("node-1", "b")
	require.Equal(t, 0, a.count("node-1", "c", nil))

	a.add("node-1", "d")
	clock.SetTime(time.Unix(11, 0))
	require.Equal(t, 0, a.count("node-1", "c", nil), "what never shows is forgotten")
	require.Empty(t, a.byNode)
}

func TestAFailedAttemptDoesNotCountAsUnderWay(t *testing.T) {
	o := &v1beta2.Orphan{}
	set := func(conditionType string) {
		o.Status.Conditions = append(o.Status.Conditions, v1beta2.Condition{Type: conditionType, Status: v1beta2.ConditionTrue})
	}
	set(v1beta2.OrphanDeletionReason)
	require.False(t, inFlight(o), "nothing is approved yet")
	set(v1beta2.OrphanCleanupApproved)
	require.True(t, inFlight(o))
	set(v1beta2.OrphanCleanupFailed)
	require.False(t, inFlight(o), "an orphan that may wait for ever must not block the other deletions of the node")
}
