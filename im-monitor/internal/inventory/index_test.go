package inventory

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTheIndexIsThatOfAPlainMap compares the index with the obvious one.
func TestTheIndexIsThatOfAPlainMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, plain := index{names: map[string]holders{}}, map[string]map[string]bool{}
		name := rapid.SampledFrom([]string{"r-1", "r-2"})
		holder := rapid.SampledFrom([]string{"im-a", "im-b", "im-c"})
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			h, list := holder.Draw(t, "holder"), rapid.SliceOf(name).Draw(t, "names")
			add := rapid.Bool().Draw(t, "add")
			if add {
				x.add(h, list)
			} else {
				x.remove(h, list)
			}
			for _, n := range list {
				if plain[n] == nil {
					plain[n] = map[string]bool{}
				}
				if delete(plain[n], h); add {
					plain[n][h] = true
				}
			}
			for n, holders := range plain {
				require.Equal(t, slices.Sorted(maps.Keys(holders)), x.of(n))
			}
		}
		for n, holders := range plain {
			x.remove("im-a", []string{n})
			x.remove("im-b", []string{n})
			x.remove("im-c", []string{n})
			clear(holders)
		}
		require.Empty(t, x.names, "nothing is left behind")
	})
}
