// Command bench measures Drover: the real binaries against a real API server, through recording proxies that count.
// It prints a table while it runs and writes bench.json. Counts are exact; times are medians or percentiles of at least
// five runs, given beside the API server's own time in the same run, because machines are noisy. A goal that is
// missed is printed as missed.
//
//	bench                   every group
//	bench --group orphan    one group; --help has their names
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
		{"scale", scale}, {"faults", faults}, {"failover", failover}, {"idle", idle}, {"plugin", plugin},
		{"crowd", crowdOfVolumes}, {"gateway", gateway}}
}

func groupNames() string {
	var names []string
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return strings.Join(names, ", ")
}

func main() {
	only := flag.String("group", "", "one group: "+groupNames()+"; empty means all")
	var o outputs
	flag.StringVar(&o.results, "out", "bench.json", "file for the results")
	flag.StringVar(&o.history, "record", "", "file of earlier measurements, to which this one is added; empty means none")
	flag.StringVar(&o.page, "page", "", "page to write from --record; empty means none")
	flag.StringVar(&o.check, "check", "", "file of earlier measurements: fail where a result is more than 20 % worse than their mean")
	flag.IntVar(&manyNodes, "nodes", manyNodes, "nodes of the large cluster of the groups quiet and scale")
	flag.IntVar(&manyInstances, "instances", manyInstances, "instances of the large cluster")
	flag.IntVar(&manyVolumes, "volumes", manyVolumes, "volumes of the group attach that are attached at once")
	flag.IntVar(&crowdVolumes, "crowd-volumes", crowdVolumes, "volumes of the group crowd, with three replicas each")
	flag.IntVar(&crowdNodes, "crowd-nodes", crowdNodes, "nodes of the group crowd")
	flag.DurationVar(&crowdQuiet, "crowd-quiet", crowdQuiet, "how long the group crowd measures while nothing happens")
	flag.IntVar(&snapshotVolumes, "snapshot-volumes", snapshotVolumes, "volumes of the group snapshot, with 30 snapshots each")
	flag.IntVar(&manyUpgraded, "upgraded", manyUpgraded,
		"most volumes of a node whose upgrade is measured in the group upgrade: 10, 100 or 500")
	flag.Var(enumflag.Words(&attachPart, "latency", "cycle", "bulk"), "attach-part",
		"part of the group attach: latency, cycle, bulk (with the quiet time after it); empty means all")
	flag.Var(enumflag.Words(&upgradePart, "pauses", "writes", "growth"), "upgrade-part",
		"part of the group upgrade: pauses, writes, growth; empty means all")
	flag.Var(enumflag.Words(&snapshotPart, "stored", "living", "cost", "wave", "adopted"), "snapshot-part",
		"part of the group snapshot: stored, living; of living: cost, wave, adopted; empty means all")
	flag.IntVar(&gatewayVolumes, "gateway-volumes", gatewayVolumes, "volumes of the group gateway, with three replicas each")
	flag.DurationVar(&gatewayFor, "gateway-for", gatewayFor, "how long the group gateway measures each value")
	flag.DurationVar(&idleFor, "idle-for", idleFor, "how long the group idle measures while nothing happens")
	flag.StringVar(&profileDirectory, "profiles", "",
		"directory for profiles of the groups attach, gateway, idle, scale and snapshot; empty takes none")
	flag.DurationVar(&snapshotQuiet, "snapshot-quiet", snapshotQuiet,
		"how long the group snapshot counts writes while nothing happens")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *only, o)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// outputs are the files to write and to compare with; empty means none.
type outputs struct{ results, history, page, check string }

// changed are the flags of the measurement that differ from their defaults, as on a command line.
func changed() string {
	about := []string{"group", "out", "record", "page", "check", "profiles"}
	var out []string
	flag.Visit(func(f *flag.Flag) {
		if !slices.Contains(about, f.Name) {
			out = append(out, fmt.Sprintf("--%s=%s", f.Name, f.Value))
		}
	})
	return strings.Join(out, " ")
}

func run(ctx context.Context, only string, o outputs) error {
	chosen := slices.DeleteFunc(groups(), func(g group) bool { return only != "" && g.name != only })
	if len(chosen) == 0 {
		return fmt.Errorf("no group %q; there are %s", strings.TrimSpace(only), groupNames())
	}
	r := &report{out: os.Stdout}
	var worse []string
	for _, g := range chosen {
		r.logf("group %s", g.name)
		m, before := begin(g.name, changed()), len(r.results)
		if err := g.run(ctx, r); err != nil {
			return fmt.Errorf("group %s: %w", g.name, err)
		}
		m.Results = r.results[before:]
		// The results are kept when the next group fails.
		if err := r.write(o.results); err != nil {
			return err
		}
		more, err := o.remember(m)
		if err != nil {
			return err
		}
		worse = append(worse, more...)
	}
	r.logf("wrote %s", o.results)
	if len(worse) > 0 {
		return fmt.Errorf("worse than before:\n  %s", strings.Join(worse, "\n  "))
	}
	return nil
}

// remember adds a measurement to the history and its page, and returns what is worse than the history to check against.
func (o outputs) remember(m Measurement) (worse []string, err error) {
	if o.check != "" {
		earlier, err := readHistory(o.check)
		if err != nil {
			return nil, err
		}
		worse = earlier.worse(m)
	}
	if o.history == "" {
		return worse, nil
	}
	h, err := readHistory(o.history)
	if err != nil {
		return nil, err
	}
	h = h.with(m)
	if err := h.write(o.history); err != nil || o.page == "" {
		return worse, err
	}
	return worse, h.writePage(o.page)
}
