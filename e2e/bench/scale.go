package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/e2e/world"
)

// The size of a large cluster; flags make it smaller.
var (
	manyNodes     = 1000
	manyInstances = 100_000
)

// scale measures im-monitor at full size: its memory, and how long it takes to evaluate every instance after a start.
func scale(ctx context.Context, r *report) (err error) {
	w, err := large(ctx, r, world.Options{NoControllers: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var evaluated, ready, memory, peak []float64
	for run := range runs {
		began := time.Now()
		process, err := w.StartController(ctx, world.IMMonitor, fmt.Sprintf("-cold-%d", run))
		if err != nil {
			return err
		}
		profiles, err := processorProfiles(ctx, fmt.Sprintf("run-%d", run), 15*time.Second, process)
		if err != nil {
			return err
		}
		inventories, all, err := evaluatedAll(ctx, w, process, began)
		if err != nil {
			return err
		}
		before, err := process.RSS()
		if err := errors.Join(err, profiles(), profiled(ctx, process, run)); err != nil {
			return err
		}
		if _, err := collected(ctx, w, process); err != nil {
			return err
		}
		rss, err := process.RSS()
		if err != nil {
			return err
		}
		ready, evaluated = append(ready, inventories), append(evaluated, all)
		memory, peak = append(memory, float64(rss)/1e6), append(peak, float64(before)/1e6)
		r.logf("  run %d of %d: inventories known after %.1f s, all evaluated after %.1f s, %.0f MB then, %.0f MB once it settled", run+1, runs,
			inventories, all, peak[run], memory[run])
		if err := w.Remove(process); err != nil {
			return err
		}
	}
	size := fmt.Sprintf("%d nodes, %d instances, as many objects", manyNodes, manyInstances)
	r.add(Result{Name: "scale.im_monitor.rss", Value: median(memory), Unit: "MB", Goal: "<= 700", Runs: runs, Spread: spread(memory),
		Note: "after it settled; " + size})
	r.add(Result{Name: "scale.im_monitor.start_rss", Value: median(peak), Unit: "MB", Runs: runs, Spread: spread(peak),
		Note: "when all was evaluated, before the memory that only the start needed is returned; " + size})
	r.add(Result{Name: "scale.inventories_known", Value: median(ready), Unit: "s", Runs: runs, Spread: spread(ready),
		Note: "from the process's start: lease, caches, connections, first lists; " + size})
	r.add(Result{Name: "scale.full_judgement", Value: median(evaluated), Unit: "s", Goal: "<= 8", Runs: runs, Spread: spread(evaluated),
		Note: "from the process's start, including the time above"})
	return microbenchmarks(ctx, r)
}

// profiled writes what a process holds and has allocated, if profiles are wanted.
func profiled(ctx context.Context, process *world.Process, run int) error {
	if profileDirectory == "" {
		return nil
	}
	file, err := profileFile(fmt.Sprintf("%s-run-%d", process.Name, run))
	if err != nil {
		return err
	}
	return errors.Join(process.Profile(ctx, "allocs", file+".allocs.pb.gz"), process.Profile(ctx, "heap?gc=1", file+".heap.pb.gz"))
}

// evaluatedAll waits until every inventory was read, then until every instance was evaluated; both in seconds from the start.
func evaluatedAll(ctx context.Context, w *world.World, process *world.Process, began time.Time) (inventories, all float64, err error) {
	err = w.Wait(ctx, "the evaluation of every instance", 10*time.Minute, func(ctx context.Context) (string, error) {
		lines, err := w.Metrics(ctx, process.Name)
		if err != nil {
			return err.Error(), nil
		}
		known := sum(lines, "drover_im_monitor_instance_managers", `="known"`)
		reconciled := sum(lines, "controller_runtime_reconcile_total", `controller="orphan-evaluation"`)
		depth := sum(lines, "workqueue_depth", `controller="orphan-evaluation"`)
		if inventories == 0 && known >= float64(2*manyNodes) {
			inventories = time.Since(began).Seconds()
		}
		if known < float64(2*manyNodes) || reconciled < float64(manyInstances) || depth > 0 {
			return fmt.Sprintf("%.0f inventories known, %.0f evaluations, %.0f waiting", known, reconciled, depth), nil
		}
		all = time.Since(began).Seconds()
		return "", nil
	})
	return inventories, all, err
}

// sum adds up the metric's lines that contain the label.
func sum(lines []string, name, label string) float64 {
	total := 0.0
	for _, line := range lines {
		metric, value, _ := strings.Cut(line, " ")
		family, labels, _ := strings.Cut(metric, "{")
		if !strings.HasSuffix(family, name) || !strings.Contains(labels, label) {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err == nil {
			total += number
		}
	}
	return total
}
