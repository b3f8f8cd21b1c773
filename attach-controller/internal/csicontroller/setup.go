package csicontroller

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// LeaseName is the lease of the external-attacher for this driver.
const LeaseName = "external-attacher-leader-driver-longhorn-io"

// workers is how many VolumeAttachments are evaluated at once.
const workers = 4

// Options are whether and how the external-attacher's role is taken.
type Options struct {
	// Attach takes the role; without it there is no lease and no watch.
	Attach bool
	// Lease is the external-attacher's.
	Lease election.Lease
}

// DefaultOptions takes the role.
func DefaultOptions() Options {
	return Options{Attach: true, Lease: election.Lease{Name: LeaseName}}
}

// AddFlags adds the flag that turns the role off.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Attach, "csi-attach", o.Attach, "attach volumes for Kubernetes in the external-attacher's place, under its lease "+
		LeaseName)
}

// Setup registers the election and the controllers of VolumeAttachments and PersistentVolumes on the runtime's manager.
// Metrics go to the registry.
func Setup(ctx context.Context, rt *runkit.Runtime, options Options, registry prometheus.Registerer) error {
	if !options.Attach {
		return nil
	}
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	m := newMetrics(registry)
	q := &election.Queues{Reader: rt.Client, Log: rt.Log}
	e, err := election.New(rt, options.Lease, m.lead, q.All)
	if err != nil {
		return err
	}
	r := &reconciler{rt: rt, observer: observer{rt}, election: e, metrics: m, written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}}
	if err := setUpAttachments(rt, r, q); err != nil {
		return fmt.Errorf("setting up the controller of VolumeAttachments: %w", err)
	}
	if err := setUpPersistentVolumes(rt, r, q); err != nil {
		return fmt.Errorf("setting up the controller of PersistentVolumes: %w", err)
	}
	return rt.Manager.Add(e)
}

func setUpAttachments(rt *runkit.Runtime, r *reconciler, q *election.Queues) error {
	w := watches{kube.Mapper{Reader: rt.Client}}
	return ctrl.NewControllerManagedBy(rt.Manager).Named("csi-attachment").
		WithOptions(queue.Options(workers)).
		For(&storagev1.VolumeAttachment{}, builder.WithPredicates(ours(), kube.OnAnyChange[storagev1.VolumeAttachment]())).
		Watches(&corev1.PersistentVolume{}, w.To(w.ofPersistentVolume),
			builder.WithPredicates(kube.OnAnyChange[corev1.PersistentVolume]())).
		Watches(&storagev1.CSINode{}, w.To(w.ofNode), builder.WithPredicates(kube.OnAnyChange[storagev1.CSINode]())).
		Watches(&corev1.Node{}, w.To(w.ofNode), builder.WithPredicates(kube.OnAnyChange[corev1.Node]())).
		Watches(&v1beta2.Node{}, w.To(w.ofNode), builder.WithPredicates(kube.OnChange(csi.FromNode))).
		Watches(&v1beta2.Volume{}, w.To(w.ofVolume), builder.WithPredicates(kube.OnChange(csi.FromVolume))).
		Watches(&v1beta2.VolumeAttachment{}, w.To(w.ofTickets), builder.WithPredicates(kube.OnDeepChange(csi.FromTickets))).
		WatchesRawSource(q.Source(attachments, isOurs)).
		Complete(r)
}

func setUpPersistentVolumes(rt *runkit.Runtime, r *reconciler, q *election.Queues) error {
	return ctrl.NewControllerManagedBy(rt.Manager).Named("csi-persistent-volume").WithOptions(queue.Options(1)).
		For(&corev1.PersistentVolume{}, builder.WithPredicates(held())).
		Watches(&storagev1.VolumeAttachment{}, kube.Mapper{}.To(persistentVolumeOf), builder.WithPredicates(kube.OnEnd())).
		WatchesRawSource(q.Source(persistentVolumes, isGoing)).
		Complete(&releaser{r})
}

func attachments() client.ObjectList { return &storagev1.VolumeAttachmentList{} }

func persistentVolumes() client.ObjectList { return &corev1.PersistentVolumeList{} }

func isOurs(obj client.Object) bool {
	return obj.(*storagev1.VolumeAttachment).Spec.Attacher == csi.Driver
}

func isGoing(obj client.Object) bool { return obj.GetDeletionTimestamp() != nil }
