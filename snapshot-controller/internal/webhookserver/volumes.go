package webhookserver

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

const (
	// missingFor is how long a volume that the API server did not have is not asked for again: whoever asks about unknown volumes
	// again and again costs no request each.
	missingFor = time.Second
	// missingNames is how many of them are remembered.
	missingNames = 1024
)

// volumes finds the volumes that Snapshots name.
type volumes struct {
	namespace        string
	cached, uncached client.Reader
	missing          *cache.LRUExpireCache
}

func newVolumes(namespace string, cached, uncached client.Reader) *volumes {
	return &volumes{namespace: namespace, cached: cached, uncached: uncached, missing: cache.NewLRUExpireCache(missingNames)}
}

// find reads uncached before it reports that there is none; nil: there is none, or was none a moment ago.
func (v *volumes) find(ctx context.Context, name string) (*v1beta2.Volume, error) {
	if volume, err := lookup.Get(ctx, v.cached, v.namespace, name, &v1beta2.Volume{}); volume != nil || err != nil {
		return volume, err
	}
	if _, known := v.missing.Get(name); known {
		return nil, nil
	}
	volume, err := lookup.Get(ctx, v.uncached, v.namespace, name, &v1beta2.Volume{})
	if volume == nil && err == nil {
		v.missing.Add(name, true, missingFor)
	}
	return volume, err
}
