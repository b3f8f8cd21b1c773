package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// manyVolumes is how many volumes are attached at once in the group attach.
var manyVolumes = 1000

// attachPart is one part of the group: latency, cycle or bulk; empty means all.
var attachPart string

const (
	// hosts are the nodes that hold the many volumes; the last node holds none.
	hosts        = 10
	cycleSamples = 40
	benchTicket  = "bench"
)

// attach measures how soon a ticket is served, what a cycle of attaching and detaching costs, and what a thousand attached
// volumes cost while nothing happens and while a node without a volume goes down and returns.
func attach(ctx context.Context, r *report) (err error) {
	w, err := worldOfMany(ctx, r, hosts+1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b := &attachBench{report: r, world: w}
	if b.seen, err = watchVolumes(ctx, w); err != nil {
		return err
	}
	if b.patch, b.patch99, err = floor(ctx, w); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"latency", b.latency}, {"cycle", b.cycle}, {"bulk", b.bulk}, {"bulk", b.silence}, {"bulk", b.flap}} {
		if attachPart != "" && attachPart != part.name {
			continue
		}
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

type attachBench struct {
	*report
	world          *world.World
	seen           *volumes
	patch, patch99 float64 // the API server's own status patch, ms
	refused        int     // writes in cycles that changed nothing
}

// await counts at each pause until the wanted number is reached, and logs now and then how far that is.
func (b *attachBench) await(ctx context.Context, what string, pause, within time.Duration, want int,
	count func(context.Context) (int, error)) error {
	logged := time.Now()
	return b.world.WaitSlowly(ctx, what, pause, within, func(ctx context.Context) (string, error) {
		is, err := count(ctx)
		if err != nil || is >= want {
			return "", err
		}
		if time.Since(logged) > 20*time.Second {
			logged = time.Now()
			b.logf("    %d of %d", is, want)
		}
		return fmt.Sprintf("%d of %d", is, want), nil
	})
}

func (b *attachBench) note() string {
	return fmt.Sprintf("API server's own status patch: p50 %.1f ms, p99 %.1f ms", b.patch, b.patch99)
}

// latency measures from the ticket to spec.nodeID, and to the attached volume, one volume after the other.
func (b *attachBench) latency(ctx context.Context) error {
	var p50s, p99s, whole []float64
	for run := range runs {
		toNode, toAttached, err := b.row(ctx, run)
		if err != nil {
			return err
		}
		p50s, p99s, whole = append(p50s, median(toNode)), append(p99s, percentile(toNode, 0.99)), append(whole, toAttached...)
		b.logf("  ticket to nodeID run %d of %d: p50 %.1f ms, p99 %.1f ms; to attached: p50 %.1f ms", run+1, runs, p50s[run], p99s[run],
			median(toAttached))
	}
	b.add(Result{Name: "attach.ticket_to_nodeid.p50", Value: median(p50s), Unit: "ms", Runs: runs, Spread: spread(p50s), Note: b.note()})
	b.add(Result{Name: "attach.ticket_to_nodeid.p99", Value: median(p99s), Unit: "ms", Goal: "<= 20", Runs: runs, Spread: spread(p99s),
		Note: fmt.Sprintf("%d samples a run; %s", cycleSamples, b.note())})
	b.add(Result{Name: "attach.ticket_to_attached.p50", Value: median(whole), Unit: "ms", Runs: len(whole), Spread: spread(whole),
		Note: "v1, 2 replicas, the simulator's latencies zero; " + b.note()})
	return nil
}

// row orders volumes, attaches one after the other by a ticket, and returns the milliseconds of each to spec.nodeID and to
// attached.
func (b *attachBench) row(ctx context.Context, run int) (toNode, toAttached []float64, err error) {
	w := b.world
	name := func(sample int) string { return fmt.Sprintf("latency-%d-%d", run, sample) }
	if err := world.Each(ctx, cycleSamples, func(ctx context.Context, i int) error {
		return w.Order(ctx, name(i), v1beta2.DataEngineV1, 2, nil)
	}); err != nil {
		return nil, nil, err
	}
	if err := w.Quiet(ctx, time.Minute); err != nil {
		return nil, nil, err
	}
	for sample := range cycleSamples {
		node, all, err := b.once(ctx, name(sample))
		if err != nil {
			return nil, nil, err
		}
		toNode, toAttached = append(toNode, node), append(toAttached, all)
	}
	return toNode, toAttached, world.Each(ctx, cycleSamples, func(ctx context.Context, i int) error {
		gone := b.seen.expect(name(i), detached)
		if err := w.DropTicket(ctx, name(i), benchTicket); err != nil {
			return err
		}
		if _, err := gone(ctx); err != nil {
			return err
		}
		return w.DeleteVolume(ctx, name(i))
	})
}

// once attaches one volume, and waits until all writes that follow are done.
func (b *attachBench) once(ctx context.Context, name string) (toNode, toAttached float64, err error) {
	awaitNode := b.seen.expect(name, chosen)
	began := time.Now()
	if err := b.ticket(ctx, name, node); err != nil {
		return 0, 0, err
	}
	at, err := awaitNode(ctx)
	if err != nil {
		return 0, 0, err
	}
	done, err := b.seen.expect(name, attached)(ctx)
	if err != nil {
		return 0, 0, err
	}
	_, err = b.seen.expect(name, healthy)(ctx)
	return milliseconds(at.Sub(began)), milliseconds(done.Sub(began)), err
}

// ticket requests a volume in one request, so that the measured time has nothing else in it.
func (b *attachBench) ticket(ctx context.Context, volume, node string) error {
	attachment := &v1beta2.VolumeAttachment{}
	attachment.Name, attachment.Namespace = volume, b.world.Namespace
	ticket := map[string]any{"id": benchTicket, "type": v1beta2.AttacherCSI, "nodeID": node, "generation": 1}
	return b.world.Patch(ctx, attachment, map[string]any{"spec": map[string]any{"attachmentTickets": map[string]any{benchTicket: ticket}}})
}
