package upgradecontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDecisionsAboutAnUpgradeAreApart(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct{ took, rest time.Duration }{
		"the least":              {0, leastRest},
		"by how long it took":    {25 * time.Millisecond, 100 * time.Millisecond},
		"at most":                {time.Minute, mostRest},
		"a clock that went back": {-time.Minute, leastRest},
	} {
		t.Run(name, func(t *testing.T) {
			var p pace
			require.Zero(t, p.left("upgrade", now))
			p.decided("upgrade", test.took, now)
			require.Equal(t, test.rest, p.left("upgrade", now))
			require.Equal(t, time.Millisecond, p.left("upgrade", now.Add(test.rest-time.Millisecond)))
			require.Zero(t, p.left("upgrade", now.Add(test.rest)))
			require.Zero(t, p.left("another", now))
			p.forget("upgrade")
			require.Zero(t, p.left("upgrade", now))
		})
	}
}
