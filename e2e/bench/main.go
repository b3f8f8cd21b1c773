// Command bench measures Drover: the real binaries against a real API server, through recording proxies that count.
// It prints a table while it runs and writes bench.json. Counts are exact; times are medians or percentiles of at least
// five runs, given beside the API server's own time in the same run, because machines are noisy. A goal that is
// missed is printed as missed.
//
//	bench                   every group
//	bench --group orphan    one group: orphan, attach, snapshot, upgrade, quiet, scale, faults, failover
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"drover.dev/drover/e2e/enumflag"
)

// group is one part of the benchmark, with a World of its own.
type group struct {
	name string
	run  func(context.Context, *report) error
}

func groups() []group {
	return []group{{"orphan", orphan}, {"attach", attach}, {"snapshot", snapshots}, {"upgrade", upgrade}, {"quiet", quiet},
		{"scale", scale}, {"faults", faults}, {"failover", failover}}
}

func main() {
	only := flag.String("group", "", "one group: orphan, attach, snapshot, upgrade, quiet, scale, faults, failover; empty means all")
	out := flag.String("out", "bench.json", "file for the results")
	flag.IntVar(&manyNodes, "nodes", manyNodes, "nodes of the large cluster of the groups quiet and scale")
	flag.IntVar(&manyInstances, "instances", manyInstances, "instances of the large cluster")
	flag.IntVar(&manyVolumes, "volumes", manyVolumes, "volumes of the group attach that are attached at once")
	flag.IntVar(&snapshotVolumes, "snapshot-volumes", snapshotVolumes, "volumes of the group snapshot, with 30 snapshots each")
	flag.IntVar(&manyUpgraded, "upgraded", manyUpgraded,
		"most volumes of a node whose upgrade is measured in the group upgrade: 10, 100 or 500")
	flag.Func("upgrade-part", "part of the group upgrade: pauses, writes, growth; empty means all",
		enumflag.Words(&upgradePart, "pauses", "writes", "growth"))
	flag.Func("snapshot-part", "half of the group snapshot: stored, living; empty means both",
		enumflag.Words(&snapshotPart, "stored", "living"))
	flag.DurationVar(&snapshotQuiet, "snapshot-quiet", snapshotQuiet, "how long the group snapshot counts writes while nothing happens")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *only, *out)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only, out string) error {
	chosen := slices.DeleteFunc(groups(), func(g group) bool { return only != "" && g.name != only })
	if len(chosen) == 0 {
		return fmt.Errorf("no group %q; there are orphan, attach, snapshot, upgrade, quiet, scale, faults and failover",
			strings.TrimSpace(only))
	}
	r := &report{out: os.Stdout}
	for _, g := range chosen {
		r.logf("group %s", g.name)
		if err := g.run(ctx, r); err != nil {
			return fmt.Errorf("group %s: %w", g.name, err)
		}
		// The results are kept when the next group fails.
		if err := r.write(out); err != nil {
			return err
		}
	}
	r.logf("wrote %s", out)
	return nil
}
