// The snapshot-controller decides about Snapshot objects: when a snapshot is taken, also by the clock, when its data is
// removed, and when its volume is attached for that; so it does for Kubernetes and its VolumeSnapshots. It answers the API
// server about Snapshots. It never speaks to the data plane.
package main

import (
	"context"
	_ "embed"
	"maps"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/runkit"
	sharedsetting "drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/backupcontroller"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/backuptargetcontroller"
	"drover.dev/drover/snapshot-controller/internal/certificatecontroller"
	"drover.dev/drover/snapshot-controller/internal/csisnapshotcontroller"
	"drover.dev/drover/snapshot-controller/internal/recurringcontroller"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshotcontroller"
	"drover.dev/drover/snapshot-controller/internal/webhookserver"
)

//go:embed VERSION
var version string

func main() {
	o := options{take: csisnapshotcontroller.DefaultOptions(), answer: webhookserver.DefaultOptions(), stores: backupstores.DefaultOptions()}
	runkit.Main(runkit.Program{
		Name:    snapshotcontroller.Owner,
		Version: version,
		Short:   "Decides when snapshots are taken and removed",
		Long: "snapshot-controller approves the taking and the removal of snapshots within the limits of their volume and node, has " +
			"detached volumes attached for it, and copies what the engine reports about each into its Snapshot. It takes VolumeSnapshots " +
			"for Kubernetes, and answers the API server about Snapshots. What it approves, im-monitor carries out.",
		Flags:     o.addFlags,
		Contracts: []string{"1"},
		Cache:     cached(),
		Setup:     func(ctx context.Context, rt *runkit.Runtime) error { return setup(ctx, rt, o) },
	})
}

// options are those of the parts that can be turned off.
type options struct {
	take   csisnapshotcontroller.Options
	answer webhookserver.Options
	stores backupstores.Options
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	o.take.AddFlags(flags)
	o.answer.AddFlags(flags)
	o.stores.AddFlags(flags)
}

func cached() map[client.Object]cache.ByObject {
	out := snapshotcontroller.Cached()
	maps.Copy(out, certificatecontroller.Cached())
	maps.Copy(out, recurringcontroller.Cached())
	return out
}

// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings/status,verbs=patch,namespace=longhorn-system

// setup wires the controllers; each concern is one.
func setup(ctx context.Context, rt *runkit.Runtime, o options) error {
	settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Catalogue)
	if err := settingcontroller.Setup(rt, settings, sharedsetting.SnapshotController,
		"drover_snapshot_controller_setting_invalid"); err != nil {
		return err
	}
	if err := snapshotcontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	stores := &backupstores.Stores{Uncached: rt.Uncached, Namespace: rt.Namespace, Settings: settings, Options: o.stores}
	if err := backuptargetcontroller.Setup(ctx, rt, stores); err != nil {
		return err
	}
	if err := backupcontroller.Setup(ctx, rt, settings, stores); err != nil {
		return err
	}
	if err := recurringcontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	if err := webhookserver.Setup(ctx, rt, o.answer); err != nil {
		return err
	}
	return csisnapshotcontroller.Setup(ctx, rt, o.take, metrics.Registry)
}
