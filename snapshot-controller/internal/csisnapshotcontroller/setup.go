package csisnapshotcontroller

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/volumesnapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// LeaseName is the lease of the csi-snapshotter for this driver.
const LeaseName = "external-snapshotter-leader-driver-longhorn-io"

// workers is how many contents are checked at once.
const workers = 4

// Options configure whether and how the csi-snapshotter's role is taken.
type Options struct {
	// Take takes the role; without it there is no lease and no watch.
	Take bool
	// Lease is the csi-snapshotter's.
	Lease election.Lease
}

// DefaultOptions takes the role.
func DefaultOptions() Options {
	return Options{Take: true, Lease: election.Lease{Name: LeaseName}}
}

// AddFlags adds the flag that disables the role.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Take, "csi-snapshots", o.Take, "take snapshots for Kubernetes in the csi-snapshotter's place, under its lease "+
		LeaseName)
}

// Setup registers the election and the controller of VolumeSnapshotContents on the runtime's manager. Metrics go to the registry.
func Setup(ctx context.Context, rt *runkit.Runtime, options Options, registry prometheus.Registerer) error {
	if !options.Take {
		return nil
	}
	if err := volumesnapshot.AddToScheme(rt.Manager.GetScheme()); err != nil {
		return err
	}
	if err := rt.AddIndexes(ctx, volumecontext.Indexes...); err != nil {
		return err
	}
	m := newMetrics(registry)
	q := &election.Queues{Reader: rt.Client, Log: rt.Log}
	e, err := election.New(rt, options.Lease, m.lead, q.All)
	if err != nil {
		return err
	}
	r := &reconciler{rt: rt, observer: observer{rt}, election: e, metrics: m, written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}}
	o := queue.Options(workers)
	o.Reconciler = r
	c, err := controller.New("csi-snapshot", rt.Manager, o)
	if err != nil {
		return fmt.Errorf("setting up the controller of VolumeSnapshotContents: %w", err)
	}
	if err := rt.Manager.Add(&beginning{rt: rt, controller: c, queues: q}); err != nil {
		return err
	}
	return rt.Manager.Add(e)
}
