package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"drover.dev/drover/e2e/world"
)

// microbenchmarks runs the Go benchmarks of im-monitor, which count allocations. One event must cost the same
// in a small and in a large population.
func microbenchmarks(ctx context.Context, r *report) error {
	root, err := world.ModuleRoot(ctx)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkEvent$", "-benchmem", "-count", strconv.Itoa(runs),
		"./im-monitor/internal/...")
	command.Dir = root
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running im-monitor's benchmarks: %w\n%s", err, out)
	}
	times, allocations := parseBenchmarks(string(out))
	small, large := "3000", "300000"
	if len(times[small]) < runs || len(times[large]) < runs {
		return fmt.Errorf("im-monitor's tree has no BenchmarkEvent at %s and %s objects:\n%s", small, large, out)
	}
	var ratios, allocationRatios []float64
	for i := range runs {
		ratios = append(ratios, times[large][i]/times[small][i])
		allocationRatios = append(allocationRatios, allocations[large][i]/allocations[small][i])
	}
	r.add(Result{Name: "scale.event_cost_ratio", Value: median(times[large]) / median(times[small]), Unit: "ratio", Goal: "<= 1.2",
		Runs: runs, Spread: spread(ratios),
		Note: fmt.Sprintf("300,000 : 3,000 objects; %.0f ns at 3,000", median(times[small]))})
	r.add(Result{Name: "scale.event_alloc_ratio", Value: median(allocations[large]) / median(allocations[small]), Unit: "ratio",
		Goal: "<= 1.05", Runs: runs, Spread: spread(allocationRatios),
		Note: fmt.Sprintf("%.0f allocations at 3,000", median(allocations[small]))})
	return nil
}

// parseBenchmarks reads nanoseconds and allocations per operation, by the last part of the benchmark's name.
func parseBenchmarks(out string) (times, allocations map[string][]float64) {
	times, allocations = map[string][]float64{}, map[string][]float64{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 8 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := fields[0][strings.LastIndex(fields[0], "/")+1:]
		name, _, _ = strings.Cut(name, "-")
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				continue
			}
			switch fields[i+1] {
			case "ns/op":
				times[name] = append(times[name], value)
			case "allocs/op":
				allocations[name] = append(allocations[name], value)
			}
		}
	}
	return times, allocations
}
