package runkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"drover.dev/drover/shared/api/v1beta2"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// contracts knows which custom resource definitions of longhorn.io have a contract that this binary does not support. It refuses
// until it has read them all.
type contracts struct {
	binary    string
	supported []string
	synced    func() bool

	mutex  sync.Mutex
	others map[string]string // the contract of each definition that has another one, by the definition's name
	appear func(error)       // called at each change that leaves one
}

// watchContracts watches the definitions' labels until ctx ends.
func watchContracts(ctx context.Context, p Program, config *rest.Config, log logr.Logger) (*contracts, error) {
	clients, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building the client that reads the contracts of the custom resource definitions: %w", err)
	}
	c := &contracts{binary: p.Name, supported: p.Contracts, others: map[string]string{}}
	informer := metadatainformer.NewFilteredMetadataInformer(clients, definitions, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	if err := informer.SetTransform(labelsOnly); err != nil {
		return nil, fmt.Errorf("watching the custom resource definitions: %w", err)
	}
	handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.see(obj.(*metav1.PartialObjectMetadata)) },
		UpdateFunc: func(_, obj any) { c.see(obj.(*metav1.PartialObjectMetadata)) },
		DeleteFunc: c.forget,
	})
	if err != nil {
		return nil, fmt.Errorf("watching the custom resource definitions: %w", err)
	}
	c.synced = handle.HasSynced
	go informer.RunWithContext(ctx)
	log.V(1).Info("reading the contracts of the custom resource definitions", "supported", p.Contracts)
	return c, nil
}

func labelsOnly(obj any) (any, error) {
	definition, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return obj, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: definition.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: definition.Name, UID: definition.UID, ResourceVersion: definition.ResourceVersion, Labels: definition.Labels}}, nil
}

func (c *contracts) see(definition *metav1.PartialObjectMetadata) {
	if !strings.HasSuffix(definition.Name, "."+v1beta2.GroupVersion.Group) {
		return
	}
	contract := definition.Labels[v1beta2.LabelContract]
	c.mutex.Lock()
	if slices.Contains(c.supported, contract) {
		delete(c.others, definition.Name)
	} else {
		c.others[definition.Name] = contract
	}
	appear := c.appear
	c.mutex.Unlock()
	if err := c.Err(); err != nil && appear != nil && c.synced() {
		appear(err)
	}
}

func (c *contracts) forget(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if definition, ok := obj.(*metav1.PartialObjectMetadata); ok {
		c.mutex.Lock()
		delete(c.others, definition.Name)
		c.mutex.Unlock()
	}
}

// report calls appear at each change that leaves a definition with another contract.
func (c *contracts) report(appear func(error)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.appear = appear
}

// wait returns once all definitions were read.
func (c *contracts) wait(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), c.synced) {
		return context.Cause(ctx)
	}
	return nil
}

// Err explains why this binary must not work on the objects, or nil.
func (c *contracts) Err() error {
	if !c.synced() {
		return errors.New("the custom resource definitions were not read yet; if this stays, the binary may not list them")
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.others)) {
		return fmt.Errorf("%d custom resource definitions have a contract that this %s does not know, such as %s with %q: it knows %s; "+
			"apply the definitions that belong to it, or roll out the %s that belongs to them",
			len(c.others), c.binary, name, c.others[name], strings.Join(c.supported, ", "), c.binary)
	}
	return nil
}
