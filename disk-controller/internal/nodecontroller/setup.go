// Package nodecontroller gives one Node its default disks and tags as package defaults decides, and reports in the Node's conditions what
// package environment finds on the node. It writes only what differs: in a quiet cluster it calls nobody.
package nodecontroller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/defaults"
	"drover.dev/drover/disk-controller/internal/disk"
	"drover.dev/drover/disk-controller/internal/environment"
	"drover.dev/drover/disk-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
)

// The Kubernetes node is watched by its name; its label and annotations request disks and tags.
//
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=list;watch,namespace=longhorn-system

// fieldOwner owns the conditions of disk-controller.
const fieldOwner = "disk-controller"

// Options configure the controller.
type Options struct {
	// Node is the node that gets defaults and is checked.
	Node string
	// Look describes the directory at a path.
	Look func(path string) disk.Sight
	// Host is checked once in a CheckPeriod, jittered by a fifth.
	Host        environment.Host
	CheckPeriod time.Duration
}

// AddFlags registers the flags of this controller.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.CheckPeriod, "check-period", 30*time.Minute,
		"time between two checks of the node's mounts, kernel modules and programs")
}

// Cached returns the cached parts of the Kubernetes node: its label and its annotations for default disks.
func Cached(node string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Node{}: {Field: fields.OneTermEqualSelector("metadata.name", node), Transform: kube.Keep(thinNode)},
	}
}

func thinNode(n *corev1.Node) *corev1.Node {
	thin := &corev1.Node{}
	thin.Name, thin.UID, thin.ResourceVersion = n.Name, n.UID, n.ResourceVersion
	thin.Labels = map[string]string{defaults.LabelCreate: n.Labels[defaults.LabelCreate]}
	thin.Annotations = map[string]string{defaults.AnnotationDisks: n.Annotations[defaults.AnnotationDisks],
		defaults.AnnotationTags: n.Annotations[defaults.AnnotationTags]}
	return thin
}

// Setup registers the controller.
func Setup(_ context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values], options Options) error {
	if options.CheckPeriod <= 0 {
		return errors.New("--check-period must be longer than 0")
	}
	r := &reconciler{Options: options, rt: rt, settings: settings, random: rand.Float64}
	mapper := kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}
	own := func(context.Context, client.Object) []string { return []string{options.Node} }
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("node").WithOptions(queue.Options(1)).
		For(&v1beta2.Node{}, builder.WithPredicates(kube.OnDeepChange(nodeFacts))).
		Watches(&corev1.Node{}, mapper.To(own), builder.WithPredicates(kube.OnChange(wishes))).
		Watches(&v1beta2.Setting{}, mapper.To(own), builder.WithPredicates(settingcontroller.Concerns(isRead))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of default disks: %w", err)
	}
	return nil
}

// isRead reports whether a setting counts here.
func isRead(name string) bool {
	return setting.Catalogue.Known(name) && name != setting.MinimalAvailable && name != setting.OverProvisioning
}

// facts are the parts of a Node that count here.
type facts struct {
	Disks, Tags int
	Request     string
	Conditions  []v1beta2.Condition
}

func nodeFacts(n *v1beta2.Node) facts {
	out := facts{Disks: len(n.Spec.Disks), Tags: len(n.Spec.Tags), Request: n.Annotations[v1beta2.AnnotationDefaultDisk]}
	out.Conditions = append(out.Conditions, conditions.Owned(n.Status.Conditions, types()...)...)
	return out
}

// wishes returns the label and the annotations of a Kubernetes node that count here.
func wishes(n *corev1.Node) [3]string {
	return [3]string{n.Labels[defaults.LabelCreate], n.Annotations[defaults.AnnotationDisks], n.Annotations[defaults.AnnotationTags]}
}
