package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
)

// snapshotVolumes is how many volumes the group snapshot has; each has a chain of snapshots.
var snapshotVolumes = 1000

// fewVolumes is the small population that the large one is compared with.
const fewVolumes = 10

// snapshotPart is the part of the group that is run: stored or living, of living one of cost, wave and adopted; all where it is empty.
var snapshotPart string

// snapshots measures snapshot-controller beside many snapshots that are stored, and then all controllers while as many are
// made, kept and removed.
func snapshots(ctx context.Context, r *report) error {
	if snapshotPart == "" || snapshotPart == "stored" {
		small, err := storedPopulation(ctx, r, fewVolumes)
		if err != nil {
			return err
		}
		large, err := storedPopulation(ctx, r, snapshotVolumes)
		if err != nil {
			return err
		}
		compare(r, small, large)
	}
	if snapshotPart == "stored" {
		return nil
	}
	return living(ctx, r)
}

// figures are the measurements with one stored population.
type figures struct {
	snapshots                         int
	seconds, spent, rss, heap, writes []float64 // of a start
	latency, cpu, reconciles, busy    []float64 // of one engine's change
}

// storedPopulation starts snapshot-controller beside a stored population, five times, and then changes engines.
func storedPopulation(ctx context.Context, r *report, volumes int) (f figures, err error) {
	kept, err := snapshotPopulation(volumes).stored(ctx, r)
	if err != nil {
		return f, err
	}
	f.snapshots = volumes * chain
	w, err := world.Start(ctx, world.Options{RealTimes: true, Nodes: names(1), Attach: true, Snapshots: true, NoControllers: true,
		Record: true, DataFrom: kept,
		Flags: map[string][]string{world.SnapshotController: {"--log-level=info", "--log-format=json"}}})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for run := range runs {
		process, err := coldStart(ctx, r, w, &f, run)
		if err != nil {
			return f, err
		}
		if run == runs-1 {
			return f, changes(ctx, r, w, process, volumes, &f)
		}
		if err := w.Remove(process); err != nil {
			return f, err
		}
	}
	return f, nil
}

// coldStart measures one start: until every snapshot was evaluated and the queue is empty.
func coldStart(ctx context.Context, r *report, w *world.World, f *figures, run int) (*world.Process, error) {
	w.API.Reset()
	began := time.Now()
	process, err := w.StartController(ctx, world.SnapshotController, fmt.Sprintf("-cold-%d", run))
	if err != nil {
		return nil, err
	}
	profiles, err := processorProfiles(ctx, fmt.Sprintf("%d-snapshots", f.snapshots), 10*time.Second, process)
	if err != nil {
		return nil, err
	}
	// Serving its metrics costs the process some time, too.
	if err := w.WaitSlowly(ctx, "the evaluation of every snapshot", 100*time.Millisecond, 10*time.Minute,
		func(ctx context.Context) (string, error) {
			lines, err := w.Metrics(ctx, process.Name)
			if err != nil {
				return err.Error(), nil
			}
			evaluated, waiting := sum(lines, "controller_runtime_reconcile_total", `controller="snapshot"`),
				sum(lines, "workqueue_depth", `controller="snapshot"`)
			if evaluated < float64(f.snapshots) || waiting > 0 {
				return fmt.Sprintf("%.0f evaluations, %.0f waiting", evaluated, waiting), nil
			}
			return "", nil
		}); err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	cpu, _, err := spent(ctx, w, process)
	if err != nil {
		return nil, err
	}
	lines, err := collected(ctx, w, process)
	if err != nil {
		return nil, err
	}
	rss, err := process.RSS()
	if err := errors.Join(err, profiles()); err != nil {
		return nil, err
	}
	f.seconds, f.spent, f.rss = append(f.seconds, seconds), append(f.spent, cpu), append(f.rss, float64(rss)/1e6)
	f.heap = append(f.heap, sum(lines, "go_gc_heap_live_bytes", "")/1e6)
	f.writes = append(f.writes, float64(w.API.Counts().Sum(write)))
	r.logf("  %d snapshots, start %d of %d: settled after %.2f s, %.2f s of processor time, %.0f writes; %.0f MB resident, %.1f MB live",
		f.snapshots, run+1, runs,
		seconds, cpu, f.writes[run], f.rss[run], f.heap[run])
	for _, line := range w.API.Counts().Lines(write) {
		r.logf("    %s", line)
	}
	return process, nil
}

// collected waits for a garbage collection after the start and until its memory was returned, and gives the metrics of then. Memory that
// only the start needed is freed within some seconds by a forced collection; when that came before everything was evaluated, the next
// collection shows what is kept.
func collected(ctx context.Context, w *world.World, process *world.Process) (lines []string, err error) {
	lines, err = w.Metrics(ctx, process.Name)
	if err != nil {
		return nil, err
	}
	counter := "go_gc_cycles_forced_gc_cycles_total"
	if sum(lines, counter, "") > 0 {
		counter = "go_gc_cycles_total_gc_cycles_total"
	}
	before := sum(lines, counter, "")
	err = w.WaitSlowly(ctx, "a collection after the start", time.Second, 3*time.Minute, func(ctx context.Context) (string, error) {
		lines, err = w.Metrics(ctx, process.Name)
		if err == nil && sum(lines, counter, "") == before {
			return "there was none", nil
		}
		return "", err
	})
	if err != nil {
		return nil, err
	}
	return lines, w.Pass(ctx, 2*time.Second)
}

// compare reports the measurements with the large population, and the growth from the small one.
func compare(r *report, small, large figures) {
	size := fmt.Sprintf("%d snapshots on %d attached volumes, stored as the controllers leave them", large.snapshots, large.snapshots/chain)
	r.add(Result{Name: "snapshot.cold_start", Value: median(large.seconds), Unit: "s", Goal: "<= 5", Runs: runs,
		Spread: spread(large.seconds),
		Note:   "from the process's start until each was evaluated and the queue is empty; " + size})
	r.add(Result{Name: "snapshot.cold_start.processor_time", Value: median(large.spent), Unit: "s", Runs: runs, Spread: spread(large.spent),
		Note: "of the process until then; " + size})
	r.add(Result{Name: "snapshot.cold_start.api_writes", Value: median(large.writes), Unit: "count", Goal: "0", Runs: runs,
		Spread: spread(large.writes), Note: size})
	r.add(Result{Name: "snapshot.rss", Value: median(large.rss), Unit: "MB", Goal: "<= 150", Runs: runs, Spread: spread(large.rss),
		Note: "after it settled; " + size})
	r.add(Result{Name: "snapshot.live_heap", Value: median(large.heap), Unit: "MB", Goal: "<= 100", Runs: runs, Spread: spread(large.heap),
		Note: "what the last collection marked; " + size})
	each := (median(large.heap) - median(small.heap)) * 1e6 / float64(large.snapshots-small.snapshots)
	r.add(Result{Name: "snapshot.heap_per_snapshot", Value: each, Unit: "bytes", Goal: "<= 2200", Runs: runs,
		Note: fmt.Sprintf("live heap at %d less that at %d snapshots, volumes, engines and replicas included", large.snapshots,
			small.snapshots)})
	sizes := fmt.Sprintf("%d : %d snapshots", large.snapshots, small.snapshots)
	r.add(Result{Name: "snapshot.engine_change_ratio", Value: median(large.cpu) / median(small.cpu), Unit: "ratio", Goal: "<= 1.5",
		Runs: runs, Spread: spread(large.cpu),
		Note: fmt.Sprintf("processor time of one change; %s; %.2f : %.2f ms; the spread is that of the large one", sizes, median(large.cpu),
			median(small.cpu))})
	r.add(Result{Name: "snapshot.engine_change_latency_ratio", Value: median(large.latency) / median(small.latency), Unit: "ratio",
		Runs: runs, Spread: spread(large.latency),
		Note: fmt.Sprintf("from the Engine's change to the Snapshot's, p50; %s; %.1f : %.1f ms", sizes, median(large.latency),
			median(small.latency))})
	r.add(Result{Name: "snapshot.engine_change.reconciles", Value: median(large.reconciles), Unit: "count", Goal: "<= 2", Runs: runs,
		Spread: spread(large.reconciles),
		Note:   "for one changed entry: one reconcile for the entry, and one for its own write"})
	r.add(Result{Name: "snapshot.engine_change.api_writes", Value: median(large.busy), Unit: "count", Goal: "1", Runs: runs,
		Spread: spread(large.busy)})
}
