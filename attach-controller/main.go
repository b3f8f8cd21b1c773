// The attach-controller decides who may hold a volume and brings it there: attachment tickets, the volume's attach and
// detach machine, its replicas, and the attach of Kubernetes. It never speaks to the data plane.
package main

import (
	"context"

	"drover.dev/drover/attach-controller/internal/settingcontroller"
	"drover.dev/drover/shared/runkit"
)

func main() {
	runkit.Main(runkit.Program{
		Name:  "attach-controller",
		Short: "Decides who may hold a volume, and brings it there",
		Long: `attach-controller serves attachment tickets: it chooses who may hold a volume, starts and stops the volume's engine and
replicas through their objects, places, rebuilds and salvages replicas, and attaches volumes for Kubernetes. What it writes into
Engine, EngineFrontend and Replica objects, im-monitor carries out.`,
		Setup: setup,
	})
}

// setup wires the controllers; each concern is one.
func setup(_ context.Context, rt *runkit.Runtime) error {
	settings := settingcontroller.NewSource(rt.Client, rt.Namespace)
	return settingcontroller.Setup(rt, settings)
}
