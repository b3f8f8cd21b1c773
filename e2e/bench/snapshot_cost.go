package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// cost counts the writes of one creation and one deletion on an attached volume, and what a ticket adds.
func (b *snapshotBench) cost(ctx context.Context) error {
	w := b.world
	const held, loose = "cost", "loose"
	for _, name := range []string{held, loose} {
		if err := w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil); err != nil {
			return err
		}
	}
	if err := b.ticket(ctx, held, node); err != nil {
		return err
	}
	if err := w.WaitRobust(ctx, held, v1beta2.VolumeRobustnessHealthy, time.Minute); err != nil {
		return err
	}
	if err := b.admitted(ctx, held); err != nil {
		return err
	}
	var creates, deletes, tickets, createReads, deleteReads []float64
	for run := range runs + 1 {
		create, own, err := b.act(ctx, "create", run == 1, func() error { return b.taken(ctx, held, fmt.Sprintf("%s-%d", held, run)) })
		if err != nil {
			return err
		}
		read := b.reads(run == 1)
		_, loosely, err := b.act(ctx, "create with a ticket", run == 1,
			func() error { return b.taken(ctx, loose, fmt.Sprintf("%s-%d", loose, run)) })
		if err != nil {
			return err
		}
		if run > 0 { // The first open of an engine costs more.
			creates, tickets = append(creates, create), append(tickets, loosely-own)
			createReads = append(createReads, read)
		}
	}
	for run := range runs {
		name := fmt.Sprintf("%s-%d", held, run)
		remove, _, err := b.act(ctx, "delete", run == 1, func() error {
			if err := w.DeleteSnapshot(ctx, name); err != nil {
				return err
			}
			return w.WaitSnapshotGone(ctx, name, time.Minute)
		})
		if err != nil {
			return err
		}
		deletes, deleteReads = append(deletes, remove), append(deleteReads, b.reads(run == 1))
	}
	b.add(Result{Name: "snapshot.create.api_writes", Value: median(creates), Unit: "count", Goal: "<= 3", Runs: runs,
		Spread: spread(creates),
		Note: "of all binaries, on an attached volume, with the webhook; the user's " +
			"own request, leases and events not counted"})
	b.add(Result{Name: "snapshot.delete.api_writes", Value: median(deletes), Unit: "count", Goal: "<= 4", Runs: runs,
		Spread: spread(deletes), Note: "the oldest of a chain of an attached volume; one of them is of the snapshot that it is merged into"})
	for _, one := range []struct {
		name  string
		reads []float64
	}{{"create", createReads}, {"delete", deleteReads}} {
		b.add(Result{Name: "snapshot." + one.name + ".api_reads", Value: median(one.reads), Unit: "count", Goal: "<= 2", Runs: runs,
			Spread: spread(one.reads), Note: "uncached, of all binaries"})
	}
	b.add(Result{Name: "snapshot.ticket.api_writes", Value: median(tickets), Unit: "count", Goal: "<= 4", Runs: runs,
		Spread: spread(tickets),
		Note: "writes of snapshot-controller for a snapshot of a detached volume less those of an attached one; what others write to " +
			"attach and detach it is the cycle of the group attach"})
	return nil
}

// admitted waits until the API server calls the webhook, which sets the defaults of a Snapshot.
func (b *snapshotBench) admitted(ctx context.Context, volume string) error {
	return b.world.Wait(ctx, "the webhook", time.Minute, func(ctx context.Context) (string, error) {
		s := &v1beta2.Snapshot{Spec: v1beta2.SnapshotSpec{Volume: volume, CreateSnapshot: true}}
		s.Name, s.Namespace = "never", b.world.Namespace
		if err := b.world.Admin.Create(ctx, s, client.DryRunAll); err != nil {
			return "", fmt.Errorf("trying to create a snapshot: %w", err)
		}
		if len(s.Finalizers) == 0 {
			return "the webhook is not called", nil
		}
		return "", nil
	})
}

func (b *snapshotBench) taken(ctx context.Context, volume, name string) error {
	if err := b.world.Snapshot(ctx, volume, name); err != nil {
		return err
	}
	return b.world.WaitSnapshot(ctx, name, v1beta2.SnapshotReady, v1beta2.ReasonReady, time.Minute)
}

// act counts the writes that an action causes until no more follow: all, and those of snapshot-controller.
func (b *snapshotBench) act(ctx context.Context, what string, show bool, do func() error) (all, own float64, err error) {
	w := b.world
	if err := w.Quiet(ctx, time.Minute); err != nil {
		return 0, 0, err
	}
	w.API.Reset()
	began := time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	if err := w.Quiet(ctx, time.Minute); err != nil {
		return 0, 0, err
	}
	for _, request := range w.API.Writes() {
		if show {
			b.logf("    %s: %s", what, writeLine(request, began))
		}
		if request.Code >= http.StatusBadRequest {
			continue
		}
		all++
		if request.User == world.SnapshotController {
			own++
		}
	}
	return all, own, nil
}

// reads counts the uncached reads of the act that was measured last.
func (b *snapshotBench) reads(show bool) float64 {
	if show {
		for _, line := range b.world.API.Counts().Lines(ofKind(record.KindRead)) {
			b.logf("    %s", line)
		}
	}
	return float64(b.world.API.Counts().Sum(ofKind(record.KindRead)))
}

func only(name string) func(record.Method) bool {
	return func(m record.Method) bool { return !m.Stream && m.Name == name }
}

// processors returns a function that reports the seconds of processor time of each controller since the call.
func (b *snapshotBench) processors(ctx context.Context) func(context.Context) string {
	now := func(ctx context.Context) map[string]float64 {
		out := map[string]float64{}
		for _, name := range b.world.Controllers() {
			if value, err := b.world.Counter(ctx, name, "process_cpu_seconds_total"); err == nil {
				out[name] = value
			}
		}
		return out
	}
	before := now(ctx)
	return func(ctx context.Context) string {
		var text []string
		after := now(ctx)
		for _, name := range slices.Sorted(maps.Keys(after)) {
			text = append(text, fmt.Sprintf("%s %.1f s", name, after[name]-before[name]))
		}
		return strings.Join(text, ", ")
	}
}

// byResource prints the number of writes of each kind.
func (b *snapshotBench) byResource() {
	counts := map[string]int{}
	for _, request := range b.world.API.Writes() {
		counts[fmt.Sprintf("%s %s %s %s %d", request.User, request.Verb, request.Resource, request.Subresource, request.Code)]++
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		b.logf("    %7d  %s", counts[what], what)
	}
}
