// The orphan-controller decides what becomes of Orphan objects: whether the cleanup of an orphaned runtime instance is
// approved, whether policy deletes the orphan, and when its finalizer goes. It never speaks to the data plane.
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
		Long: "orphan-controller approves the cleanup of orphaned runtime instances, deletes orphans by policy (auto deletion, eviction), " +
			"and drops the finalizer of those whose end is proven. What it approves, im-monitor carries out.",
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
		"delete nothing by policy (auto deletion, eviction); say in a condition, an event and a metric what would be deleted")
	flags.IntVar(&limits.InFlightPerNode, "policy-deletions-per-node", limits.InFlightPerNode,
		"how many deletions by policy may be under way at once on a node")
	flags.IntVar(&limits.FloodCount, "flood-count", limits.FloodCount,
		"auto deletion is held back when at least so many instances of a node lost their CRs at once")
	flags.IntVar(&limits.FloodPercent, "flood-percent", limits.FloodPercent,
		"and when they are more than so many percent of the node's instances")
	flags.DurationVar(&limits.FloodWindow, "flood-window", limits.FloodWindow, "what counts as at once")
	flags.DurationVar(&limits.EvaluationWait, "evaluation-wait", limits.EvaluationWait,
		"how long an orphan that was deleted before im-monitor evaluated it waits for that")
	runkit.RenamedFlag(flags, "judgement-wait", "evaluation-wait")
}
