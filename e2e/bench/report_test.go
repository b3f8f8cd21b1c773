package main

import (
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
