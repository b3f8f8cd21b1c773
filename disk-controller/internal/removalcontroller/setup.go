// Package removalcontroller makes the verdicts of package removal true for the v1 Replicas of one node: it removes their directories, and
// writes the condition DataRemoved. It never drops a finalizer.
//
// All objects are read uncached right before a directory is removed. The removal is written to the Replica first, bound to the version that
// was read. A removal that is interrupted is continued from its remains on the disk.
package removalcontroller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/replicadata"
	"drover.dev/drover/shared/runkit"
)

// Everything that may have a directory is read uncached, by the node or the volume that it names.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas;nodes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans;instancemanagers;engines,verbs=list,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas/status,verbs=patch,namespace=longhorn-system

// Options configure the controller.
type Options struct {
	// Node is the node whose directories these are, Root the root of its host.
	Node string
	Root directory.Root
	// Period is the time after which a removal that waits is decided on again, Timeout how long a disk may take to answer.
	Period, Timeout time.Duration
}

// Setup registers the controller, and its metrics with the registry.
func Setup(_ context.Context, rt *runkit.Runtime, options Options, registry prometheus.Registerer) error {
	r := &reconciler{Options: options, rt: rt, metrics: newMetrics(registry), mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace},
		remover: &remover{attempts: directory.NewAttempts(options.Root, options.Timeout), clock: rt.Clock}, random: rand.Float64}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("replica-directory").WithOptions(queue.Options(1)).
		For(&v1beta2.Replica{}, builder.WithPredicates(predicate.And(kube.If(going), kube.OnDeepChange(facts)))).
		Watches(&v1beta2.Replica{}, r.mapper.To(r.sharing), builder.WithPredicates(kube.OnEnd())).
		Watches(&v1beta2.Node{}, r.mapper.To(r.wanted), builder.WithPredicates(kube.OnDeepChange(disks))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of replica directories: %w", err)
	}
	return nil
}

// going reports whether a Replica is being deleted.
func going(r *v1beta2.Replica) bool { return r.DeletionTimestamp != nil }

// facts are the parts of a Replica that count here.
func facts(r *v1beta2.Replica) []v1beta2.Condition {
	own := conditions.Owned(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved, v1beta2.ReplicaInstanceGone, v1beta2.ReplicaDataRemoved)
	return append(own, v1beta2.Condition{ObservedGeneration: r.Generation})
}

// disk is the part of a disk that counts here.
type disk struct{ Path, UUID, Ready string }

func disks(n *v1beta2.Node) map[string]disk {
	out := map[string]disk{}
	for key := range n.Spec.Disks {
		s := n.Status.DiskStatus[key]
		out[key] = disk{s.DiskPath, s.DiskUUID, conditions.Reason(s.Conditions, v1beta2.DiskReady)}
	}
	return out
}

// wanted returns the Replicas whose directories wait for their removal.
func (r *reconciler) wanted(ctx context.Context, _ client.Object) []string {
	return r.waiting(ctx, func(*v1beta2.Replica) bool { return true })
}

// sharing returns the Replicas whose directories wait for the end of another Replica.
func (r *reconciler) sharing(ctx context.Context, object client.Object) []string {
	ended, ok := object.(*v1beta2.Replica)
	if !ok {
		return nil
	}
	return r.waiting(ctx, func(one *v1beta2.Replica) bool {
		return one.Name != ended.Name && one.Spec.DataDirectoryName == ended.Spec.DataDirectoryName
	})
}

func (r *reconciler) waiting(ctx context.Context, is func(*v1beta2.Replica) bool) []string {
	var list v1beta2.ReplicaList
	r.mapper.List(ctx, &list)
	var out []string
	for i := range list.Items {
		if one := &list.Items[i]; replicadata.AwaitsRemoval(one) && is(one) {
			out = append(out, one.Name)
		}
	}
	return out
}
