package enginepoll

import (
	"cmp"
	"context"
	"fmt"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/startfacts"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// readRoom returns how much larger than the volume the engine's backends are; nil while that does not matter, or where a fact is missing.
// It costs an uncached read of the Volume, once in a run of the engine, and none where every size is the one that the volume's spec has.
func (c *Controller) readRoom(ctx context.Context, e *v1beta2.Engine, seen engine.Seen) (*volumesize.Room, error) {
	if !sizeMatters(e, seen) {
		return nil, nil
	}
	if known := c.memory.room(e.Name); known != nil {
		return known, nil
	}
	image := imageOf(e)
	room, err := c.startFacts().Room(ctx, e.Spec.VolumeName, e.Spec.DataEngine, image)
	if err != nil {
		return nil, fmt.Errorf("reading what the sizes of engine %s depend on: %w", e.Name, err)
	}
	if room == nil {
		c.rt.Log.Info("the size of the engine cannot be read: its Volume or the CLI API version of its EngineImage is missing", "engine",
			e.Name,
			"volume", e.Spec.VolumeName, "image", image)
		return nil, nil
	}
	c.memory.keepRoom(e.Name, room)
	return room, nil
}

// imageOf is the image that the engine runs.
func imageOf(e *v1beta2.Engine) string { return cmp.Or(e.Status.CurrentImage, e.Spec.Image) }

func (c *Controller) startFacts() startfacts.Reader {
	return startfacts.Reader{Cached: c.rt.Client, Uncached: c.rt.Uncached, Namespace: c.rt.Namespace}
}

// sizeMatters reports whether the poll leads to a status or a call that has a size.
func sizeMatters(e *v1beta2.Engine, seen engine.Seen) bool {
	if v := seen.Volume; v != nil && (e.Status.CurrentSize != e.Spec.VolumeSize || int64(v.Size) != e.Spec.VolumeSize) {
		return true
	}
	listed := map[string]bool{}
	for _, r := range engine.Named(e, seen.Replicas) {
		listed[r.Name] = true
	}
	for name := range e.Spec.ReplicaAddressMap {
		if !listed[name] {
			return true
		}
	}
	return false
}
