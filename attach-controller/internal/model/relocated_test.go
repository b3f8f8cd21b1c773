package model

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var away = flag.Uint64("away", 600, "how many worlds are run with a relocated target on a node that is partitioned and returns")

// I/O that a target acknowledged before a fail-over is never lost, whenever its node returns.
func TestNothingIsLostInAFailOver(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*away = min(*away, 150)
	}
	left := 0
	for seed := range *away {
		outcome := PlayRelocated(seed, true)
		require.Empty(t, outcome.Broken, "world %d\n%s", seed, strings.Join(outcome.Log, "\n"))
		if strings.Contains(strings.Join(outcome.Log, "\n"), "suspends all I/O") {
			left++
		}
	}
	t.Logf("in %d of %d worlds there was a fail-over", left, *away)
	require.Greater(t, left, int(*away)/4)
}
