package gateway

import (
	"bytes"
	"context"
	"encoding/json"

	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// anyBase is the placeholder for the address of the gateway, as a client knows it, in resources that all clients share.
const anyBase = "http://gateway.invalid"

// volumeCache keeps the encoded resource of each volume, in the volume's place, until something of the volume changes.
type volumeCache struct {
	reader  reader
	changes *changes
}

func newVolumeCache(r reader, c *changes) *volumeCache {
	return &volumeCache{reader: r, changes: c}
}

// get returns the resource of a volume, with links that begin with anyBase. It reads the volume again: the caller may have waited since
// its own read, and the resource that is kept must not be older than the change before it.
func (c *volumeCache) get(ctx context.Context, v *v1beta2.Volume) ([]byte, error) {
	kept := c.changes.placeOf(v.Name)
	if body := kept.body.Load(); body != nil {
		return *body, nil
	}
	now, err := lookup.Shared(ctx, c.reader.cache, c.reader.namespace, v.Name, &v1beta2.Volume{})
	if err != nil {
		return nil, err
	}
	if now == nil { // the cache does not have it yet, or no longer
		c.changes.leave(v.Name)
		return c.encode(ctx, v)
	}
	body, err := c.encode(ctx, now)
	if err != nil {
		return nil, err
	}
	kept.body.Store(&body)
	return body, nil
}

func (c *volumeCache) encode(ctx context.Context, v *v1beta2.Volume) ([]byte, error) {
	facts, err := c.reader.volumeFacts(ctx, v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(present.NewVolume(anyBase, facts))
}

// list builds the collection of all volumes, with links that begin with anyBase. The listCache keeps it.
func (c *volumeCache) list(ctx context.Context) ([]byte, error) {
	var volumes v1beta2.VolumeList
	if err := lookup.ListShared(ctx, c.reader.cache, c.reader.namespace, &volumes); err != nil {
		return nil, err
	}
	items := byName(volumes.Items)
	out := bytes.NewBuffer(make([]byte, 0, len(items)*6<<10))
	self := wire.CollectionURL(anyBase, wire.TypeVolume)
	out.WriteString(`{"type":"collection","resourceType":"volume","links":{"self":"` + self + `"},"actions":{},"createTypes":{"volume":"` +
		self + `"},"data":[`)
	for i, v := range items {
		body, err := c.get(ctx, v)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(body)
	}
	out.WriteString("]}")
	return out.Bytes(), nil
}

// withBase puts the address of one client into the links of a shared resource.
func withBase(body []byte, base string) ([]byte, error) {
	quoted, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(body, []byte(anyBase), quoted[1:len(quoted)-1]), nil
}
