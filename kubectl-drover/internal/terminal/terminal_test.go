package terminal

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAColumnIsAsWideAsItsWidestCell(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	p.Table("  ", []string{"NAME", "STATE", "NOTE"}, [][]Cell{
		{{Text: "vol-größer"}, {Text: "attached", Style: Good}, {Text: "x"}}, Row("v", "", ""),
	})
	require.NoError(t, p.Err())
	require.Equal(t, "  NAME         STATE      NOTE\n  vol-größer   attached   x\n  v\n", out.String())
}

func TestATableWithoutRowsIsNotShown(t *testing.T) {
	var out bytes.Buffer
	New(&out).Table("", []string{"NAME"}, nil)
	require.Empty(t, out.String())
}

func TestTimesAreRelative(t *testing.T) {
	now := time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)
	for at, want := range map[string]string{
		"2026-08-01T11:59:59.5Z": "just now", "2026-08-01T11:59:18Z": "42s ago", "2026-08-01T11:56:00Z": "4m ago",
		"2026-08-01T08:40:00Z": "3h20m ago",
		"2026-08-01T09:00:00Z": "3h ago", "2026-07-31T00:00:01Z": "35h ago", "2026-07-30T11:00:00Z": "2d ago",
		"2026-08-01T12:05:00Z": "just now",
		"":                     "", "yesterday": "",
	} {
		require.Equal(t, want, Age(now, at), at)
	}
	require.Empty(t, AgeOf(now, time.Time{}))
}

func TestSizesHaveUnits(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 GiB", 4096: "4 KiB", 102400: "100 KiB", 1 << 20: "1 MiB", 1536 << 10: "1.5 MiB", 1 << 30: "1 GiB",
		21474836480: "20 GiB", 1610612736: "1.5 GiB", 3 << 40: "3072 GiB",
	} {
		require.Equal(t, want, Size(bytes))
	}
}
