package pace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRepetitionsAreApart(t *testing.T) {
	const least, most = 20 * time.Millisecond, 500 * time.Millisecond
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct{ took, rest time.Duration }{
		"the least":              {0, least},
		"by how long it took":    {25 * time.Millisecond, 100 * time.Millisecond},
		"at most":                {time.Minute, most},
		"a clock that went back": {-time.Minute, least},
	} {
		t.Run(name, func(t *testing.T) {
			p := Pace{Factor: 4, Least: least, Most: most}
			require.Zero(t, p.Left("upgrade", now))
			p.Done("upgrade", test.took, now)
			require.Equal(t, test.rest, p.Left("upgrade", now))
			require.Equal(t, time.Millisecond, p.Left("upgrade", now.Add(test.rest-time.Millisecond)))
			require.Zero(t, p.Left("upgrade", now.Add(test.rest)))
			require.Zero(t, p.Left("another", now))
			p.Forget("upgrade")
			require.Zero(t, p.Left("upgrade", now))
		})
	}
}
