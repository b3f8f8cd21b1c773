// The attach-controller decides which ticket may hold a volume, and attaches the volume: attachment tickets, the volume's attach and
// detach machine, its replicas, the attach of Kubernetes, and pods that lost their volume. It never calls the data plane.
package main

import (
	"context"
	_ "embed"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/attachcontroller"
	"drover.dev/drover/attach-controller/internal/csicontroller"
	"drover.dev/drover/attach-controller/internal/machinecontroller"
	"drover.dev/drover/attach-controller/internal/podrecoverycontroller"
	"drover.dev/drover/attach-controller/internal/replicacontroller"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/ticketcontroller"
	"drover.dev/drover/attach-controller/internal/upgraderehearsal"
	"drover.dev/drover/attach-controller/internal/volumeuserscontroller"
	"drover.dev/drover/shared/runkit"
	sharedsetting "drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/settingcontroller"
)

//go:embed VERSION
var version string

func main() {
	attach := csicontroller.DefaultOptions()
	runkit.Main(runkit.Program{
		Name:    "attach-controller",
		Version: version,
		Short:   "Decides which ticket may hold a volume, and attaches the volume",
		Long: `attach-controller serves attachment tickets: it chooses which ticket may hold a volume, starts and stops the volume's engine
and replicas through their objects, places, rebuilds and salvages replicas, and attaches volumes for Kubernetes. im-monitor executes
the specs of Engine, EngineFrontend and Replica objects.`,
		Flags:     attach.AddFlags,
		Contracts: []string{"1"},
		Cache:     cached(),
		Setup:     func(ctx context.Context, rt *runkit.Runtime) error { return setup(ctx, rt, attach) },
	})
}

// cached returns what is cached of Kubernetes' own objects.
func cached() map[client.Object]cache.ByObject {
	out := csicontroller.Cache()
	maps.Copy(out, podrecoverycontroller.Cache())
	return out
}

// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings/status,verbs=patch,namespace=longhorn-system

// setup registers the controllers; each concern is one.
func setup(ctx context.Context, rt *runkit.Runtime, attach csicontroller.Options) error {
	settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Catalogue)
	if err := settingcontroller.Setup(rt, settings, sharedsetting.AttachController,
		"drover_attach_controller_setting_invalid"); err != nil {
		return err
	}
	if err := abandonedcontroller.Setup(ctx, rt); err != nil {
		return err
	}
	if err := machinecontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	if err := replicacontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	if err := upgraderehearsal.Setup(rt); err != nil {
		return err
	}
	if err := attachcontroller.Setup(ctx, rt); err != nil {
		return err
	}
	if err := ticketcontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	if err := podrecoverycontroller.Setup(ctx, rt, settings); err != nil {
		return err
	}
	if err := volumeuserscontroller.Setup(ctx, rt); err != nil {
		return err
	}
	return csicontroller.Setup(ctx, rt, attach, metrics.Registry)
}
