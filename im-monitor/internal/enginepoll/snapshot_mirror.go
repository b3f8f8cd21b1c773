package enginepoll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
)

const (
	// mirrorBatch is how many Snapshots are created after one uncached read of their volume.
	mirrorBatch = 64
	// mirrorsAtOnce is how many Snapshots the process creates at once, of all engines.
	mirrorsAtOnce = 16
)

// mirror creates the objects of snapshots that have none, unless the volume is being deleted or is another one.
func (p *poll) mirror(ctx context.Context, names []string) error {
	created := 0
	defer func() {
		if created > 0 {
			snapshotsMirrored.Add(float64(created))
			events.Emit(p.rt.Recorder, p.engine, mirroredEvent(created, names))
		}
	}()
	for batch := range slices.Chunk(names, mirrorBatch) {
		v, err := lookup.Shared(ctx, p.rt.Uncached, p.rt.Namespace, p.engine.Spec.VolumeName, &v1beta2.Volume{})
		if err != nil || !engine.IsOf(p.engine, v) || v.DeletionTimestamp != nil {
			return err
		}
		n, err := p.mirrorAll(ctx, v, batch)
		if created += n; err != nil {
			return err
		}
	}
	return nil
}

// mirrorAll creates the objects of a batch side by side, and returns how many it created. One that exists by now stays as it is.
func (p *poll) mirrorAll(ctx context.Context, v *v1beta2.Volume, names []string) (int, error) {
	var created atomic.Int64
	failed := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		p.mirrors <- struct{}{}
		all.Go(func() {
			defer func() { <-p.mirrors }()
			if failed[i] = p.mirrorOne(ctx, v, name); failed[i] == nil {
				created.Add(1)
			} else if apierrors.IsAlreadyExists(failed[i]) {
				failed[i] = nil
			}
		})
	}
	all.Wait()
	return int(created.Load()), errors.Join(failed...)
}

// mirrorOne creates one object.
func (p *poll) mirrorOne(ctx context.Context, v *v1beta2.Volume, name string) error {
	if err := p.rt.Client.Create(ctx, v1beta2.NewSnapshot(v, name)); err != nil {
		return fmt.Errorf("creating snapshot %s: %w", name, err)
	}
	p.snapshotLog().Info("created an object for a snapshot of the engine", "snapshot", name, "volume", v.Name, "engine", p.engine.Name)
	return nil
}
