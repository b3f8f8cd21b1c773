package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// engineChanges is how many engines' lists are changed in one run.
const engineChanges = 100

// changes lets each engine report another size for one snapshot, and measures the work that follows.
func changes(ctx context.Context, r *report, w *world.World, process *world.Process, volumes int, f *figures) error {
	for run := range runs {
		if err := w.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		w.API.Reset()
		cpu, reconciles, err := spent(ctx, w, process)
		if err != nil {
			return err
		}
		var times []float64
		for n := range engineChanges {
			took, err := change(ctx, w, (n*7+run)%volumes, n%chain, 1_000_000*(run+1)+n)
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		if err := w.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		cpuAfter, reconcilesAfter, err := spent(ctx, w, process)
		if err != nil {
			return err
		}
		f.latency, f.cpu = append(f.latency, median(times)), append(f.cpu, (cpuAfter-cpu)*1000/engineChanges)
		f.reconciles = append(f.reconciles, (reconcilesAfter-reconciles)/engineChanges)
		f.busy = append(f.busy, float64(w.API.Counts().Sum(write))/engineChanges)
		r.logf("  %d snapshots, run %d of %d: one engine's change: p50 %.1f ms, %.2f ms of processor time, %.2f reconciles, %.2f writes",
			f.snapshots, run+1, runs,
			f.latency[run], f.cpu[run], f.reconciles[run], f.busy[run])
	}
	return nil
}

// change writes one entry of an engine's list and waits until its Snapshot reports the same.
func change(ctx context.Context, w *world.World, i, n, size int) (float64, error) {
	engine, s := &v1beta2.Engine{}, &v1beta2.Snapshot{}
	engine.Name, engine.Namespace = storedVolume(i)+"-e-0", w.Namespace
	began := time.Now()
	if err := w.SetStatus(ctx, engine, map[string]any{"snapshots": map[string]any{storedSnapshot(i,
		n): map[string]any{"size": strconv.Itoa(size)}}}); err != nil {
		return 0, err
	}
	err := w.WaitSlowly(ctx, "the new size of a snapshot", time.Millisecond, time.Minute, func(ctx context.Context) (string, error) {
		if err := w.Get(ctx, storedSnapshot(i, n), s); err != nil {
			return "", err
		}
		if s.Status.Size != int64(size) {
			return fmt.Sprintf("it is %d", s.Status.Size), nil
		}
		return "", nil
	})
	return milliseconds(time.Since(began)), err
}

// spent is the processor time of a process in seconds, and its number of snapshot reconciles.
func spent(ctx context.Context, w *world.World, process *world.Process) (cpu, reconciles float64, err error) {
	lines, err := w.Metrics(ctx, process.Name)
	return sum(lines, "process_cpu_seconds_total", ""), sum(lines, "controller_runtime_reconcile_total", `controller="snapshot"`), err
}
