package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// bulk attaches many volumes at once.
func (b *attachBench) bulk(ctx context.Context) error {
	w := b.world
	if err := b.order(ctx, manyVolumes, hosts); err != nil {
		return err
	}
	if err := w.Quiet(ctx, 5*time.Minute); err != nil {
		return err
	}
	rate, err := b.apiRate(ctx)
	if err != nil {
		return err
	}
	w.API.Reset()
	waits := make([]func(context.Context) (time.Time, error), manyVolumes)
	for i := range waits {
		waits[i] = b.seen.expect(many(i), attached)
	}
	peak := b.peak(ctx)
	before, err := used(w, "")
	if err != nil {
		return err
	}
	profiles, err := processorProfiles(ctx, "bulk", 30*time.Second, processesOf(w, "")...)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := world.Each(ctx, manyVolumes, func(ctx context.Context, i int) error {
		return b.ticket(ctx, many(i), hostOf(i, hosts))
	}); err != nil {
		return err
	}
	for _, wait := range waits {
		if _, err := wait(ctx); err != nil {
			return err
		}
	}
	took, highest := time.Since(began), peak()
	after, err := used(w, "")
	if err != nil {
		return err
	}
	if err := profiles(); err != nil {
		return err
	}
	for _, controller := range w.Controllers() {
		b.logf("    %-20s %6.1f ms of processor time a volume", controller, (after[controller]-before[controller])*1000/float64(manyVolumes))
	}
	writes := float64(w.API.Counts().Sum(write))
	b.add(Result{Name: "attach.bulk_1000.seconds", Value: took.Seconds(), Unit: "s", Runs: 1,
		Note: fmt.Sprintf("%d volumes, 3 replicas each; %.0f writes, peak %d in a second, tickets included; beside them %d events and %d "+
			"uncached reads", manyVolumes, writes, highest, w.API.Counts().Sum(ofKind(record.KindEvent)),
			w.API.Counts().Sum(ofKind(record.KindRead)))})
	b.add(Result{Name: "attach.bulk_1000.ratio", Value: took.Seconds() / (writes / rate), Unit: "ratio", Goal: "<= 1.2", Runs: 1,
		Note: fmt.Sprintf("time : writes / API rate; the API server alone takes %.0f status patches a second from 16 writers", rate)})
	b.add(Result{Name: "attach.bulk_1000.cpu_ms_per_volume", Value: (total(after) - total(before)) * 1000 / float64(manyVolumes), Unit: "ms",
		Runs: 1, Note: "processor time of all five controllers until the last volume is attached"})
	return b.peaks()
}

// peaks are what the memory limits of the charts rest on.
func (b *attachBench) peaks() error {
	peaks, err := megabytes(b.world, "", (*world.Process).PeakRSS)
	if err != nil {
		return err
	}
	for _, controller := range b.world.Controllers() {
		b.add(Result{Name: "attach.bulk_1000.peak_rss." + controller, Value: peaks[controller], Unit: "MB", Runs: 1,
			Note: fmt.Sprintf("%d volumes made and attached: the most resident memory since the start", manyVolumes)})
	}
	return nil
}

// order makes many volumes with three replicas each, on the first nodes alone.
func (b *attachBench) order(ctx context.Context, volumes, nodes int) error {
	w := b.world
	b.logf("  ordering %d volumes with 3 replicas on %d nodes", volumes, nodes)
	for i := range nodes {
		if err := w.Patch(ctx, w.NodeObject(hostOf(i, nodes)), map[string]any{"spec": map[string]any{"tags": []string{"host"}}}); err != nil {
			return err
		}
	}
	return world.Each(ctx, volumes, func(ctx context.Context, i int) error {
		return w.Order(ctx, many(i), v1beta2.DataEngineV1, 3, func(s *v1beta2.VolumeSpec) { s.NodeSelector = []string{"host"} })
	})
}

// hostOf is the node to which a volume of many is attached, as many to each.
func hostOf(i, nodes int) string { return fmt.Sprintf("node-%d", i%nodes+1) }

func many(i int) string { return fmt.Sprintf("many-%d", i) }

// peak watches how many writes a second there are, and returns the highest number when asked.
func (b *attachBench) peak(ctx context.Context) func() int {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan int)
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		before, highest := b.world.API.Counts().Sum(write), 0
		for {
			select {
			case <-ctx.Done():
				result <- highest
				return
			case <-ticker.C:
				now := b.world.API.Counts().Sum(write)
				before, highest = now, max(highest, now-before)
			}
		}
	}()
	return func() int { cancel(); return <-result }
}

// apiRate is how many status patches a second the API server takes from 16 writers.
func (b *attachBench) apiRate(ctx context.Context) (float64, error) {
	const writers, patches = 16, 150
	began := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	for n := range writers {
		group.Go(func() error { return b.world.PatchOften(groupCtx, fmt.Sprintf("rate-r-%d", n), patches) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return writers * patches / time.Since(began).Seconds(), nil
}
