package main

import (
	"context"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
)

const (
	// pausedVolumes are written to while their node is upgraded, each at this interval.
	pausedVolumes = 3
	pausedWrites  = time.Millisecond
)

// pauses upgrades a node under workloads, with a data plane that answers at once and with one that takes 5 ms for each call.
func (b *upgradeBench) pauses(ctx context.Context) error {
	name := func(i int) string { return fmt.Sprintf("pause-%d", i) }
	if err := b.volumesOn(ctx, name, pausedVolumes); err != nil {
		return err
	}
	lost, writes := 0.0, uint64(0)
	for _, latency := range []string{"0 ms", "5 ms"} {
		if latency != "0 ms" {
			if err := b.world.Inject(ctx, world.Fault{Kind: "latency", Delay: "5ms", DataEngine: "v2"}); err != nil {
				return err
			}
		}
		var longest []float64
		for run := range runs {
			pause, seen, bad, err := b.underWorkloads(ctx, name)
			if err != nil {
				return err
			}
			longest, lost, writes = append(longest, pause), lost+bad, writes+seen
			b.logf("  latency %s, run %d of %d: the longest pause of %d volumes was %.1f ms", latency, run+1, runs, pausedVolumes, pause)
		}
		b.add(Result{Name: "upgrade.io_pause.max." + latency[:1] + "ms", Value: percentile(longest, 1), Unit: "ms", Runs: runs,
			Spread: spread(longest),
			Note: fmt.Sprintf("relocation, switch back and rebuild, %d volumes, a write each %s; the data plane's calls take %s; status "+
				"patch p50 %.1f ms", pausedVolumes, pausedWrites, latency, b.patch)})
	}
	if err := b.world.Heal(ctx); err != nil {
		return err
	}
	b.add(Result{Name: "upgrade.lost_writes", Value: lost, Unit: "count", Goal: "0", Runs: 2 * runs,
		Note: fmt.Sprintf("lost, doubled, misdirected or failed, of %d writes", writes)})
	return b.drop(ctx, name, pausedVolumes)
}

// underWorkloads is one upgrade with a workload on each volume: the longest pause of any in milliseconds, how many writes there
// were, and how many went wrong.
func (b *upgradeBench) underWorkloads(ctx context.Context, name func(int) string) (pause float64, writes uint64, bad float64, err error) {
	for i := range pausedVolumes {
		if err := b.world.WriteOn(ctx, name(i), pausedWrites); err != nil {
			return 0, 0, 0, err
		}
	}
	if _, err := b.once(ctx); err != nil {
		return 0, 0, 0, err
	}
	for i := range pausedVolumes {
		seen, err := b.world.StopWriting(ctx, name(i))
		if err != nil {
			return 0, 0, 0, err
		}
		pause = max(pause, milliseconds(seen.Pause()))
		writes += seen.Writes
		bad += float64(seen.Lost + seen.Doubled + seen.Misdirected + seen.Failed)
		if err := b.world.Verify(ctx, name(i)); err != nil {
			return 0, 0, 0, err
		}
	}
	return pause, writes, bad, b.world.NoHarm(ctx)
}
