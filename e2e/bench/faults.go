package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"drover.dev/drover/e2e/world"
)

// faults runs the fault harness on a seeded sample and copies its totals. `make faults` runs all points.
func faults(ctx context.Context, r *report) error {
	const budget = 8 * time.Minute
	root, err := world.ModuleRoot(ctx)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", "run", "./e2e/faults", "--budget", budget.String(), "--seed", "1")
	command.Dir, command.Stderr = root, os.Stderr
	// go run does not forward SIGKILL to its child, so it receives SIGINT.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	command.WaitDelay = 30 * time.Second
	pipe, err := command.StdoutPipe()
	if err != nil {
		return fmt.Errorf("reading the harness: %w", err)
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting the harness: %w", err)
	}
	sums := map[string]float64{}
	lines := bufio.NewScanner(io.TeeReader(pipe, os.Stdout))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		var value float64
		if len(fields) == 2 && strings.HasPrefix(fields[0], "faults.") {
			if _, err := fmt.Sscan(fields[1], &value); err == nil {
				sums[fields[0]] = value
			}
		}
	}
	ended := command.Wait()
	if len(sums) != 2 {
		return fmt.Errorf("the harness printed no totals: %w", ended)
	}
	note := fmt.Sprintf("a sample of at most %s with seed 1; make faults runs all", budget)
	r.add(Result{Name: "faults.points", Value: sums["faults.points"], Unit: "count", Runs: 1, Note: note})
	r.add(Result{Name: "faults.violations", Value: sums["faults.violations"], Unit: "count", Goal: "0", Runs: 1, Note: note})
	return nil
}
