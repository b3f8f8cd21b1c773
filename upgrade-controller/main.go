// The upgrade-controller replaces the v2 data engine under running volumes, node by node: it checks what blocks
// it, plans the order, relocates targets and switches them back, and reports what it waits for. It never calls the data plane.
package main

import (
	"context"
	_ "embed"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/upgrade-controller/internal/upgradecontroller"
)

//go:embed VERSION
var version string

func main() {
	options := upgradecontroller.Options{}
	runkit.Main(runkit.Program{
		Name:    upgradecontroller.Owner,
		Version: version,
		Short:   "Replaces the v2 data engine under running volumes, node by node",
		Long: `upgrade-controller serves DataEngineUpgradeManager objects: it names everything that stands against an upgrade before anything
is touched, then upgrades one node after the other. The targets of a node's volumes move to other nodes, its replicas leave
their engines, its instance manager is replaced, and everything comes back. What goes wrong before the replacement is rolled
back, after it carried forward. attach-controller and im-monitor do the work that it asks for.`,
		Contracts: []string{"1"},
		Flags:     options.AddFlags,
		Cache:     upgradecontroller.Cached(),
		Setup: func(ctx context.Context, rt *runkit.Runtime) error {
			return upgradecontroller.Setup(ctx, rt, metrics.Registry, options)
		},
	})
}
