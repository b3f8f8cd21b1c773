package runkit

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects are read at once: few enough to be little memory, and enough that waiting for each is little time.
const pageSize int64 = 2500

type newInformer = func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// listFirst lets every informer of the process begin with a list. If the API server reports to a watch that its version is gone,
// client-go requests the next watch that begins with a list without a pause; after a separate list it pauses.
func listFirst() error {
	gates, ok := features.FeatureGates().(interface {
		Set(feature features.Feature, enabled bool) error
	})
	if !ok {
		return errors.New("the features of client-go cannot be set")
	}
	if err := gates.Set(features.WatchListClient, false); err != nil {
		return fmt.Errorf("setting the features of client-go: %w", err)
	}
	return nil
}

// inPages creates informers that list page by page, and of each page keep only what the cache keeps. The stream
// of events that they would begin with otherwise takes three times the work to read, each object being parsed as a part of its
// event and then once more; a list in one piece takes the memory of everything that the cache does not keep.
func inPages(size int64, kept map[client.Object]cache.ByObject, others toolscache.TransformFunc) newInformer {
	thins := map[any]toolscache.TransformFunc{}
	for obj, by := range kept {
		thins[kindOf(obj)] = by.Transform
	}
	return func(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		thin := thins[kindOf(example)]
		if thin == nil {
			thin = others
		}
		return toolscache.NewSharedIndexInformer(pages{toolscache.ToListerWatcherWithContext(lw), size, thin}, example, resync, indexers)
	}
}

// kindOf distinguishes kinds: by their type, and kinds of which only the metadata is read by their name.
func kindOf(obj runtime.Object) any {
	if metadata, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return metadata.GroupVersionKind()
	}
	return reflect.TypeOf(obj)
}

// pages lists page by page.
type pages struct {
	toolscache.ListerWatcherWithContext
	size int64
	thin toolscache.TransformFunc
}

// List implements toolscache.Lister.
func (p pages) List(o metav1.ListOptions) (runtime.Object, error) {
	return p.ListWithContext(context.Background(), o)
}

// Watch implements toolscache.Watcher.
func (p pages) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return p.WatchWithContext(context.Background(), o)
}

// ListWithContext returns all pages as one list, of the version that the first one had.
func (p pages) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	// The API server lists any version (resourceVersion 0) without pages.
	o.Limit, o.ResourceVersion, o.ResourceVersionMatch = p.size, "", ""
	ctx, stop := context.WithCancel(withReadAhead(ctx))
	defer stop()
	all := &internalversion.List{}
	for {
		page, err := p.ListerWatcherWithContext.ListWithContext(ctx, o)
		if err != nil {
			return nil, err
		}
		if err := p.keep(page, all); err != nil {
			return nil, err
		}
		if all.Continue == "" {
			return all, nil
		}
		o.Continue = all.Continue
	}
}

// keep adds what is kept of a page.
func (p pages) keep(page runtime.Object, all *internalversion.List) error {
	about, err := meta.ListAccessor(page)
	if err != nil {
		return fmt.Errorf("reading a page of a list: %w", err)
	}
	all.ResourceVersion, all.Continue = about.GetResourceVersion(), about.GetContinue()
	// Each item is allocated alone: a pointer into the page would keep all of it.
	return meta.EachListItemWithAlloc(page, func(item runtime.Object) error {
		thin, err := p.thin(item)
		if err != nil {
			return fmt.Errorf("reading %T: %w", item, err)
		}
		kept, ok := thin.(runtime.Object)
		if !ok {
			return fmt.Errorf("of %T the cache would keep %T, which is no object", item, thin)
		}
		all.Items = append(all.Items, kept)
		return nil
	})
}
