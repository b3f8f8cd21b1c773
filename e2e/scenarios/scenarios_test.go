package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScenarios runs each scenario once, without failures: O1, O6, O8, O9, O10, O12, O13. [ORP-1, ORP-2, ORP-3, ORP-4]
func TestScenarios(t *testing.T) {
	for _, scenario := range Scenarios() {
		t.Run(scenario.ID+" "+scenario.Sentence, func(t *testing.T) {
			ctx, scene := fixture(t)
			_, err := scenario.Run(ctx, scene.World, nil)
			require.NoError(t, err)
		})
	}
}
