package text

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestASizeHasItsUnit(t *testing.T) {
	const ki, mi, gi, ti = 1 << 10, 1 << 20, 1 << 30, 1 << 40
	for n, shows := range map[int64]string{
		0: "0", 1: "1B", 1023: "1023B", ki: "1Ki", ki + 1: "1.0Ki", 1500: "1.5Ki", mi: "1Mi", mi - 1: "1.0Mi",
		10 * gi: "10Gi", 1536 * mi: "1536Mi", 10241 * mi: "10241Mi", 2000 * gi: "2000Gi", 3 * ti: "3Ti", 5*gi + 1: "5.0Gi",
		123456 * ki: "120.6Mi", 10_000_000_000: "9.3Gi", gi - ki: "1.0Gi", gi - mi/2: "1023.5Mi",
		999999999999999999: "888.2Pi", math.MaxInt64: "8.0Ei", -5 * gi: "-5Gi", math.MinInt64: "-8.0Ei",
	} {
		require.Equal(t, shows, Bytes(n), "%d", n)
	}
}

func TestASizeIsShortAndOfAUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown := Bytes(rapid.Int64Range(1, math.MaxInt64).Draw(t, "bytes"))
		if len(shown) > len("1023.9Ki") || strings.TrimLeft(shown, "0123456789.") == "" {
			t.Fatalf("%s", shown)
		}
	})
}
