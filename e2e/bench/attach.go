package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// manyVolumes is how many volumes are attached at once in the group attach.
var manyVolumes = 1000

const (
	// hosts are the nodes that hold the many volumes; the last node holds none.
	hosts        = 10
	cycleSamples = 40
	benchTicket  = "bench"
)

// attach measures how soon a ticket is served, what a cycle of attaching and detaching costs, and what a thousand attached
// volumes cost while nothing happens and while a node that is not theirs comes and goes.
func attach(ctx context.Context, r *report) (err error) {
	w, err := world.Start(ctx, world.Options{Nodes: names(hosts + 1), Record: true, Attach: true, Say: r.say, Flags: measuredAttach(),
		SimulatorArgs: []string{"--start-time", "0", "--stop-time", "0", "--linger", "0", "--heartbeat", "0", "--status-period", "0", "--log-level", "warn"}})
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
	for _, part := range []func(context.Context) error{b.latency, b.cycle, b.bulk, b.silence, b.flap} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measuredAttach are the default flags of real controllers but for what a World shortens, without debug logs.
func measuredAttach() map[string][]string {
	flags := map[string][]string{}
	for _, controller := range []string{world.IMMonitor, world.OrphanController, world.AttachController} {
		flags[controller] = append(world.FastFlags(controller), "--log-level=info", "--log-format=json")
	}
	return flags
}

type attachBench struct {
	*report
	world          *world.World
	seen           *volumes
	patch, patch99 float64 // the API server's own status patch, ms
	cycleWrites    float64 // of attaching alone
}

func (b *attachBench) note() string {
	return fmt.Sprintf("API server's own status patch: p50 %.1f ms, p99 %.1f ms", b.patch, b.patch99)
}

// latency measures from the ticket to spec.nodeID, and to the attached volume, one volume after the other.
func (b *attachBench) latency(ctx context.Context) error {
	var p50s, p99s, whole []float64
	for run := range runs {
		var toNode []float64
		for sample := range cycleSamples {
			name := fmt.Sprintf("latency-%d-%d", run, sample)
			node, all, err := b.once(ctx, name)
			if err != nil {
				return err
			}
			toNode, whole = append(toNode, node), append(whole, all)
		}
		p50s, p99s = append(p50s, median(toNode)), append(p99s, percentile(toNode, 0.99))
		b.say("  ticket to nodeID run %d of %d: p50 %.1f ms, p99 %.1f ms", run+1, runs, p50s[run], p99s[run])
	}
	b.add(Result{Name: "attach.ticket_to_nodeid.p50", Value: median(p50s), Unit: "ms", Runs: runs, Spread: spread(p50s), Note: b.note()})
	b.add(Result{Name: "attach.ticket_to_nodeid.p99", Value: median(p99s), Unit: "ms", Goal: "<= 20", Runs: runs, Spread: spread(p99s), Note: fmt.Sprintf("%d samples a run; %s", cycleSamples, b.note())})
	b.add(Result{Name: "attach.ticket_to_attached.p50", Value: median(whole), Unit: "ms", Runs: len(whole), Spread: spread(whole), Note: "v1, 2 replicas, the simulator's latencies zero; " + b.note()})
	return nil
}

// once orders a volume, attaches it by a ticket and lets it go, and returns the milliseconds to spec.nodeID and to attached.
func (b *attachBench) once(ctx context.Context, name string) (toNode, toAttached float64, err error) {
	w := b.world
	if err := w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil); err != nil {
		return 0, 0, err
	}
	if err := w.Quiet(ctx, time.Minute); err != nil {
		return 0, 0, err
	}
	awaitNode := b.seen.expect(name, chosen)
	began := time.Now()
	if err := w.Ticket(ctx, name, benchTicket, v1beta2.AttacherCSI, node, nil); err != nil {
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
	letGo := b.seen.expect(name, detached)
	if err := w.DropTicket(ctx, name, benchTicket); err != nil {
		return 0, 0, err
	}
	if _, err := letGo(ctx); err != nil {
		return 0, 0, err
	}
	return milliseconds(at.Sub(began)), milliseconds(done.Sub(began)), w.DeleteVolume(ctx, name)
}

// cycle counts the writes of one attach and one detach, and compares the time of the attach with their floor.
func (b *attachBench) cycle(ctx context.Context) error {
	w := b.world
	const name = "cycle"
	if err := w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil); err != nil {
		return err
	}
	var ups, downs, calls, times []float64
	for run := range runs + 1 {
		if err := w.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		up, took, err := b.half(ctx, name, attached, func(ctx context.Context) error {
			return w.Ticket(ctx, name, benchTicket, v1beta2.AttacherCSI, node, nil)
		}, run == 1)
		if err != nil {
			return err
		}
		down, _, err := b.half(ctx, name, detached, func(ctx context.Context) error { return w.DropTicket(ctx, name, benchTicket) }, run == 1)
		if err != nil {
			return err
		}
		if run == 0 {
			continue // The first time ever marks the replicas as healthy, too.
		}
		ups, downs, calls, times = append(ups, up), append(downs, down), append(calls, up+down), append(times, took)
	}
	b.cycleWrites = median(ups)
	b.add(Result{Name: "attach.cycle.api_writes", Value: median(calls), Unit: "count", Runs: runs, Spread: spread(calls),
		Note: fmt.Sprintf("attach %.0f, detach %.0f; v1, 2 replicas; floor %.1f ms = writes x status patch p50; the ticket itself, leases and events not counted", median(ups), median(downs), median(calls)*b.patch)})
	b.add(Result{Name: "attach.latency_over_floor", Value: median(times) / (median(ups) * b.patch), Unit: "ratio", Goal: "<= 2", Runs: runs, Spread: spread(times),
		Note: fmt.Sprintf("%.1f ms to attached, floor %.1f ms = %.0f writes; the spread is in ms; %s", median(times), median(ups)*b.patch, median(ups), b.note())})
	return w.DeleteVolume(ctx, name)
}

// half is one half of a cycle: what it writes until nothing more happens, and the milliseconds until the volume is there.
func (b *attachBench) half(ctx context.Context, name string, there func(*v1beta2.Volume) bool, act func(context.Context) error, show bool) (writes, took float64, err error) {
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
	if show {
		for _, line := range w.API.Counts().Lines(write) {
			b.say("    %s", line)
		}
	}
	return float64(w.API.Counts().Sum(write)), milliseconds(at.Sub(began)), nil
}

// bulk attaches many volumes at once.
func (b *attachBench) bulk(ctx context.Context) error {
	w := b.world
	b.say("  ordering %d volumes with 3 replicas", manyVolumes)
	for i := range hosts {
		if err := w.Patch(ctx, w.NodeObject(fmt.Sprintf("node-%d", i+1)), map[string]any{"spec": map[string]any{"tags": []string{"host"}}}); err != nil {
			return err
		}
	}
	if err := b.each(ctx, func(ctx context.Context, i int) error {
		return w.Order(ctx, many(i), v1beta2.DataEngineV1, 3, func(s *v1beta2.VolumeSpec) { s.NodeSelector = []string{"host"} })
	}); err != nil {
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
	began := time.Now()
	if err := b.each(ctx, func(ctx context.Context, i int) error {
		return w.Ticket(ctx, many(i), benchTicket, v1beta2.AttacherCSI, fmt.Sprintf("node-%d", i%hosts+1), nil)
	}); err != nil {
		return err
	}
	for _, wait := range waits {
		if _, err := wait(ctx); err != nil {
			return err
		}
	}
	took, highest := time.Since(began), peak()
	writes := float64(w.API.Counts().Sum(write))
	b.add(Result{Name: "attach.bulk_1000.seconds", Value: took.Seconds(), Unit: "s", Runs: 1,
		Note: fmt.Sprintf("%d volumes, 3 replicas each; %.0f writes, peak %d writes in a second; tickets included", manyVolumes, writes, highest)})
	b.add(Result{Name: "attach.bulk_1000.ratio", Value: took.Seconds() / (writes / rate), Unit: "ratio", Goal: "<= 1.5", Runs: 1,
		Note: fmt.Sprintf("time : writes / API rate; the API server alone takes %.0f status patches a second from 16 writers", rate)})
	return nil
}

func many(i int) string { return fmt.Sprintf("many-%d", i) }

// each does something for each of the many volumes, 16 at a time.
func (b *attachBench) each(ctx context.Context, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range manyVolumes {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

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

// silence watches the many attached volumes while nothing happens.
func (b *attachBench) silence(ctx context.Context) error {
	const during = 3 * time.Minute
	w := b.world
	if err := settled(ctx, w); err != nil {
		return err
	}
	w.API.Reset()
	w.DataPlane.Reset()
	b.say("  watching %d attached volumes for %s", manyVolumes, during)
	if err := w.Never(ctx, "the death of a controller", during, func(context.Context) (string, error) { return "", w.Died() }); err != nil {
		return err
	}
	note := fmt.Sprintf("%d attached volumes, %s of real time", manyVolumes, during)
	for _, line := range append(w.API.Counts().Lines(write), w.DataPlane.Counts().Lines(call)...) {
		b.say("    %s", line)
	}
	b.add(Result{Name: "attach.quiet.api_writes", Value: float64(w.API.Counts().Sum(write)), Unit: "count", Goal: "0", Runs: 1, Note: note})
	b.add(Result{Name: "attach.quiet.unary_calls", Value: float64(w.DataPlane.Counts().Sum(others)), Unit: "count", Goal: "0", Runs: 1, Note: "without the named looks"})
	b.add(Result{Name: "attach.quiet.look_calls_per_s", Value: float64(w.DataPlane.Counts().Sum(looks)) / during.Seconds(), Unit: "1/s", Goal: "<= 70", Runs: 1, Note: "safety lists and engine looks; " + note})
	return nil
}

// flap lets a node that holds nothing of the volumes go down and come back, and counts what is looked at because of it.
func (b *attachBench) flap(ctx context.Context) error {
	w := b.world
	stranger := fmt.Sprintf("node-%d", hosts+1)
	before, err := b.reconciles(ctx)
	if err != nil {
		return err
	}
	writes := w.API.Counts().Sum(volumeWrites)
	if err := w.CutNode(ctx, stranger); err != nil {
		return err
	}
	if err := w.WaitNode(ctx, stranger, v1beta2.ConditionFalse, time.Minute); err != nil {
		return err
	}
	if err := w.JoinNode(ctx, stranger); err != nil {
		return err
	}
	if err := w.WaitNode(ctx, stranger, v1beta2.ConditionTrue, time.Minute); err != nil {
		return err
	}
	if err := settled(ctx, w); err != nil {
		return err
	}
	after, err := b.reconciles(ctx)
	if err != nil {
		return err
	}
	b.add(Result{Name: "attach.node_flap.foreign_reconciles", Value: after - before, Unit: "count", Goal: "0", Runs: 1,
		Note: fmt.Sprintf("reconciles of attach-controller while a node without volumes went down and came back; %d writes of volumes' objects", w.API.Counts().Sum(volumeWrites)-writes)})
	return nil
}

// reconciles is how often attach-controller looked at anything but a setting.
func (b *attachBench) reconciles(ctx context.Context) (float64, error) {
	return b.world.Counter(ctx, world.AttachController, "controller_runtime_reconcile_total")
}

// volumeWrites are writes to what belongs to a volume.
func volumeWrites(request record.Request) bool {
	if request.Kind != record.KindWrite {
		return false
	}
	switch request.Resource {
	case "volumes", "volumeattachments", "engines", "enginefrontends", "replicas":
		return true
	}
	return false
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
