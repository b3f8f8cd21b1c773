package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// An orphan that is held for a reason of its own may be acknowledged, too. It must not take the turn of those that may go.
func TestOrphansThatMayGoAreNotBehindOthers(t *testing.T) {
	orphan := func(name, kind, reason string, minute int, rule string) v1beta2.Orphan {
		o := v1beta2.Orphan{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Date(2026, 9, 1, 0, minute, 0, 0, time.UTC)}}
		o.Spec.OrphanType = kind
		o.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.OrphanCleanupApproved, Status: v1beta2.ConditionFalse, Reason: reason},
			{Type: v1beta2.OrphanOrphaned, Status: v1beta2.ConditionTrue, Reason: rule}}
		return o
	}
	const engine, data = v1beta2.OrphanTypeEngineInstance, v1beta2.OrphanTypeReplicaData
	const limited, acknowledged = v1beta2.ReasonRateLimited, v1beta2.ReasonAcknowledged
	list := []v1beta2.Orphan{
		orphan("foreign", data, acknowledged, 0, v1beta2.ReasonForeignData),
		orphan("d", engine, acknowledged, 1, v1beta2.ReasonNoOwnerCR), orphan("c", engine, acknowledged, 0, v1beta2.ReasonNoOwnerCR),
		orphan("b", engine, limited, 3, v1beta2.ReasonNoOwnerCR), orphan("a", engine, limited, 3, v1beta2.ReasonNoOwnerCR),
		orphan("z", engine, limited, 2, v1beta2.ReasonNoOwnerCR),
		orphan("x", data, acknowledged, 5, v1beta2.ReasonDataOnly), orphan("y", data, acknowledged, 6, v1beta2.ReasonDataOnly),
		orphan("flood", engine, v1beta2.ReasonFlood, 0, v1beta2.ReasonNoOwnerCR),
	}
	require.Equal(t, []string{"z", "a", "b", "c", "d", "x", "y"}, turn(list, 10))
	require.Equal(t, []string{"z", "x"}, turn(list, 1), "the setting may want data alone")
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
