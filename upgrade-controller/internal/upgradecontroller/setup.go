package upgradecontroller

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/pace"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/upgrade/rehearsal"
)

// Options are upgrade-controller's own flags.
type Options struct {
	// PullSecret is the Secret in the namespace with which the pods that check an image pull it; empty: that of the setting
	// registry-secret.
	PullSecret string
	// profiles are the operator's own, by image.
	profiles map[string]string
}

// AddFlags registers the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.PullSecret, "instance-manager-pull-secret", "",
		"image pull secret of the pods that check whether a node can run an image, as im-monitor's; empty: that of the setting "+
			"registry-secret")
	flags.StringToStringVar(&o.profiles, "v2-image-profiles", nil,
		"how v2 pods of an image are started, IMAGE=PROFILE, as im-monitor's: direct, wrapper, wrapper-without-small-pool or refused "+
			"(repeatable); otherwise the tag decides")
}

// Setup registers the controllers of whole upgrades and of nodes on the runtime's manager. Metrics go to the registry.
func Setup(ctx context.Context, rt *runkit.Runtime, registry prometheus.Registerer, options Options) error {
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	profiles, err := managerimage.ParseDeclared(options.profiles)
	if err != nil {
		return fmt.Errorf("--v2-image-profiles: %w", err)
	}
	m := newMetrics(registry)
	o := observer{cached: rt.Client, live: rt.Uncached, namespace: rt.Namespace, clock: rt.Clock, profiles: profiles}
	w := watches{kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	// One worker each: two concurrent reconciles could begin the upgrades of two nodes.
	one := queue.Options(1)
	plans := &planReconciler{options: options, observer: o, client: rt.Client, recorder: rt.Recorder, metrics: m, clock: rt.Clock,
		refused: refusals{}}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("data-engine-upgrade-manager").For(&v1beta2.DataEngineUpgradeManager{}).WithOptions(
		one)
	if err := w.addPlan(b).Complete(plans); err != nil {
		return fmt.Errorf("setting up the controller of upgrades: %w", err)
	}
	nodes := &nodeReconciler{observer: o, client: rt.Client, recorder: rt.Recorder, metrics: m, clock: rt.Clock,
		pace: pace.Pace{Factor: restFactor, Least: leastRest, Most: mostRest}}
	b = ctrl.NewControllerManagedBy(rt.Manager).Named("node-data-engine-upgrade").For(&v1beta2.NodeDataEngineUpgrade{}).WithOptions(one)
	if err := w.addNode(b).Complete(nodes); err != nil {
		return fmt.Errorf("setting up the controller of the upgrades of nodes: %w", err)
	}
	left := &leftoverReconciler{observer: o, client: rt.Client, recorder: rt.Recorder}
	b = ctrl.NewControllerManagedBy(rt.Manager).Named("upgrade-leftover").For(&v1beta2.Node{},
		builder.WithPredicates(onCordoned())).WithOptions(one)
	if err := w.addLeftover(b).Complete(left); err != nil {
		return fmt.Errorf("setting up the controller of what upgrades left behind: %w", err)
	}
	return rehearsal.Setup(rt, Owner, rehearsalSource{cached: rt.Client, live: rt.Uncached, namespace: rt.Namespace})
}
