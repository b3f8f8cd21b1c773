package chain

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAChainIsWhatItsHistorySays compares a chain with plain copies of the volume through writes, snapshots, reverts, removals and purges:
// the head and every snapshot that is left read as they did when they were made, and the sum is that of the head.
func TestAChainIsWhatItsHistorySays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, head, snapshots := &Chain{}, Blocks{}, map[string]Blocks{}
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			name := fmt.Sprintf("s%d", rapid.IntRange(0, 8).Draw(t, "snapshot"))
			switch rapid.SampledFrom([]string{"write", "write", "write", "snapshot", "revert", "mark", "purge", "system", "drop"}).Draw(t,
				"action") {
			case "write":
				block := rapid.Int64Range(0, 5).Draw(t, "block")
				text := fmt.Sprintf("%d/%d", block, n)
				c.Write(block, text, uint64(n+1))
				head[block] = text
			case "snapshot":
				err := c.Snapshot(Layer{Name: name, UserCreated: rapid.Bool().Draw(t, "user")})
				if _, known := snapshots[name]; known {
					require.ErrorIs(t, err, ErrExists)
					continue
				}
				require.NoError(t, err)
				snapshots[name] = clone(head)
			case "revert":
				if blocks, known := snapshots[name]; known {
					require.NoError(t, c.Revert(name))
					head = clone(blocks)
				}
			case "mark":
				c.Mark(name)
			case "purge":
				c.Purge()
			case "system":
				c.PurgeSystem()
			case "drop":
				_ = c.Drop(name)
			}
			for name := range snapshots {
				if !c.Has(name) {
					delete(snapshots, name)
				}
			}
			same(t, c, head, snapshots)
		}
		require.NoError(t, c.Snapshot(Layer{Name: "rebuild"}))
		copied := &Chain{}
		copied.Write(0, "meanwhile", 1000)
		c.Write(0, "meanwhile", 1000)
		head[0] = "meanwhile"
		require.NoError(t, copied.Adopt(c), "a rebuilt chain has what the source had, and what was written to both since")
		same(t, copied, head, snapshots)
		require.Equal(t, c.Sum(), copied.Sum())
	})
}

func clone(b Blocks) Blocks {
	out := Blocks{}
	for k, v := range b {
		out[k] = v
	}
	return out
}

func same(t *rapid.T, c *Chain, head Blocks, snapshots map[string]Blocks) {
	got, err := c.Contents(Head)
	require.NoError(t, err)
	require.Equal(t, head, got)
	require.Equal(t, head.Sum(), c.Sum())
	for name, blocks := range snapshots {
		got, err := c.Contents(name)
		require.NoError(t, err)
		require.Equal(t, blocks, got, name)
	}
}
