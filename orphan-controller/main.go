// The orphan-controller decides what becomes of Orphan objects: whether the cleanup of an orphaned runtime instance is
// approved, whether policy deletes the orphan, and when its finalizer is removed. It never calls the data plane.
package main

import (
	"context"
	_ "embed"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/orphan-controller/internal/controller"
	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/runkit"
)

//go:embed VERSION
var version string

func main() {
	limits := orphan.DefaultLimits()
	runkit.Main(runkit.Program{
		Name:    controller.Owner,
		Version: version,
		Short:   "Decides what becomes of orphaned runtime instances",
		Long: "orphan-controller approves the cleanup of orphaned runtime instances, deletes orphans by policy (auto deletion, " +
			"eviction), and drops the finalizer of those whose end is proven. im-monitor executes what it approves.",
		Flags:     func(flags *pflag.FlagSet) { addFlags(flags, &limits) },
		Contracts: []string{"1"},
		Cache:     controller.Cached(),
		Setup: func(ctx context.Context, rt *runkit.Runtime) error {
			return controller.Setup(ctx, rt, limits, metrics.Registry)
		},
	})
}

func addFlags(flags *pflag.FlagSet, limits *orphan.Limits) {
	flags.BoolVar(&limits.DryRun, "dry-run-auto-deletion", limits.DryRun,
		"delete nothing by policy (auto deletion, eviction); report in a condition, an event and a metric what would be deleted")
	flags.IntVar(&limits.InFlightPerNode, "policy-deletions-per-node", limits.InFlightPerNode,
		"limit of concurrent deletions by policy on a node")
	flags.IntVar(&limits.FloodCount, "flood-count", limits.FloodCount,
		"auto deletion is held back when at least this number of instances of a node lost their CRs within --flood-window")
	flags.IntVar(&limits.FloodPercent, "flood-percent", limits.FloodPercent,
		"and when they are more than this percentage of the node's instances")
	flags.DurationVar(&limits.FloodWindow, "flood-window", limits.FloodWindow, "the time within which lost CRs are counted as one flood")
	flags.DurationVar(&limits.EvaluationWait, "evaluation-wait", limits.EvaluationWait,
		"how long an orphan that was deleted before its evaluation waits for im-monitor to evaluate it; longer than its --post-election-delay")
	runkit.RenamedFlag(flags, "judgement-wait", "evaluation-wait")
}
