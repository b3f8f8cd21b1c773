package csisnapshotcontroller

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/volumesnapshot"
)

// servedPoll is how long to wait until a definition that has come is asked for again.
const servedPoll = time.Second

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// beginning begins to watch once there is something to watch: a watch for a kind that is not defined ends the process.
type beginning struct {
	rt         *runkit.Runtime
	controller controller.Controller
	queues     *election.Queues
}

// NeedLeaderElection lets a standby have its caches filled.
func (b *beginning) NeedLeaderElection() bool { return false }

// Start waits for the definitions, and begins.
func (b *beginning) Start(ctx context.Context) error {
	clients, err := metadata.NewForConfig(b.rt.Manager.GetConfig())
	if err != nil {
		return fmt.Errorf("building the client that waits for the definitions of VolumeSnapshots: %w", err)
	}
	for _, name := range []string{volumesnapshot.ContentDefinition, volumesnapshot.ClassDefinition} {
		if err := appears(ctx, clients, name); err != nil {
			return nil // the process stops
		}
	}
	if err := wait.PollUntilContextCancel(ctx, servedPoll, true, b.served); err != nil {
		return nil // the process stops
	}
	if err := new(kube.Indexes).Add(ctx, b.rt.Manager.GetFieldIndexer(), indexes...); err != nil {
		return err
	}
	w := watches{kube.Mapper{Reader: b.rt.Client}}
	if err := w.add(b.controller, b.rt.Manager.GetCache(), b.queues); err != nil {
		return fmt.Errorf("watching VolumeSnapshotContents: %w", err)
	}
	b.rt.Log.Info("VolumeSnapshots are there: taking them", "driver", v1beta2.CSIDriver, "lease", LeaseName)
	<-ctx.Done()
	return nil
}

// appears returns once a custom resource definition of that name is there.
func appears(ctx context.Context, clients metadata.Interface, name string) error {
	seen, stop := context.WithCancel(ctx)
	defer stop()
	informer := metadatainformer.NewFilteredMetadataInformer(clients, definitions, metav1.NamespaceAll, 0, cache.Indexers{},
		func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}).Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { stop() }}); err != nil {
		return fmt.Errorf("waiting for %s: %w", name, err)
	}
	informer.RunWithContext(seen)
	return ctx.Err()
}

// served reports whether the API server answers for both kinds, which takes it a moment after they were defined.
func (b *beginning) served(ctx context.Context) (bool, error) {
	for _, list := range []client.ObjectList{&volumesnapshot.ContentList{}, &volumesnapshot.ClassList{}} {
		if err := b.rt.Uncached.List(ctx, list, client.Limit(1)); err != nil {
			b.rt.Log.Info("VolumeSnapshots are defined, and not served yet; trying again", "error", err.Error())
			return false, nil
		}
	}
	return true, nil
}
