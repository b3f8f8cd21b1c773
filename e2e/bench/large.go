package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"drover.dev/drover/e2e/world"
)

// large starts a World of full size. Its objects are created once and kept as an etcd directory in the cache; the
// simulator's instances are created for each run.
func large(ctx context.Context, r *report, options world.Options) (*world.World, error) {
	options.Nodes = names(manyNodes)
	// The default flags of a real controller.
	options.Log, options.RealTimes, options.Flags = r.logf, true,
		map[string][]string{world.IMMonitor: {"--log-level=info"}, world.OrphanController: {"--log-level=info"}}
	options.SimulatorArgs = []string{"--heartbeat", "0", "--status-period", "0", "--sticky-addresses", "--workers", "32", "--log-level",
		"warn"}
	kept, err := population(ctx, r, options)
	if err != nil {
		return nil, err
	}
	options.DataFrom = kept
	w, err := world.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := w.WaitPods(ctx, 5*time.Minute); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	r.logf("  creating %d instances in the simulator", manyInstances)
	if _, err := w.PutPopulation(ctx, manyInstances); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func names(count int) []string {
	out := make([]string, count)
	for i := range out {
		out[i] = fmt.Sprintf("node-%d", i+1)
	}
	return out
}

// population is the etcd directory of the large cluster: nodes, instance managers with their pods, and an object for
// every instance. It is created if it does not exist.
func population(ctx context.Context, r *report, options world.Options) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory: %w", err)
	}
	dir := filepath.Join(base, "drover", fmt.Sprintf("population-%d-%d", manyNodes, manyInstances))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	staging, err := os.MkdirTemp(filepath.Dir(dir), "populating-")
	if err != nil {
		return "", fmt.Errorf("creating a directory for the population: %w", err)
	}
	r.logf("  creating the population once: %d nodes, %d objects; this takes some minutes", manyNodes, manyInstances)
	options.DataDir, options.NoControllers, options.Record = staging, false, false
	w, err := world.Start(ctx, options)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(staging))
	}
	began := time.Now()
	_, failed := w.Populate(ctx, manyInstances, 0)
	r.logf("  created the objects in %s", time.Since(began).Round(time.Second))
	if failed == nil {
		failed = w.WaitListed(ctx, manyInstances, 5*time.Minute)
	}
	if err := errors.Join(failed, w.Close()); err != nil {
		return "", errors.Join(err, os.RemoveAll(staging))
	}
	if err := os.Rename(staging, dir); err != nil {
		return "", fmt.Errorf("keeping the population: %w", err)
	}
	return dir, nil
}
