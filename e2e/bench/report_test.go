package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentilesAreMeasuredValues(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	require.Equal(t, 3.0, median(values))
	require.Equal(t, 5.0, percentile(values, 0.99))
	require.Equal(t, 1.0, percentile(values, 0))
	require.Equal(t, [2]float64{1, 5}, spread(values))
}

func TestAGoalIsABound(t *testing.T) {
	require.True(t, met(50, "<= 50"))
	require.False(t, met(50.1, "<= 50"))
	require.True(t, met(0.5, ">= 0.5"))
	require.True(t, met(0, "0"))
	require.False(t, met(1, "0"))
}

func TestAMissedGoalIsPrintedAsMissed(t *testing.T) {
	var out strings.Builder
	r := &report{out: &out}
	r.add(Result{Name: "a", Value: 60, Unit: "ms", Goal: "<= 50", Runs: 5})
	require.Contains(t, out.String(), "MISSED")
}

func TestGoBenchmarksAreReadByTheirSize(t *testing.T) {
	times, allocations := parseBenchmarks("goos: linux\nBenchmarkEvent/3000-2   100  1200 ns/op  64 B/op  3 " +
		"allocs/op\nBenchmarkEvent/300000-2   100  1300 ns/op  64 B/op  3 allocs/op\nPASS\n")
	require.Equal(t, map[string][]float64{"3000": {1200}, "300000": {1300}}, times)
	require.Equal(t, map[string][]float64{"3000": {3}, "300000": {3}}, allocations)
}

// A history of one group on one machine.
func history(values ...float64) (h History) {
	for i, v := range values {
		h = h.with(Measurement{Group: "orphan", Commit: string(rune('a' + i)), Machine: "m", Date: "2026-11-24",
			Results: []Result{{Name: "time", Value: v, Unit: "ms", Goal: "<= 50"}, {Name: "rate", Value: v, Unit: "ratio", Goal: ">= 5"}}})
	}
	return h
}

func TestAFigureIsWorseBeyondTheMeanAndATolerance(t *testing.T) {
	h := history(90, 110)
	at := func(value float64) Measurement { return history(value)[0] }
	require.Empty(t, h.worse(at(119)))
	require.Empty(t, h.worse(at(81)))
	require.Len(t, h.worse(at(121)), 1)
	require.Contains(t, h.worse(at(121))[0], "time is 121 ms, more than 120: the mean of 2 earlier is 100")
	require.Len(t, h.worse(at(79)), 1)
	require.Contains(t, h.worse(at(79))[0], "rate is 79 ratio, less than 80")
	other := at(500)
	other.Machine = "another"
	require.Empty(t, h.worse(other), "machines are not compared")
	other = at(500)
	other.Options = "--volumes=10"
	require.Empty(t, h.worse(other), "sizes are not compared")
}

func TestTheHistoryKeepsTheLastMeasurements(t *testing.T) {
	h := history(1, 2, 3, 4, 5, 6, 7)
	require.Len(t, h, kept)
	require.Equal(t, 3.0, h[0].Results[0].Value)
	require.Equal(t, 7.0, h[kept-1].Results[0].Value)
}

func TestThePageShowsTheNewestAndWhatIsMissed(t *testing.T) {
	page := history(40, 60).page()
	require.Contains(t, page, "| time | **60 ms** | ≤ 50 |")
	require.NotContains(t, page, "40")
	require.Contains(t, page, "`make bench BENCH=orphan`")
}

func TestThePageShowsPartsThatWereMeasuredSince(t *testing.T) {
	part := func(value float64, options string) Measurement {
		m := history(value)[0]
		m.Options = options
		return m
	}
	h := append(history(10), part(20, "--size=a"), part(30, "--size=b"), part(40, "--size=a"))
	require.Len(t, h.newest("orphan"), 3)
	require.NotContains(t, h.page(), "20 ms")
	for _, shown := range []string{"10 ms", "30 ms", "40 ms", `BENCH_FLAGS="--size=b"`} {
		require.Contains(t, h.page(), shown)
	}
	require.Len(t, append(h, part(50, "")).newest("orphan"), 1, "the whole group was measured after them")

	h = append(h, part(60, "--orphan-part=a"))
	require.Len(t, h.newest("orphan"), 1, "each figure of the earlier ones was measured again")
	other := part(70, "--orphan-part=b")
	other.Results[0].Name = "another time"
	h = append(h, other)
	require.Len(t, h.newest("orphan"), 2)
	require.Contains(t, h.page(), "60 ms")
}

func TestAHistoryIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "performance.json")
	empty, err := readHistory(path)
	require.NoError(t, err)
	require.Empty(t, empty)
	o := outputs{history: path, page: filepath.Join(t.TempDir(), "performance.md"), check: path}
	_, err = o.remember(history(10)[0])
	require.NoError(t, err)
	worse, err := o.remember(history(20)[0])
	require.NoError(t, err)
	require.Len(t, worse, 1)
	h, err := readHistory(path)
	require.NoError(t, err)
	require.Len(t, h, 2)
}
