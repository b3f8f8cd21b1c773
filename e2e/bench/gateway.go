package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// The group gateway: many volumes that nobody changes, clients that ask for single volumes, and open pages that follow all of them.
var (
	gatewayVolumes = 5000
	gatewayFor     = time.Minute
)

const (
	gatewayClients = 50
	gatewayStreams = 20
	// gatewayPause is how long a client waits after an answer: the CSI plugin asks every two seconds while it waits, so that these clients
	// are ten times as busy.
	gatewayPause = 200 * time.Millisecond
	// gatewayStart is how long after its start the gateway has returned the memory of its start.
	gatewayStart = 45 * time.Second
)

// gateway measures the cost of the REST API while nothing changes, and under load.
func gateway(ctx context.Context, r *report) (err error) {
	kept, err := storedCluster{volumes: gatewayVolumes, replicas: 3, chain: 1}.stored(ctx, r)
	if err != nil {
		return err
	}
	w, err := world.Start(ctx, world.Options{RealTimes: true, Nodes: names(1), Attach: true, Snapshots: true, Gateway: true,
		NoControllers: true, DataFrom: kept, Record: true, Log: r.logf,
		Flags: map[string][]string{world.APIGateway: {"--log-level=info", "--log-format=json", "--requests-per-second=100000",
			"--request-burst=100000", "--force-take-over"}}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	process, err := w.StartController(ctx, world.APIGateway, "")
	if err != nil {
		return err
	}
	if err := w.WaitReady(ctx, process, 5*time.Minute); err != nil {
		return err
	}
	b := &gatewayBench{report: r, world: w, process: process}
	if err := w.Pass(ctx, gatewayStart); err != nil {
		return err
	}
	if err := b.rest(ctx); err != nil {
		return err
	}
	return b.load(ctx)
}

type gatewayBench struct {
	*report
	world   *world.World
	process *world.Process
}

func (b *gatewayBench) note() string {
	return fmt.Sprintf("%d attached volumes with three replicas each", gatewayVolumes)
}

// spent runs something, and returns the processor seconds of the gateway meanwhile, for each minute.
func (b *gatewayBench) spent(during func() error) (float64, error) {
	before, err := b.process.Processor()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := during(); err != nil {
		return 0, err
	}
	after, err := b.process.Processor()
	return (after - before).Seconds() / time.Since(began).Minutes(), err
}

// rest measures the gateway while pages are open and nothing changes.
func (b *gatewayBench) rest(ctx context.Context) error {
	s, err := b.follow(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	b.logf("  nothing changes for %s", gatewayFor)
	perMinute, err := b.spent(func() error { return b.world.Pass(ctx, gatewayFor) })
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%s, %d streams of all of them, %s", b.note(), gatewayStreams, gatewayFor)
	b.add(Result{Name: "gateway.quiet.cpu_s_per_minute", Value: perMinute, Unit: "s", Goal: "<= 0.5", Runs: 1, Note: note})
	return errors.Join(b.memory("gateway.quiet.rss", note), profiled(ctx, b.process, 1))
}

func (b *gatewayBench) memory(name, note string) error {
	bytes, err := b.process.RSS()
	if err != nil {
		return err
	}
	b.add(Result{Name: name, Value: float64(bytes) / 1e6, Unit: "MB", Goal: "<= 150", Runs: 1, Note: note})
	return nil
}

// load measures GETs of single volumes by many clients, while one volume changes each second and pages follow all of them.
func (b *gatewayBench) load(ctx context.Context) error {
	s, err := b.follow(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	ctx, cancel := context.WithTimeout(ctx, gatewayFor)
	defer cancel()
	var all []float64
	var mutex sync.Mutex
	messages := s.messages.Load()
	var group sync.WaitGroup
	failed := make(chan error, gatewayClients+1)
	for n := range gatewayClients {
		group.Go(func() {
			times, err := b.ask(ctx, n)
			mutex.Lock()
			all = append(all, times...)
			mutex.Unlock()
			failed <- err
		})
	}
	group.Go(func() { failed <- b.change(ctx) })
	profiles, err := processorProfiles(ctx, "gateway-load", gatewayFor-time.Second, b.process)
	if err != nil {
		return err
	}
	perMinute, err := b.spent(func() error { group.Wait(); return profiles() })
	close(failed)
	for one := range failed {
		err = errors.Join(err, one)
	}
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%s; %d clients, each %s after its last answer, %d streams of all volumes, one change a second", b.note(),
		gatewayClients, gatewayPause, gatewayStreams)
	for _, p := range []struct {
		name    string
		percent float64
		goal    string
	}{{"gateway.get.p50", 0.5, ""}, {"gateway.get.p99", 0.99, "<= 25"}} {
		b.add(Result{Name: p.name, Value: percentile(all, p.percent), Unit: "ms", Goal: p.goal, Runs: len(all), Note: note})
	}
	b.add(Result{Name: "gateway.load.cpu_s_per_minute", Value: perMinute, Unit: "s", Runs: 1, Note: note})
	b.add(Result{Name: "gateway.load.messages_per_stream_and_minute", Unit: "count", Runs: 1, Note: note,
		Value: float64(s.messages.Load()-messages) / gatewayStreams / gatewayFor.Minutes()})
	return b.memory("gateway.load.rss", note)
}

// ask reads one volume after the other until the context ends, and returns the milliseconds of each answer.
func (b *gatewayBench) ask(ctx context.Context, client int) ([]float64, error) {
	transport := &http.Transport{DialContext: new(net.Dialer).DialContext}
	defer transport.CloseIdleConnections()
	c := http.Client{Transport: transport}
	var out []float64
	for n := client; ; n += gatewayClients {
		volume := storedVolume(n * 7 % gatewayVolumes)
		began := time.Now()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.process.REST()+"/v1/volumes/"+volume, nil)
		if err != nil {
			return nil, err
		}
		response, err := c.Do(request)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		switch {
		case ctx.Err() != nil:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("reading volume %s: %w", volume, err)
		case response.StatusCode != http.StatusOK || !strings.Contains(string(body), `"id":"`+volume+`"`):
			return nil, fmt.Errorf("reading volume %s: %s", volume, response.Status)
		}
		out = append(out, float64(time.Since(began).Microseconds())/1000)
		if err := b.world.Pass(ctx, gatewayPause); err != nil {
			return out, nil //nolint:nilerr // the time is over
		}
	}
}

// change changes one volume each second until the context ends.
func (b *gatewayBench) change(ctx context.Context) error {
	for n := 0; ; n++ {
		if err := b.world.Pass(ctx, time.Second); err != nil {
			return nil //nolint:nilerr // the time is over
		}
		v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Namespace: b.world.Namespace, Name: storedVolume(n % gatewayVolumes)}}
		err := b.world.SetStatus(ctx, v, map[string]any{"lastBackupAt": time.Now().UTC().Format(time.RFC3339Nano)})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// streams are open pages that follow all volumes.
type streams struct {
	end      func()
	messages atomic.Int64
}

// follow opens the streams, and returns once each has its first message.
func (b *gatewayBench) follow(ctx context.Context) (*streams, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &streams{}
	var open sync.WaitGroup
	s.end = func() { cancel(); open.Wait() }
	for range gatewayStreams {
		c, _, err := websocket.Dial(ctx, b.process.REST()+"/v1/ws/1s/volumes", nil)
		if err != nil {
			s.end()
			return nil, fmt.Errorf("opening a stream: %w", err)
		}
		c.SetReadLimit(1 << 30)
		first := make(chan error, 1)
		open.Go(func() {
			defer func() { _ = c.CloseNow() }()
			for n := 0; ; n++ {
				_, message, err := c.Reader(ctx)
				if err == nil {
					_, err = io.Copy(io.Discard, message)
				}
				if n == 0 {
					first <- err
				}
				if err != nil {
					return
				}
				s.messages.Add(1)
			}
		})
		if err := <-first; err != nil {
			s.end()
			return nil, fmt.Errorf("reading the first message of a stream: %w", err)
		}
	}
	return s, nil
}
