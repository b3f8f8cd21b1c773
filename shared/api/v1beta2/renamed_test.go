package v1beta2

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARenamedReasonStandsForOneOfItsContract(t *testing.T) {
	for conditionType, words := range renamedReasons {
		var known []string
		for _, contract := range ConditionContracts() {
			if contract.Type == conditionType {
				known = append(known, slices.Concat(contract.True, contract.False)...)
			}
		}
		require.NotEmpty(t, known, conditionType)
		for next, present := range words {
			require.Contains(t, known, present, conditionType)
			require.NotContains(t, known, next, "%s: a reason that has a meaning already", conditionType)
			require.Equal(t, present, PresentReason(conditionType, next))
			require.Equal(t, present, PresentReason(conditionType, present))
		}
	}
	require.Equal(t, "Unsupported", PresentReason(RecurringJobReady, "Unsupported"), "the word of another condition type")
}
