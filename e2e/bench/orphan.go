package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	runs    = 5
	samples = 100
	node    = "node-1"
)

var threeNodes = []string{"node-1", "node-2", "node-3"}

// orphan measures how soon an Orphan is visible, and what its whole life costs.
func orphan(ctx context.Context, r *report) (err error) {
	w, err := world.Start(ctx, world.Options{Nodes: threeNodes, Record: true, Log: r.logf, Flags: measured()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	seen, err := watch(ctx, w)
	if err != nil {
		return err
	}
	patch, patch99, err := floor(ctx, w)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("API server's own status patch: p50 %.1f ms, p99 %.1f ms", patch, patch99)
	if err := latency(ctx, r, w, seen, "orphan.event_to_cr", note, fromEvent); err != nil {
		return err
	}
	if err := latency(ctx, r, w, seen, "orphan.cr_change_to_cr", note, fromObject); err != nil {
		return err
	}
	return life(ctx, r, w, seen, patch)
}

// cause creates an orphan and returns it with the time at which its cause began.
type cause func(ctx context.Context, w *world.World, name string) (world.Stale, time.Time, error)

// fromEvent starts an instance that no object names.
func fromEvent(ctx context.Context, w *world.World, name string) (world.Stale, time.Time, error) {
	manager := w.InstanceManager(node, v1beta2.DataEngineV1)
	began := time.Now()
	running, err := w.StartInstance(ctx, world.Instance{InstanceManager: manager, Name: name, Type: v1beta2.InstanceTypeEngine,
		DataEngine: v1beta2.DataEngineV1, Volume: name})
	return world.Stale{Name: name, UUID: running.UUID, Type: v1beta2.InstanceTypeEngine, DataEngine: v1beta2.DataEngineV1,
		InstanceManager: manager, Node: node}, began, err
}

// fromObject deletes the Engine of a running instance.
func fromObject(ctx context.Context, w *world.World, name string) (world.Stale, time.Time, error) {
	v, err := w.CreateVolume(ctx, name, v1beta2.DataEngineV1, node)
	if err != nil {
		return world.Stale{}, time.Time{}, err
	}
	if err := w.WaitOwners(ctx, time.Minute); err != nil {
		return world.Stale{}, time.Time{}, err
	}
	stale, err := w.Stale(ctx, v, node)
	if err != nil {
		return world.Stale{}, time.Time{}, err
	}
	object, err := w.Owner(ctx, stale[0])
	if err != nil {
		return world.Stale{}, time.Time{}, err
	}
	// Its finalizer is removed first, so that the deletion is the one change that is measured.
	if err := w.Patch(ctx, object, map[string]any{"metadata": map[string]any{"finalizers": nil}}); err != nil {
		return world.Stale{}, time.Time{}, err
	}
	began := time.Now()
	if err := w.Admin.Delete(ctx, object); err != nil {
		return world.Stale{}, time.Time{}, fmt.Errorf("deleting the engine: %w", err)
	}
	return stale[0], began, nil
}

// latency measures from the cause to the Orphan's visibility: the p99 of each run, and the median of the runs.
func latency(ctx context.Context, r *report, w *world.World, seen *sightings, name, note string, make cause) error {
	var p50s, p99s []float64
	for run := range runs {
		var times []float64
		for sample := range samples {
			stale, began, err := make(ctx, w, fmt.Sprintf("%s-%d-%d-e-0", name[7:9], run, sample))
			if err != nil {
				return err
			}
			at, err := seen.wait(ctx, seen.seen, stale.Orphan())
			if err != nil {
				return err
			}
			times = append(times, milliseconds(at.Sub(began)))
			// One event after the other: the next begins once this orphan has all its conditions.
			if _, err := w.WaitOrphan(ctx, stale, time.Minute); err != nil {
				return err
			}
		}
		p50s, p99s = append(p50s, median(times)), append(p99s, percentile(times, 0.99))
		r.logf("  %s run %d of %d: p50 %.1f ms, p99 %.1f ms", name, run+1, runs, p50s[run], p99s[run])
		if err := w.Sweep(ctx); err != nil {
			return err
		}
	}
	r.add(Result{Name: name + ".p50", Value: median(p50s), Unit: "ms", Runs: runs, Spread: spread(p50s), Note: note})
	r.add(Result{Name: name + ".p99", Value: median(p99s), Unit: "ms", Goal: "<= 40", Runs: runs, Spread: spread(p99s),
		Note: fmt.Sprintf("%d samples a run; %s", samples, note)})
	return nil
}

// life counts the writes of one orphan from its cause to its end, including a person's deletion.
func life(ctx context.Context, r *report, w *world.World, seen *sightings, patch float64) error {
	var writes, unary, seconds, deletions []float64
	for run := range runs {
		if err := w.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		w.API.Reset()
		w.DataPlane.Reset()
		stale, began, err := fromEvent(ctx, w, fmt.Sprintf("life-%d-e-0", run))
		if err != nil {
			return err
		}
		if _, err := w.WaitOrphan(ctx, stale, time.Minute); err != nil {
			return err
		}
		requested := time.Now()
		if err := w.DeleteOrphan(ctx, stale.Orphan()); err != nil {
			return err
		}
		gone, err := seen.wait(ctx, seen.gone, stale.Orphan())
		if err != nil {
			return err
		}
		seconds, deletions = append(seconds, gone.Sub(began).Seconds()), append(deletions, milliseconds(gone.Sub(requested)))
		if err := w.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		writes = append(writes, float64(w.API.Counts().Sum(write)))
		unary = append(unary, float64(w.DataPlane.Counts().Sum(call)))
		if run == 0 {
			for _, request := range w.API.Writes() {
				r.logf("    %s", writeLine(request, began))
			}
			for _, line := range append(w.API.Counts().Lines(write), w.DataPlane.Counts().Lines(call)...) {
				r.logf("    %s", line)
			}
		}
	}
	r.add(Result{Name: "orphan.life.api_writes", Value: median(writes), Unit: "count", Goal: "<= 6", Runs: runs, Spread: spread(writes),
		Note: fmt.Sprintf("floor %.1f ms = writes x status patch p50; leases, events and the user's deletion not counted",
			median(writes)*patch)})
	r.add(Result{Name: "orphan.delete.p50", Value: median(deletions), Unit: "ms", Goal: "<= 150", Runs: runs, Spread: spread(deletions),
		Note: "from the user's deletion to the orphan's end"})
	r.add(Result{Name: "orphan.life.grpc_calls", Value: median(unary), Unit: "count", Runs: runs, Spread: spread(unary)})
	r.add(Result{Name: "orphan.life.seconds", Value: median(seconds), Unit: "s", Runs: runs, Spread: spread(seconds),
		Note: "from the instance's start to the orphan's end, deleted by the user as soon as it is visible; absence gap 500 ms"})
	return nil
}

func write(request record.Request) bool { return request.Kind == record.KindWrite }

func call(method record.Method) bool { return !method.Stream }
