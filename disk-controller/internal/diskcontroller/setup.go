// Package diskcontroller keeps Node.status.diskStatus of the v1 disks of one node as package disk decides. It looks at the directories when
// a disk was added or changed, and once in a period. It writes only what differs: in a quiet cluster it reads the disks and calls nobody.
package diskcontroller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/disk-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas;backingimages;settings,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system

// Owner is the name of the binary.
const Owner = "disk-controller"

// LeasePrefix and the name of the node are the name of a lease.
const LeasePrefix = "drover-" + Owner + "-"

// longestName is the number of characters of an object's name.
const longestName = 253

// Options are the flags of the binary.
type Options struct {
	// Node is the node whose disks these are, Root the root of its host as this process sees it.
	Node, Root string
	// Period is the time between two measurements, jittered by a fifth, LookTimeout how long a disk may take to answer.
	Period, LookTimeout time.Duration
}

// AddFlags registers the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet, node string) {
	flags.StringVar(&o.Node, "node", node, "name of the Kubernetes node whose disks are cared for (default from $NODE_NAME)")
	flags.StringVar(&o.Root, "root", "/host", "where the root of the node is mounted")
	flags.DurationVar(&o.Period, "period", 30*time.Second, "time between two measurements of the disks")
	flags.DurationVar(&o.LookTimeout, "look-timeout", 10*time.Second, "how long a disk may take to answer before it is not ready")
}

// Validate returns why the options cannot be used, or nil.
func (o *Options) Validate() error {
	var problems []error
	if o.Node == "" {
		problems = append(problems, errors.New("--node is empty: name the node, or set $NODE_NAME by the downward API"))
	}
	if len(LeasePrefix+o.Node) > longestName {
		problems = append(problems, fmt.Errorf("--node has %d characters: the lease %s<node> may have %d", len(o.Node), LeasePrefix, longestName))
	}
	if o.Period <= 0 || o.LookTimeout <= 0 {
		problems = append(problems, errors.New("--period and --look-timeout must be longer than 0"))
	}
	return errors.Join(problems...)
}

// Cached returns the cached parts of each kind: the cache has only this node's Node and Replicas.
func Cached(node string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&v1beta2.Node{}:         {Field: fields.OneTermEqualSelector("metadata.name", node)},
		&v1beta2.Replica{}:      {Field: fields.OneTermEqualSelector("spec.nodeID", node), Transform: kube.Keep(thinReplica)},
		&v1beta2.BackingImage{}: {Transform: kube.Keep(thinImage)},
	}
}

func thinReplica(r *v1beta2.Replica) *v1beta2.Replica {
	thin := &v1beta2.Replica{}
	thin.Name, thin.Namespace, thin.UID, thin.ResourceVersion = r.Name, r.Namespace, r.UID, r.ResourceVersion
	thin.Spec.NodeID, thin.Spec.DiskID, thin.Spec.VolumeSize, thin.Spec.DataEngine = r.Spec.NodeID, r.Spec.DiskID, r.Spec.VolumeSize,
		r.Spec.DataEngine
	if r.DeletionTimestamp == nil {
		thin.Spec.DataDirectoryName = r.Spec.DataDirectoryName // whoever waits for its end finds it by that
		return thin
	}
	thin.DeletionTimestamp, thin.Finalizers, thin.Generation = r.DeletionTimestamp, r.Finalizers, r.Generation
	thin.Spec, thin.Status.Conditions = r.Spec, r.Status.Conditions
	return thin
}

func thinImage(i *v1beta2.BackingImage) *v1beta2.BackingImage {
	thin := &v1beta2.BackingImage{}
	thin.Name, thin.Namespace, thin.UID, thin.ResourceVersion = i.Name, i.Namespace, i.UID, i.ResourceVersion
	thin.Spec.DiskFileSpecMap, thin.Status.RealSize = i.Spec.DiskFileSpecMap, i.Status.RealSize
	return thin
}

// Setup registers the controller, and its metrics with the registry.
func Setup(_ context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values], options Options,
	registry prometheus.Registerer) error {
	if err := options.Validate(); err != nil {
		return err
	}
	r := &reconciler{
		Options: options, rt: rt, settings: settings, random: rand.Float64,
		looker: NewLooker(options), metrics: newMetrics(registry),
	}
	mapper := kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}
	own := func(context.Context, client.Object) []string { return []string{options.Node} }
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("disk").WithOptions(queue.Options(1)).
		For(&v1beta2.Node{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, kube.OnChange(ready)))).
		Watches(&v1beta2.Replica{}, mapper.To(own), builder.WithPredicates(kube.OnChange(place))).
		Watches(&v1beta2.BackingImage{}, mapper.To(own), builder.WithPredicates(kube.OnDeepChange(content))).
		Watches(&v1beta2.Setting{}, mapper.To(own), builder.WithPredicates(settingcontroller.Concerns(setting.Catalogue.Known))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of v1 disks: %w", err)
	}
	return nil
}

// ready returns the status and the message of a Node's condition Ready.
func ready(n *v1beta2.Node) (out [2]string) {
	if c := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); c != nil {
		out = [2]string{string(c.Status), c.Message}
	}
	return out
}

// placed is the part of a Replica that counts for its disk.
type placed struct {
	disk  string
	bytes int64
}

func place(r *v1beta2.Replica) placed { return placed{r.Spec.DiskID, r.Spec.VolumeSize} }

// held is the part of a BackingImage that counts for its disks.
type held struct {
	disks map[string]v1beta2.BackingImageDiskFileSpec
	bytes int64
}

func content(i *v1beta2.BackingImage) held { return held{i.Spec.DiskFileSpecMap, i.Status.RealSize} }
