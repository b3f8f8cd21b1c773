package gateway

import (
	"context"

	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// volumeCache keeps the encoded resource of each volume, in the volume's place, until something of the volume changes.
type volumeCache struct {
	reader  reader
	changes *changes
	packer  packer
	// listed are the resources as they were listed last; nil: they were not listed yet, or the last list did not end.
	listed *resources
}

func newVolumeCache(r reader, c *changes) *volumeCache {
	return &volumeCache{reader: r, changes: c}
}

// get returns the resource of a volume, with links that begin with anyBase. It reads the volume again: the caller may have waited since
// its own read, and the resource that is kept must not be older than the change before it.
func (c *volumeCache) get(ctx context.Context, v *v1beta2.Volume) (packed, error) {
	kept := c.changes.placeOf(v.Name)
	if body := kept.body.Load(); body != nil {
		return *body, nil
	}
	now, err := lookup.Shared(ctx, c.reader.cache, c.reader.namespace, v.Name, &v1beta2.Volume{})
	if err != nil {
		return packed{}, err
	}
	if now == nil { // the cache does not have it yet, or no longer
		c.changes.leave(v.Name)
		return c.encode(ctx, v)
	}
	body, err := c.encode(ctx, now)
	if err != nil {
		return packed{}, err
	}
	kept.body.Store(&body)
	return body, nil
}

func (c *volumeCache) encode(ctx context.Context, v *v1beta2.Volume) (packed, error) {
	facts, err := c.reader.volumeFacts(ctx, v)
	if err != nil {
		return packed{}, err
	}
	return c.packer.pack(present.NewVolume(anyBase, facts))
}
