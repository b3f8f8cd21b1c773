package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/world"
)

// profileDirectory is where profiles of controllers go; empty: none are taken.
var profileDirectory string

// profileFile is the path, without an ending, for profiles of that name. It makes the directory.
func profileFile(name string) (string, error) {
	if err := os.MkdirAll(profileDirectory, 0o755); err != nil {
		return "", fmt.Errorf("creating the directory of profiles: %w", err)
	}
	return filepath.Join(profileDirectory, name), nil
}

// processesOf are the World's controllers: for each of the suffixes all of their processes with it.
func processesOf(w *world.World, suffixes ...string) []*world.Process {
	var out []*world.Process
	for _, suffix := range suffixes {
		for _, controller := range w.Controllers() {
			out = append(out, w.Process(controller+suffix))
		}
	}
	return out
}

// processorProfiles takes profiles of what processes do in so much time, if profiles are wanted; what it returns waits for them.
func processorProfiles(ctx context.Context, name string, during time.Duration, processes ...*world.Process) (wait func() error, err error) {
	if profileDirectory == "" {
		return func() error { return nil }, nil
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, process := range processes {
		file, err := profileFile(process.Name + "-" + name)
		if err != nil {
			return nil, err
		}
		group.Go(func() error {
			return process.Profile(ctx, fmt.Sprintf("profile?seconds=%.0f", during.Seconds()), file+".cpu.pb.gz")
		})
	}
	return group.Wait, nil
}

// worldOfMany has so many nodes and all five controllers, for many volumes.
func worldOfMany(ctx context.Context, r *report, nodes int) (*world.World, error) {
	return world.Start(ctx, world.Options{RealTimes: true, Nodes: names(nodes), Record: true, Attach: true, Snapshots: true, Upgrades: true,
		Log: r.logf, Flags: measured(), SimulatorArgs: instant()})
}

// instant are the simulator's arguments with which its instances start and end at once, and its streams carry changes only.
func instant() []string {
	return []string{"--start-time", "0", "--stop-time", "0", "--linger", "0", "--heartbeat", "0", "--status-period", "0",
		"--log-level", "warn"}
}

// measured are the flags of measured controllers: they log, and poll, as in production. A World's shorter intervals would poll engines ten
// times as often.
func measured() map[string][]string {
	flags := map[string][]string{}
	for _, controller := range world.EveryController() {
		flags[controller] = []string{"--log-level=info", "--log-format=json"}
	}
	return flags
}

// used are the processor seconds of the World's controllers: of their processes with that suffix.
func used(w *world.World, suffix string) (map[string]float64, error) {
	return ofEach(w, suffix, func(p *world.Process) (float64, error) {
		processor, err := p.Processor()
		return processor.Seconds(), err
	})
}

// megabytes are a figure of memory of the World's controllers: of their processes with that suffix.
func megabytes(w *world.World, suffix string, figure func(*world.Process) (int64, error)) (map[string]float64, error) {
	return ofEach(w, suffix, func(p *world.Process) (float64, error) {
		bytes, err := figure(p)
		return float64(bytes) / 1e6, err
	})
}

func ofEach(w *world.World, suffix string, figure func(*world.Process) (float64, error)) (map[string]float64, error) {
	out := map[string]float64{}
	for _, controller := range w.Controllers() {
		value, err := figure(w.Process(controller + suffix))
		if err != nil {
			return nil, err
		}
		out[controller] = value
	}
	return out, nil
}
