// Command im-monitor keeps the facts about instance managers and carries out what other controllers approved. It is the
// only one of Drover's controllers that speaks to the data plane.
package main

import (
	"context"
	_ "embed"

	"drover.dev/drover/im-monitor/internal/cachetransform"
	"drover.dev/drover/im-monitor/internal/diskcontroller"
	"drover.dev/drover/im-monitor/internal/disruptioncontroller"
	"drover.dev/drover/im-monitor/internal/engineimagecontroller"
	"drover.dev/drover/im-monitor/internal/enginepoll"
	"drover.dev/drover/im-monitor/internal/flags"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/instancemanagercontroller"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/nodecontroller"
	"drover.dev/drover/im-monitor/internal/nodedisks"
	"drover.dev/drover/im-monitor/internal/orphancontroller"
	"drover.dev/drover/im-monitor/internal/ownershipcontroller"
	"drover.dev/drover/im-monitor/internal/removalcontroller"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
)

//go:embed VERSION
var version string

func main() {
	var options flags.Options
	runkit.Main(runkit.Program{
		Name:    "im-monitor",
		Version: version,
		Short:   "Observes nodes, instance managers and runtime instances, and executes approved operations",
		Long: `im-monitor creates Longhorn Nodes and instance managers, reads what runs on each of them, evaluates which runtime
instances are orphaned, and carries out deletions that orphan-controller approved. It decides no policy.`,
		Flags:     options.Add,
		Contracts: []string{"1"},
		Cache:     cachetransform.Cache(),
		Setup:     func(ctx context.Context, rt *runkit.Runtime) error { return setup(ctx, rt, &options) },
	})
}

// setup wires the controllers. All of them subscribe to the inventory before the manager starts it.
func setup(ctx context.Context, rt *runkit.Runtime, options *flags.Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	dialer, err := dial(rt, options)
	if err != nil {
		return err
	}
	known := options.Inventory(dialer, nodedisks.Reader(rt.Client, rt.Namespace), rt.Clock)
	settings := settingcontroller.NewSource(rt.Client, rt.Namespace, options.PodDefaults())
	if err := settingcontroller.Setup(rt, settings); err != nil {
		return err
	}
	if err := nodecontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	managers, err := options.ManagerOptions()
	if err != nil {
		return err
	}
	if err := instancemanagercontroller.Setup(ctx, rt, settings, known, managers); err != nil {
		return err
	}
	if err := diskcontroller.Setup(ctx, rt, settings, known, known.Disk, dialer, options.DiskOptions()); err != nil {
		return err
	}
	if err := ownershipcontroller.Setup(ctx, rt, options.ManageInstances); err != nil {
		return err
	}
	if err := orphancontroller.Setup(rt, known, options.OrphanOptions()); err != nil {
		return err
	}
	if options.ManageInstances {
		if err := setupInstances(ctx, rt, dialer, settings, known, options); err != nil {
			return err
		}
	}
	return rt.Manager.Add(known)
}

// dial is the way to instance managers: for calls with an effect it is open as long as the way to the API server is for writes.
func dial(rt *runkit.Runtime, options *flags.Options) (*imclient.Dialer, error) {
	return options.Dialer(rt.Fence.Check)
}

// engineOptions are those of polling engines, with the settings that they obey.
func engineOptions(settings *settingcontroller.Source, options *flags.Options) enginepoll.Options {
	out := options.EngineOptions()
	out.Cleanup = func(ctx context.Context) (enginepoll.Cleanup, error) {
		values, err := settings.Current(ctx)
		return enginepoll.Cleanup{On: values.CleanUpSystemSnapshots && !values.DisablePurge, PurgesPerNode: values.PurgesPerNode}, err
	}
	out.Copying = func(ctx context.Context, dataEngine string) (enginepoll.Copying, error) {
		values, err := settings.Current(ctx)
		if dataEngine == v1beta2.DataEngineV2 {
			return enginepoll.Copying(values.CopyingV2), err
		}
		return enginepoll.Copying(values.Copying), err
	}
	return out
}

// setupInstances sets up the controllers of the instances of volumes: polls of engines, starts and stops,
// and whose data goes.
func setupInstances(ctx context.Context, rt *runkit.Runtime, dialer *imclient.Dialer, settings *settingcontroller.Source,
	store inventory.Store, options *flags.Options) error {
	// Without --manage-instances the budgets are longhorn-manager's.
	if err := disruptioncontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	// And so are the engine images.
	if err := engineimagecontroller.Setup(ctx, rt, settings, options.EngineImageOptions()); err != nil {
		return err
	}
	engines, err := enginepoll.Setup(ctx, rt, dialer.Proxy, engineOptions(settings, options))
	if err != nil {
		return err
	}
	rt.AfterStop(engines.HandOver)
	instances := options.InstanceOptions()
	instances.BeforeEngineStop, instances.Working, instances.Polled = engines.PollBeforeStop, engines.Working, engines.Polled
	if err := instancecontroller.Setup(ctx, rt, settings, store, instances); err != nil {
		return err
	}
	removals := options.RemovalOptions()
	removals.Poll = engines.Modes
	return removalcontroller.Setup(ctx, rt, store, removals)
}
