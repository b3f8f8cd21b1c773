package enginepoll

import (
	"context"
	"fmt"
	"slices"
	"sync"

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

// mirror creates the objects of snapshots that have none, unless the volume is being deleted or is another one. One that cannot be created
// holds up no other one.
func (p *poll) mirror(ctx context.Context, names []string) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !p.due(objectOf(name)) })
	created := 0
	defer func() {
		if created > 0 {
			snapshotsMirrored.Add(float64(created))
			events.Emit(p.rt.Recorder, p.engine, mirroredEvent(created, names))
		}
	}()
	for batch := range slices.Chunk(names, mirrorBatch) {
		v, err := lookup.Shared(ctx, p.rt.Uncached, p.rt.Namespace, p.engine.Spec.VolumeName, &v1beta2.Volume{})
		if p.wrote("Snapshots", err); err != nil || !engine.IsOf(p.engine, v) || v.DeletionTimestamp != nil {
			return
		}
		created += p.mirrorAll(ctx, v, batch)
	}
}

// objectOf names the object of a snapshot that has none.
func objectOf(snapshot string) string { return "Snapshot " + snapshot }

// mirrorAll creates the objects of a batch side by side, and returns how many it created. One that exists by now stays as it is.
func (p *poll) mirrorAll(ctx context.Context, v *v1beta2.Volume, names []string) (created int) {
	failed := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		p.mirrors <- struct{}{}
		all.Go(func() {
			defer func() { <-p.mirrors }()
			failed[i] = p.mirrorOne(ctx, v, name)
		})
	}
	all.Wait()
	for i, name := range names {
		if failed[i] == nil {
			created++
		}
		if apierrors.IsAlreadyExists(failed[i]) {
			failed[i] = nil
		}
		p.wrote(objectOf(name), failed[i])
	}
	return created
}

// mirrorOne creates one object.
func (p *poll) mirrorOne(ctx context.Context, v *v1beta2.Volume, name string) error {
	if err := p.rt.Client.Create(ctx, v1beta2.NewSnapshot(v, name)); err != nil {
		return fmt.Errorf("creating snapshot %s: %w", name, err)
	}
	p.snapshotLog().Info("created an object for a snapshot of the engine", "snapshot", name, "volume", v.Name, "engine", p.engine.Name)
	return nil
}
