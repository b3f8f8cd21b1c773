package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/shared/api/v1beta2"
)

// cycle counts the writes of one attach and one detach, and compares the time of the attach with their floor.
func (b *attachBench) cycle(ctx context.Context) error {
	w := b.world
	const name = "cycle"
	if err := w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil); err != nil {
		return err
	}
	var ups, downs, calls, times, reads []float64
	for run := range runs + 1 {
		if err := w.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		read := 0.0
		up, took, err := b.half(ctx, name, attached, func(ctx context.Context) error {
			return b.ticket(ctx, name, node)
		}, run == 1)
		if err != nil {
			return err
		}
		read += b.readsBeside(run == 1)
		down, _, err := b.half(ctx, name, detached, func(ctx context.Context) error { return w.DropTicket(ctx, name, benchTicket) },
			run == 1)
		if err != nil {
			return err
		}
		read += b.readsBeside(run == 1)
		if run == 0 {
			continue // The first attach also marks the replicas as healthy.
		}
		ups, downs, calls, times = append(ups, up), append(downs, down), append(calls, up+down), append(times, took)
		reads = append(reads, read)
	}
	b.add(Result{Name: "attach.cycle.api_writes", Value: median(calls), Unit: "count", Runs: runs, Spread: spread(calls),
		Note: fmt.Sprintf("attach %.0f, detach %.0f; v1, 2 replicas; floor %.1f ms = writes x status patch p50; the ticket itself, "+
			"leases and events not counted; %d writes were refused as conflicts in %d cycles", median(ups), median(downs),
			median(calls)*b.patch, b.refused, runs+1)})
	b.add(Result{Name: "attach.cycle.api_reads", Value: median(reads), Unit: "count", Goal: "<= 6", Runs: runs, Spread: spread(reads),
		Note: "uncached, of all binaries, attach and detach together"})
	b.add(Result{Name: "attach.latency_over_floor", Value: median(times) / (median(ups) * b.patch), Unit: "ratio", Goal: "<= 2", Runs: runs,
		Spread: spread(times),
		Note: fmt.Sprintf("%.1f ms to attached, floor %.1f ms = %.0f writes; the spread is in ms; %s", median(times), median(ups)*b.patch,
			median(ups), b.note())})
	return w.DeleteVolume(ctx, name)
}

// readsBeside counts the uncached reads of the half that was measured last.
func (b *attachBench) readsBeside(show bool) float64 {
	if show {
		for _, line := range b.world.API.Counts().Lines(ofKind(record.KindRead)) {
			b.logf("    %s", line)
		}
	}
	return float64(b.world.API.Counts().Sum(ofKind(record.KindRead)))
}

// half is one half of a cycle: what it writes until nothing more happens, and the milliseconds until the volume is there.
func (b *attachBench) half(ctx context.Context, name string, there func(*v1beta2.Volume) bool, act func(context.Context) error,
	show bool) (writes, took float64, err error) {
	w := b.world
	w.API.Reset()
	await := b.seen.expect(name, there)
	began := time.Now()
	if err := act(ctx); err != nil {
		return 0, 0, err
	}
	at, err := await(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := w.Quiet(ctx, time.Minute); err != nil {
		return 0, 0, err
	}
	done := 0
	for _, request := range w.API.Writes() {
		if show {
			b.logf("    %s", writeLine(request, began))
		}
		if request.Code < http.StatusBadRequest {
			done++
		} else {
			b.refused++
		}
	}
	return float64(done), milliseconds(at.Sub(began)), nil
}
