package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
)

// The quiet hour: the controllers' clock runs so much faster that an hour passes in ten real minutes. The clock is
// replaced by an overlay of the build; no product code knows of it. With a still faster clock one machine could not answer a
// thousand nodes within the deadlines, which pass faster, too.
const (
	acceleration = 6
	quietReal    = time.Hour / acceleration
)

// quiet counts writes and calls in a large cluster in which nothing happens.
func quiet(ctx context.Context, r *report) (err error) {
	overlay, err := acceleratedClock(ctx)
	if err != nil {
		return err
	}
	w, err := large(ctx, r, world.Options{Record: true, Overlay: overlay})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if _, _, err := evaluatedAll(ctx, w, w.Process(world.IMMonitor), time.Now()); err != nil {
		return err
	}
	if err := settled(ctx, w); err != nil {
		return err
	}
	w.API.Reset()
	w.DataPlane.Reset()
	r.logf("  an hour of the controllers' clock begins; it takes %s", quietReal)
	if err := w.Pass(ctx, quietReal); err != nil {
		return err
	}
	writes := w.API.Counts().Sum(write)
	for _, line := range append(w.API.Counts().Lines(write), w.DataPlane.Counts().Lines(call)...) {
		r.logf("    %s", line)
	}
	note := fmt.Sprintf("%d nodes, %d instances; clock x%d by overlay; leases not counted", manyNodes, manyInstances, acceleration)
	r.add(Result{Name: fmt.Sprintf("quiet.%d_nodes.hour.api_writes", manyNodes), Value: float64(writes), Unit: "count", Goal: "0", Runs: 1,
		Note: note})
	r.add(Result{Name: fmt.Sprintf("quiet.%d_nodes.hour.unary_calls", manyNodes), Value: float64(w.DataPlane.Counts().Sum(others)),
		Unit: "count", Goal: "0", Runs: 1, Note: "without periodic resyncs and engine polls"})
	r.add(Result{Name: fmt.Sprintf("quiet.%d_nodes.hour.look_calls", manyNodes), Value: float64(w.DataPlane.Counts().Sum(polls)),
		Unit: "count", Runs: 1, Note: "periodic resyncs, and the calls that they consist of"})
	return nil
}

// settled waits until the work of the start is done: ten seconds without a write or a call, apart from polls, which
// never end.
func settled(ctx context.Context, w *world.World) error {
	const silence = 10 * time.Second
	last, since := -1, time.Now()
	return w.Wait(ctx, "the end of the work that the start caused", 10*time.Minute, func(context.Context) (string, error) {
		if now := w.API.Counts().Sum(write) + w.DataPlane.Counts().Sum(others); now != last {
			last, since = now, time.Now()
		}
		if quiet := time.Since(since); quiet < silence {
			return fmt.Sprintf("the last write or call was %s ago", quiet.Round(time.Second)), nil
		}
		return "", nil
	})
}

func polls(m record.Method) bool { return !m.Stream && named[m.Name] }

func others(m record.Method) bool { return !m.Stream && !named[m.Name] }

// named are the calls of a periodic resync or an engine poll.
var named = map[string]bool{"InstanceList": true, "ReplicaList": true, "EngineList": true, "DiskGet": true, "VolumeGet": true,
	"SnapshotList": true}

// acceleratedClock is the overlay that lets the controllers' clock run faster.
func acceleratedClock(ctx context.Context) (world.Overlay, error) {
	overlay, err := world.Mutate(world.Edit{File: "shared/runkit/runkit.go", From: "Clock: clock.RealClock{}", To: "Clock: newFastClock()"})
	if err != nil {
		return nil, err
	}
	overlay["shared/runkit/fastclock.go"] = []byte(fmt.Sprintf(fastClock, acceleration))
	return overlay, nil
}

// fastClock is the source of the clock: time since the start is multiplied, every wait divided.
const fastClock = `package runkit

import (
	"time"

	"k8s.io/utils/clock"
)

const factor = %d

type fastClock struct {
	clock.RealClock
	start time.Time
}

func newFastClock() clock.Clock { return fastClock{start: time.Now()} }

func (f fastClock) Now() time.Time { return f.start.Add(factor * time.Since(f.start)) }

func (f fastClock) Since(t time.Time) time.Duration { return f.Now().Sub(t) }

func (f fastClock) After(d time.Duration) <-chan time.Time { return f.RealClock.After(d / factor) }

func (f fastClock) NewTimer(d time.Duration) clock.Timer { return fastTimer{f.RealClock.NewTimer(d / factor)} }

func (f fastClock) Sleep(d time.Duration) { f.RealClock.Sleep(d / factor) }

func (f fastClock) Tick(d time.Duration) <-chan time.Time { return f.RealClock.Tick(d / factor) }

func (f fastClock) NewTicker(d time.Duration) clock.Ticker { return f.RealClock.NewTicker(d / factor) }

func (f fastClock) AfterFunc(d time.Duration, do func()) clock.Timer {
	return fastTimer{f.RealClock.AfterFunc(d/factor, do)}
}

type fastTimer struct{ clock.Timer }

func (t fastTimer) Reset(d time.Duration) bool { return t.Timer.Reset(d / factor) }
`
