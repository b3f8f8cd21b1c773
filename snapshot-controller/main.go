// The snapshot-controller decides about Snapshot objects: when a snapshot is taken, also by the clock, when its data is
// removed, and when its volume is attached for that. It never speaks to the data plane.
package main

import (
	"context"
	_ "embed"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/snapshot-controller/internal/backupcontroller"
	"drover.dev/drover/snapshot-controller/internal/csisnapshotcontroller"
	"drover.dev/drover/snapshot-controller/internal/recurringcontroller"
	"drover.dev/drover/snapshot-controller/internal/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/snapshotcontroller"
)

//go:embed VERSION
var version string

func main() {
	take := csisnapshotcontroller.DefaultOptions()
	runkit.Main(runkit.Program{
		Name:    snapshotcontroller.Owner,
		Version: version,
		Short:   "Decides when snapshots are taken and removed",
		Long: "snapshot-controller approves the taking and the removal of snapshots within the limits of their volume and node, has " +
			"detached volumes attached for it, and copies what the engine tells of each into its Snapshot. What it approves, im-monitor carries out.",
		Flags:     take.AddFlags,
		Contracts: []string{"1"},
		Cache:     snapshotcontroller.Cached(),
		Setup:     func(ctx context.Context, rt *runkit.Runtime) error { return setup(ctx, rt, take) },
	})
}

// setup wires the controllers; each concern is one.
func setup(ctx context.Context, rt *runkit.Runtime, take csisnapshotcontroller.Options) error {
	settings := settingcontroller.NewSource(rt.Client, rt.Namespace)
	if err := settingcontroller.Setup(rt, settings); err != nil {
		return err
	}
	if err := snapshotcontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	if err := backupcontroller.Setup(ctx, rt); err != nil {
		return err
	}
	if err := recurringcontroller.Setup(ctx, rt); err != nil {
		return err
	}
	return csisnapshotcontroller.Setup(ctx, rt, take, metrics.Registry)
}
