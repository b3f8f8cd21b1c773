// The disk-controller prepares and measures the v1 disks of its node: directories with a configuration file. It reports
// them in the status of its own Node, and calls no data plane.
package main

import (
	"context"
	_ "embed"
	"maps"
	"os"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/disk-controller/internal/diskcontroller"
	"drover.dev/drover/disk-controller/internal/environment"
	"drover.dev/drover/disk-controller/internal/nodecontroller"
	"drover.dev/drover/disk-controller/internal/removalcontroller"
	"drover.dev/drover/disk-controller/internal/setting"
	"drover.dev/drover/shared/runkit"
	sharedsetting "drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/settingcontroller"
)

//go:embed VERSION
var version string

func main() {
	var options diskcontroller.Options
	var check nodecontroller.Options
	runkit.Main(runkit.Program{
		Name:    diskcontroller.Owner,
		Version: version,
		Short:   "Prepares and measures the v1 disks of a node",
		Long: "disk-controller runs on each node. It gives the directories of v1 disks their configuration file, checks that they still are " +
			"the disks that were recorded, measures their space, and writes all that to the status of its own Node.",
		Flags: func(flags *pflag.FlagSet) {
			options.AddFlags(flags, os.Getenv("NODE_NAME"))
			check.AddFlags(flags)
		},
		Contracts: []string{"1"},
		Complete: func(p *runkit.Program) error {
			p.Cache, p.Lease = diskcontroller.Cached(options.Node), diskcontroller.LeasePrefix+options.Node
			maps.Copy(p.Cache, nodecontroller.Cached(options.Node))
			return options.Validate()
		},
		Setup: func(ctx context.Context, rt *runkit.Runtime) error { return setup(ctx, rt, options, check) },
	})
}

// setup wires the controllers. Each pod reports bad values of settings by an event and a metric; it writes no status of a Setting, because
// another binary obeys each of these settings first.
func setup(ctx context.Context, rt *runkit.Runtime, options diskcontroller.Options, check nodecontroller.Options) error {
	settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Catalogue)
	err := settingcontroller.Setup(rt, settings, sharedsetting.DiskController, "drover_disk_controller_setting_invalid")
	if err != nil {
		return err
	}
	if err := diskcontroller.Setup(ctx, rt, settings, options, metrics.Registry); err != nil {
		return err
	}
	err = removalcontroller.Setup(ctx, rt, removalcontroller.Options{Node: options.Node, Root: directory.At(options.Root),
		Period: options.Period, Timeout: options.LookTimeout}, metrics.Registry)
	if err != nil {
		return err
	}
	// Each controller has a Looker of its own: an attempt of one is no attempt of the other that has not ended.
	check.Node, check.Look, check.Host = options.Node, diskcontroller.NewLooker(options).Look, environment.At(options.Root)
	return nodecontroller.Setup(ctx, rt, settings, check)
}
