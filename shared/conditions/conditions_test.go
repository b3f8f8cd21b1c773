package conditions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func condition(conditionType string, status v1beta2.ConditionStatus, reason string) v1beta2.Condition {
	return v1beta2.Condition{Type: conditionType, Status: status, Reason: reason}
}

func TestTheTransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	list := conditions.Set(nil, condition("A", v1beta2.ConditionFalse, "Waiting"), noon)
	list = conditions.Set(list, condition("A", v1beta2.ConditionFalse, "Limited"), noon.Add(time.Minute))
	require.Equal(t, "2026-08-01T12:00:00Z", conditions.Get(list, "A").LastTransitionTime,
		"a new reason is not a new status: people ask since when it is False")
	require.Equal(t, "Limited", conditions.Reason(list, "A"))

	list = conditions.Set(list, condition("A", v1beta2.ConditionTrue, "Done"), noon.Add(time.Hour))
	require.Equal(t, "2026-08-01T13:00:00Z", conditions.Get(list, "A").LastTransitionTime)
	require.Len(t, list, 1)
}

func TestSetLeavesTheListThatItWasGivenAlone(t *testing.T) {
	cached := []v1beta2.Condition{condition("A", v1beta2.ConditionFalse, "Old"), condition("B", v1beta2.ConditionTrue, "Old")}
	conditions.Set(cached, condition("A", v1beta2.ConditionTrue, "New"), noon)
	conditions.Remove(cached, "A")
	require.Equal(t, "Old", cached[0].Reason, "lists come from caches, which must not be modified")
	require.Equal(t, "B", cached[1].Type)
}

func TestAnAbsentConditionIsNeitherTrueNorFalse(t *testing.T) {
	require.False(t, conditions.IsTrue(nil, "A"))
	require.False(t, conditions.IsFalse(nil, "A"))
	require.Empty(t, conditions.Reason(nil, "A"))
}

func TestOwnedPicksOneControllersTypesInAFixedOrder(t *testing.T) {
	list := []v1beta2.Condition{condition("C", "True", ""), condition("B", "True", ""), condition("A", "True", "")}
	owned := conditions.Owned(list, "A", "C")
	require.Equal(t, []string{"A", "C"}, []string{owned[0].Type, owned[1].Type})
}

func TestEqualLooksAtWhatIsSaidNotAtOrderOrTimes(t *testing.T) {
	a := []v1beta2.Condition{condition("A", "True", "X"), condition("B", "False", "Y")}
	b := []v1beta2.Condition{condition("B", "False", "Y"), condition("A", "True", "X")}
	b[0].LastTransitionTime = "2026-08-01T12:00:00Z"
	require.True(t, conditions.Equal(a, b))
	b[1].Message = "a longer message"
	require.False(t, conditions.Equal(a, b))
	require.False(t, conditions.Equal(a, a[:1]))
}

func TestAReasonOfTheNextVersionIsReadByItsPresentName(t *testing.T) {
	newer := []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: "Missing"}}
	older := []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonLost}}
	require.Equal(t, v1beta2.ReasonLost, conditions.Reason(newer, v1beta2.SnapshotReady))
	require.True(t, conditions.Equal(newer, older), "so that two versions do not overwrite each other")
	require.True(t, conditions.Equal(older, newer))
}
