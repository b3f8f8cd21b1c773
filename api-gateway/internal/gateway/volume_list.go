package gateway

import (
	"context"
	"slices"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// resources are the encoded resources of a list by name, in the order of their names.
type resources struct {
	names  []string
	bodies []packed
}

// set adds a resource, or replaces it.
func (r *resources) set(name string, body packed) {
	at, found := slices.BinarySearch(r.names, name)
	if found {
		r.bodies[at] = body
		return
	}
	r.names, r.bodies = slices.Insert(r.names, at, name), slices.Insert(r.bodies, at, body)
}

// remove removes a resource, if there is one of that name.
func (r *resources) remove(name string) {
	if at, found := slices.BinarySearch(r.names, name); found {
		r.names, r.bodies = slices.Delete(r.names, at, at+1), slices.Delete(r.bodies, at, at+1)
	}
}

var comma = packed{bytes: []byte{','}}

// collection returns the list of the resources as a text.
func (r *resources) collection(resourceType string) text {
	self := wire.CollectionURL(anyBase, resourceType)
	out := make(text, 0, 2*len(r.bodies)+2)
	before := packed{bytes: []byte(`{"type":"collection","resourceType":"` + resourceType + `","links":{"self":"` + self +
		`"},"actions":{},"createTypes":{"` + resourceType + `":"` + self + `"},"data":[`)}
	if len(r.bodies) == 0 {
		out = append(out, before)
	}
	for _, body := range r.bodies {
		out = append(out, before, body)
		before = comma
	}
	return append(out, packed{bytes: []byte("]}")})
}

// list returns the collection of all volumes. Only one caller at a time may use it: the listCache calls it, and keeps the result.
// It reads and encodes the volumes that changed since its last call. If it does not know which changed, or if its last call ended with an
// error or a panic, after which the server goes on, it reads and encodes all volumes.
func (c *volumeCache) list(ctx context.Context) (text, error) {
	changed, known := c.changes.takeVolumes()
	listed := c.listed
	c.listed = nil
	var err error
	if known && listed != nil {
		err = c.readAgain(ctx, listed, changed)
	} else {
		listed, err = c.readAll(ctx)
	}
	if err != nil {
		return nil, err
	}
	c.listed = listed
	return listed.collection(wire.TypeVolume), nil
}

// readAgain reads some volumes of a list again.
func (c *volumeCache) readAgain(ctx context.Context, listed *resources, names []string) error {
	for _, name := range names {
		v, err := lookup.Shared(ctx, c.reader.cache, c.reader.namespace, name, &v1beta2.Volume{})
		if err != nil {
			return err
		}
		if v == nil {
			listed.remove(name)
			continue
		}
		body, err := c.get(ctx, v)
		if err != nil {
			return err
		}
		listed.set(name, body)
	}
	return nil
}

// readAll reads all volumes.
func (c *volumeCache) readAll(ctx context.Context) (*resources, error) {
	var volumes v1beta2.VolumeList
	if err := lookup.ListShared(ctx, c.reader.cache, c.reader.namespace, &volumes); err != nil {
		return nil, err
	}
	items := byName(volumes.Items)
	out := &resources{names: make([]string, 0, len(items)), bodies: make([]packed, 0, len(items))}
	for _, v := range items {
		body, err := c.get(ctx, v)
		if err != nil {
			return nil, err
		}
		out.names, out.bodies = append(out.names, v.Name), append(out.bodies, body)
	}
	return out, nil
}
