package model

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	worlds = flag.Uint64("worlds", 3000, "how many random worlds are played; make model plays 100,000")
	first  = flag.Uint64("first", 0, "the seed of the first of them")
)

// Whatever fails in a cluster, no invariant is broken meanwhile, and after the failures everything settles as the tickets want it: ATT-1
// to ATT-4, UPG-1, no starvation, no livelock, and data that is neither mixed nor older than necessary.
func TestEveryWorldKeepsItsInvariantsAndSettles(t *testing.T) {
	share := uint64(500)
	if testing.Short() {
		share = 150
		*worlds = min(*worlds, 2*share)
	}
	for from := *first; from < *first+*worlds; from += share {
		t.Run(fmt.Sprintf("from %d", from), func(t *testing.T) {
			t.Parallel()
			for seed := from; seed < min(from+share, *first+*worlds); seed++ {
				if Play(seed, false).Broken != "" {
					t.Error(reported(seed))
				}
			}
		})
	}
}

// reported is the log of a bad world.
func reported(seed uint64) string {
	outcome := Play(seed, true)
	return fmt.Sprintf("%s\nworld %d: %s\nRepeat it by: go test ./attach-controller/internal/model -run TestEveryWorld -first "+
		"%d -worlds 1",
		strings.Join(outcome.Log, "\n"), seed, outcome.Broken, seed)
}

// A bad world that cannot be repeated proves nothing.
func TestASeedAlwaysRunsTheSameWorld(t *testing.T) {
	for seed := range uint64(50) {
		once, again := Play(seed, true), Play(seed, true)
		require.True(t, slices.Equal(once.Log, again.Log), "world %d", seed)
	}
}
