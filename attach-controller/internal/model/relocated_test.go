package model

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/attach-controller/internal/machine"
)

var away = flag.Uint64("away", 600, "how many worlds are played in which a target is away on a node that is cut off and comes back")

// What a target acknowledged that was given up is never lost, whenever its node comes back.
func TestNothingIsLostWithATargetThatIsGivenUp(t *testing.T) {
	t.Parallel()
	left := 0
	for seed := range *away {
		outcome := PlayRelocated(seed, AllRules, true)
		require.Empty(t, outcome.Broken, "world %d\n%s", seed, strings.Join(outcome.Log, "\n"))
		if strings.Contains(strings.Join(outcome.Log, "\n"), "holds all I/O") {
			left++
		}
	}
	t.Logf("in %d of %d worlds a target was given up", left, *away)
	require.Greater(t, left, int(*away)/4)
}

func TestWithoutTheCutSomeWorldLosesWhatWasAcknowledged(t *testing.T) {
	off := Rules{Attach: attach.AllRules, Machine: machine.RuleCutOffFirst}
	for seed := range *away {
		if outcome := PlayRelocated(seed, off, false); outcome.Broken != "" {
			require.Equal(t, "DATA: what a target acknowledged after it was given up is lost", outcome.Broken)
			t.Logf("world %d", seed)
			return
		}
	}
	require.Fail(t, "every world is good without the cut: it is superfluous, or the model is blind")
}
