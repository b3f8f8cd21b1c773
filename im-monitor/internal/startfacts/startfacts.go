// Package startfacts reads what the instances of a volume are started with that is not in their own objects: the Volume, read uncached,
// since little of it matters and its status changes often, and the EngineImage of its image, from the cache.
package startfacts

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// Volume is what a start needs to know of a Volume. It holds for as long as the volume is attached: the fields are immutable, or may only
// change while it is detached.
type Volume struct {
	Encrypted bool
	// LUKSLabel reports whether the volume was created with room for the LUKS header (v2).
	LUKSLabel bool
}

// Reader reads them.
type Reader struct {
	Cached, Uncached client.Reader
	Namespace        string
}

// Volume reads a Volume; nil where there is none.
func (r Reader) Volume(ctx context.Context, name string) (*Volume, error) {
	v, err := lookup.Shared(ctx, r.Uncached, r.Namespace, name, &v1beta2.Volume{})
	if err != nil || v == nil {
		return nil, err
	}
	return Of(v), nil
}

// Of is what a start needs to know of this Volume.
func Of(v *v1beta2.Volume) *Volume {
	return &Volume{Encrypted: v.Spec.Encrypted, LUKSLabel: v.Labels[v1beta2.LabelV2LUKSRoom] == "true"}
}

// EngineImage reads the EngineImage of an image; nil where there is none. It is shared with the cache.
func (r Reader) EngineImage(ctx context.Context, image string) (*v1beta2.EngineImage, error) {
	if image == "" {
		return nil, nil
	}
	return lookup.Shared(ctx, r.Cached, r.Namespace, v1beta2.EngineImageName(image), &v1beta2.EngineImage{})
}

// Room is how much larger the backends of a volume are that an instance of this image serves; nil where a fact is missing.
func (r Reader) Room(ctx context.Context, volume, dataEngine, image string) (*volumesize.Room, error) {
	v, err := r.Volume(ctx, volume)
	if err != nil || v == nil {
		return nil, err
	}
	return r.RoomOf(ctx, v, dataEngine, image)
}

// RoomOf is the same of a Volume that was read.
func (r Reader) RoomOf(ctx context.Context, v *Volume, dataEngine, image string) (*volumesize.Room, error) {
	room := volumesize.RoomV2(v.Encrypted, v.LUKSLabel)
	if dataEngine == v1beta2.DataEngineV2 || !v.Encrypted {
		return &room, nil
	}
	i, err := r.EngineImage(ctx, image)
	if err != nil || i == nil || i.Status.CLIAPIVersion <= 0 {
		return nil, err
	}
	room = volumesize.RoomV1(v.Encrypted, i.Status.CLIAPIVersion)
	return &room, nil
}
