package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// snapshotQuiet is how long the group snapshot counts writes while nothing happens.
var snapshotQuiet = 10 * time.Minute

// living measures all controllers while snapshots are created, kept and removed: the benchmark writes no status itself.
func living(ctx context.Context, r *report) (err error) {
	flags := map[string][]string{}
	for _, controller := range []string{world.IMMonitor, world.OrphanController, world.AttachController, world.SnapshotController} {
		flags[controller] = []string{"--log-level=warn", "--log-format=json"}
	}
	w, err := world.Start(ctx, world.Options{RealTimes: true, Nodes: names(hosts), Record: true, Attach: true, Snapshots: true, Log: r.logf,
		Flags:         flags,
		SimulatorArgs: instant()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.AskAboutSnapshots(ctx, w.Process(world.SnapshotController)); err != nil {
		return err
	}
	b := &snapshotBench{attachBench: attachBench{report: r, world: w}}
	if b.seen, err = watchVolumes(ctx, w); err != nil {
		return err
	}
	if b.crowd, err = watchCrowd(ctx, w); err != nil {
		return err
	}
	for _, part := range b.parts() {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// parts are what is measured with living controllers, one after the other.
func (b *snapshotBench) parts() []func(context.Context) error {
	wave := []func(context.Context) error{b.attachAll, b.make, b.silence, b.removeAll}
	switch snapshotPart {
	case "cost":
		return []func(context.Context) error{b.cost}
	case "wave":
		return wave
	case "adopted":
		return []func(context.Context) error{b.adopted}
	}
	return slices.Concat([]func(context.Context) error{b.cost}, wave, []func(context.Context) error{b.adopted})
}

type snapshotBench struct {
	attachBench
	crowd *crowd
	rate  float64 // the API server's own
	made  float64 // writes a second of all binaries and of the user while snapshots were created
}

// attachAll creates the volumes and attaches them.
func (b *snapshotBench) attachAll(ctx context.Context) error {
	w := b.world
	b.logf("  attaching %d volumes", snapshotVolumes)
	if err := world.Each(ctx, snapshotVolumes, func(ctx context.Context, i int) error {
		return w.Order(ctx, many(i), v1beta2.DataEngineV1, 2, nil)
	}); err != nil {
		return err
	}
	return world.Each(ctx, snapshotVolumes, func(ctx context.Context, i int) error {
		await := b.seen.expect(many(i), healthy)
		if err := b.ticket(ctx, many(i), fmt.Sprintf("node-%d", i%hosts+1)); err != nil {
			return err
		}
		_, err := await(ctx)
		return err
	})
}

func ofKind(kind record.Kind) func(record.Request) bool {
	return func(request record.Request) bool { return request.Kind == kind }
}

func crowded(i, n int) string { return fmt.Sprintf("many-%d-s-%02d", i, n) }

// make has a chain of snapshots taken of every volume, all at once.
func (b *snapshotBench) make(ctx context.Context) (err error) {
	w := b.world
	if err := settled(ctx, w); err != nil {
		return err
	}
	if b.rate, err = b.apiRate(ctx); err != nil {
		return err
	}
	total := snapshotVolumes * chain
	b.logf("  creating %d snapshots", total)
	b.crowd.reset()
	w.API.Reset()
	used := b.processors(ctx)
	began := time.Now()
	if err := world.Each(ctx, total, func(ctx context.Context, i int) error {
		return w.Snapshot(ctx, many(i%snapshotVolumes), crowded(i%snapshotVolumes, i/snapshotVolumes))
	}); err != nil {
		return err
	}
	asked := time.Since(began)
	if err := b.await(ctx, "all snapshots to be ready", total, b.crowd.ready); err != nil {
		return err
	}
	took := time.Since(began)
	writes := float64(w.API.Counts().Sum(write))
	b.made = (writes + float64(total)) / took.Seconds()
	b.byResource()
	b.logf("    processor time: %s", used(ctx))
	reads := float64(w.API.Counts().Sum(ofKind(record.KindRead)))
	b.add(Result{Name: "snapshot.bulk_reads", Value: reads / float64(total), Unit: "count", Goal: "<= 0.3", Runs: 1,
		Note: "uncached, of all binaries, for each snapshot of the wave"})
	b.add(Result{Name: "snapshot.bulk.create.seconds", Value: took.Seconds(), Unit: "s", Runs: 1,
		Note: fmt.Sprintf("%d snapshots of %d attached volumes; asking for them took %.0f s; %.0f writes, %.2f a snapshot; beside them "+
			"%d events", total, snapshotVolumes,
			asked.Seconds(), writes, writes/float64(total), w.API.Counts().Sum(ofKind(record.KindEvent)))})
	return nil
}

// await waits until the count, which costs nothing, is reached.
func (b *snapshotBench) await(ctx context.Context, what string, want int, count func() int) error {
	return b.attachBench.await(ctx, what, 20*time.Millisecond, time.Hour, want, func(context.Context) (int, error) { return count(), nil })
}

// silence counts writes and calls for all snapshots while nothing happens.
func (b *snapshotBench) silence(ctx context.Context) error {
	w := b.world
	if err := settled(ctx, w); err != nil {
		return err
	}
	before, err := reconciles(ctx, w, world.SnapshotController)
	if err != nil {
		return err
	}
	w.API.Reset()
	w.DataPlane.Reset()
	b.logf("  watching %d snapshots for %s", snapshotVolumes*chain, snapshotQuiet)
	if err := w.Pass(ctx, snapshotQuiet); err != nil {
		return err
	}
	after, err := reconciles(ctx, w, world.SnapshotController)
	if err != nil {
		return err
	}
	for _, line := range append(w.API.Counts().Lines(write), w.DataPlane.Counts().Lines(call)...) {
		b.logf("    %s", line)
	}
	note := fmt.Sprintf("%d snapshots on %d attached volumes, %s of real time", snapshotVolumes*chain, snapshotVolumes, snapshotQuiet)
	b.add(Result{Name: "snapshot.quiet.api_writes", Value: float64(w.API.Counts().Sum(write)), Unit: "count", Goal: "0", Runs: 1,
		Note: note})
	b.add(Result{Name: "snapshot.quiet.unary_calls", Value: float64(w.DataPlane.Counts().Sum(others)), Unit: "count", Goal: "0", Runs: 1,
		Note: fmt.Sprintf("without periodic resyncs and engine polls, which were %.1f a second",
			float64(w.DataPlane.Counts().Sum(polls))/snapshotQuiet.Seconds())})
	b.add(Result{Name: "snapshot.quiet.reconciles", Value: total(after) - total(before), Unit: "count", Goal: "0", Runs: 1,
		Note: "of all controllers of snapshot-controller; " + note})
	return nil
}

// merged are the snapshots that were created and can be removed, volume by volume: all but the parent of each volume's head,
// which may not be the last requested one.
func (b *snapshotBench) merged(ctx context.Context) (names []string, err error) {
	var list v1beta2.SnapshotList
	if err := b.world.Admin.List(ctx, &list, client.InNamespace(b.world.Namespace)); err != nil {
		return nil, fmt.Errorf("listing the snapshots: %w", err)
	}
	above := v1beta2.SnapshotsByParent(list.Items)
	for i := range list.Items {
		s := &list.Items[i]
		if strings.HasPrefix(s.Spec.Volume, "many-") && !v1beta2.IsParentOfHead(s.Status.Children, above[s.Name]) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// removeAll deletes every snapshot but the newest of each volume.
func (b *snapshotBench) removeAll(ctx context.Context) error {
	w := b.world
	names, err := b.merged(ctx)
	if err != nil {
		return err
	}
	count := len(names)
	b.logf("  deleting %d snapshots", count)
	b.crowd.reset()
	w.API.Reset()
	w.DataPlane.Reset()
	used := b.processors(ctx)
	began := time.Now()
	if err := world.Each(ctx, count, func(ctx context.Context, i int) error {
		return w.DeleteSnapshot(ctx, names[i])
	}); err != nil {
		return err
	}
	asked := time.Since(began)
	if err := b.await(ctx, "all snapshots to be gone", count, b.crowd.gone); err != nil {
		return err
	}
	took := time.Since(began)
	writes := float64(w.API.Counts().Sum(write))
	b.byResource()
	b.logf("    processor time: %s", used(ctx))
	b.add(Result{Name: "snapshot.bulk.delete.seconds", Value: took.Seconds(), Unit: "s", Runs: 1,
		Note: fmt.Sprintf("%d snapshots of %d attached volumes; asking for it took %.0f s; %.0f writes, %.2f a snapshot; %d removals "+
			"and %d purges were called", count, snapshotVolumes,
			asked.Seconds(), writes, writes/float64(count), w.DataPlane.Counts().Sum(only("SnapshotRemove")),
			w.DataPlane.Counts().Sum(only("SnapshotPurge")))})
	removed := (writes + float64(count)) / took.Seconds()
	slower := min(b.made, removed)
	b.add(Result{Name: "snapshot.bulk_rate_ratio", Value: slower / b.rate, Unit: "ratio", Goal: ">= 0.7", Runs: 1,
		Note: fmt.Sprintf("create %.0f, delete %.0f writes a second of all binaries and of the user; the API server alone takes "+
			"%.0f status patches a second from 16 writers", b.made, removed, b.rate)})
	return nil
}
