package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"drover.dev/drover/e2e/world"
)

// pluginPopulation is the cluster that the commands of kubectl drover are measured on.
var pluginPopulation = storedCluster{volumes: 1000, replicas: 2, chain: 5}

// plugin measures whole processes of kubectl drover, from their start to their end.
func plugin(ctx context.Context, r *report) (err error) {
	kept, err := pluginPopulation.stored(ctx, r)
	if err != nil {
		return err
	}
	w, err := world.Start(ctx, world.Options{Nodes: names(1), Attach: true, Snapshots: true, NoControllers: true, DataFrom: kept})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := world.Build(ctx, w.Dir, nil, world.Plugin); err != nil {
		return err
	}
	kubeconfig, err := w.AdminKubeconfig()
	if err != nil {
		return err
	}
	program, access := filepath.Join(w.Dir, world.Plugin), []string{"-n", w.Namespace, "--kubeconfig", kubeconfig}
	if err := w.Wait(ctx, "the API server's caches", 2*time.Minute, func(ctx context.Context) (string, error) {
		if _, err := timed(ctx, program, append([]string{"report", "--file", filepath.Join(w.Dir, "warm.zip")}, access...)...); err != nil {
			return err.Error(), nil
		}
		return "", nil
	}); err != nil {
		return err
	}
	volume := storedVolume(pluginPopulation.volumes / 2)
	size := fmt.Sprintf("%d volumes, %d replicas, %d snapshots; a whole process", pluginPopulation.volumes,
		pluginPopulation.volumes*pluginPopulation.replicas, pluginPopulation.volumes*pluginPopulation.chain)
	for _, one := range []struct {
		name, goal string
		args       []string
	}{
		{"plugin.why", "<= 200", []string{"why", volume}},
		{"plugin.tree", "", []string{"tree", volume}},
		{"plugin.snapshots", "", []string{"snapshots", volume}},
		{"plugin.status", "<= 1000", []string{"status"}},
		{"plugin.doctor", "", []string{"doctor"}},
		{"plugin.upgrade_plan", "", []string{"upgrade", "plan"}},
	} {
		var took []float64
		for range runs {
			ms, err := timed(ctx, program, append(one.args, access...)...)
			if err != nil {
				return err
			}
			took = append(took, ms)
		}
		r.add(Result{Name: one.name, Value: median(took), Unit: "ms", Goal: one.goal, Runs: runs, Spread: spread(took), Note: size})
	}
	return nil
}

// timed runs a command of kubectl drover and returns how many milliseconds it took. Exit codes above 1 are its findings.
func timed(ctx context.Context, program string, args ...string) (float64, error) {
	began := time.Now()
	_, err := exec.CommandContext(ctx, program, args...).Output()
	took := float64(time.Since(began).Microseconds()) / 1000
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() > 1 {
		return took, nil
	}
	if exited != nil {
		return 0, fmt.Errorf("kubectl drover %v: %w: %s", args, err, exited.Stderr)
	}
	if err != nil {
		return 0, fmt.Errorf("kubectl drover %v: %w", args, err)
	}
	return took, nil
}
