package main

import (
	"context"
	"fmt"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// adoptedRuns is how often snapshots are made in the data plane; each time of adoptedVolumes new volumes, adoptedEach of each.
	adoptedRuns    = 3
	adoptedVolumes = 10
	adoptedEach    = 200
)

// adopted measures how long snapshots that were made in the data plane lack their objects.
func (b *snapshotBench) adopted(ctx context.Context) error {
	const total = adoptedVolumes * adoptedEach
	var objects, readies, writes, reads []float64
	for run := range adoptedRuns {
		if err := b.attachAdopted(ctx, run); err != nil {
			return err
		}
		if err := settled(ctx, b.world); err != nil {
			return err
		}
		b.crowd.reset()
		b.world.API.Reset()
		used := b.processors(ctx)
		began := time.Now()
		if err := world.Each(ctx, total, func(ctx context.Context, i int) error {
			return b.world.SaveSnapshot(ctx, adopter(run, i%adoptedVolumes), fmt.Sprintf("adopted-%d-%04d", run, i))
		}); err != nil {
			return err
		}
		if err := b.await(ctx, "the objects of all snapshots", total, b.crowd.created); err != nil {
			return err
		}
		objects = append(objects, time.Since(began).Seconds())
		if err := b.await(ctx, "all snapshots to be ready", total, b.crowd.ready); err != nil {
			return err
		}
		readies = append(readies, time.Since(began).Seconds())
		writes = append(writes, float64(b.world.API.Counts().Sum(write))/total)
		reads = append(reads, float64(b.world.API.Counts().Sum(ofKind(record.KindRead)))/total)
		b.byResource()
		b.logf("    processor time: %s", used(ctx))
	}
	size := fmt.Sprintf("%d snapshots of %d attached volumes, made in the data plane; engines are polled every 30 to 36 s", total,
		adoptedVolumes)
	b.add(Result{Name: "snapshot.adopted.seconds", Value: median(objects), Unit: "s", Goal: "<= 60", Runs: adoptedRuns,
		Spread: spread(objects), Note: "until all have objects; " + size})
	b.add(Result{Name: "snapshot.adopted.ready", Value: median(readies), Unit: "s", Runs: adoptedRuns, Spread: spread(readies),
		Note: "until all are ready"})
	b.add(Result{Name: "snapshot.adopted.api_writes", Value: median(writes), Unit: "count", Runs: adoptedRuns, Spread: spread(writes),
		Note: "of all binaries, for each snapshot"})
	b.add(Result{Name: "snapshot.adopted.api_reads", Value: median(reads), Unit: "count", Runs: adoptedRuns, Spread: spread(reads),
		Note: "uncached, of all binaries, for each snapshot"})
	return nil
}

func adopter(run, i int) string { return fmt.Sprintf("adopter-%d-%d", run, i) }

// attachAdopted attaches the volumes of a run with a frontend.
func (b *snapshotBench) attachAdopted(ctx context.Context, run int) error {
	return world.Each(ctx, adoptedVolumes, func(ctx context.Context, i int) error {
		if err := b.world.Order(ctx, adopter(run, i), v1beta2.DataEngineV1, 2, nil); err != nil {
			return err
		}
		await := b.seen.expect(adopter(run, i), healthy)
		if err := b.ticket(ctx, adopter(run, i), fmt.Sprintf("node-%d", i%hosts+1)); err != nil {
			return err
		}
		_, err := await(ctx)
		return err
	})
}
