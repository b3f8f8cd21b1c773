package leaselock_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/leaselock"
)

// cluster is a lease at an API server, as a model, and processes that want it, whose clocks run at different rates. A request takes time
// before and after its effect, in which the other processes go on; a process that does not go on is paused.
type cluster struct {
	t         *rapid.T
	random    *rand.Rand // rapid itself prefers small numbers, with which hardly anything happens
	record    resourcelock.LeaderElectionRecord
	version   int
	elapsed   time.Duration
	processes []*process
	depth     int
}

// process is one that wants the lease. Its lock sees the cluster's lease as this process's client does.
type process struct {
	*leaselock.Lock
	cluster *cluster
	name    string
	rate    float64
	clock   *clocktesting.FakeClock
	fence   *leaselock.Fence
	// read is the version that was read or written last, transitions what it wrote of them.
	read, transitions int
	led               bool          // since its last election
	busy              bool          // it is in a request
	paused            time.Duration // until then
	lost              bool          // it ends
	run               int
}

var errRequest = errors.New("conflict, or no answer")

// maxSkew is how much faster or slower than real time a clock may run, so that the fence closes before the lease ends: 12 s by the slowest
// clock are less than 14 s by the fastest. A lease lasts 15 s, but a standby cannot distinguish two renewals of one second.
const maxSkew = 0.07

// What time passes between two steps, and how long a process may be paused.
var (
	passes = []time.Duration{0, 100 * time.Millisecond, 700 * time.Millisecond, 2 * time.Second, 5 * time.Second}
	pauses = []time.Duration{5 * time.Second, 13 * time.Second, 16 * time.Second, 40 * time.Second}
)

func (p *process) Identity() string       { return fmt.Sprint(p.name, "-", p.run) }
func (p *process) Describe() string       { return "the lease" }
func (p *process) RecordEvent(string)     {}
func (c *cluster) chance(of float64) bool { return c.random.Float64() < of }
func (p *process) leads() bool            { return p.led && p.fence.Check() == nil }

// requests are the process's access to the API server.
type requests struct{ *process }

func (c requests) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	c.cluster.pass()
	record := c.cluster.record
	c.read = c.cluster.version
	c.cluster.pass()
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (c requests) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return c.Update(ctx, record)
}

func (c requests) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	c.cluster.pass()
	if c.read != c.cluster.version || c.cluster.chance(0.1) {
		return errRequest
	}
	c.cluster.version++
	written := c.cluster.version
	c.cluster.record = record
	c.cluster.pass()
	if c.cluster.chance(0.1) {
		return errRequest // it was written, but the process does not know
	}
	c.read = written
	return nil
}

// pass lets time pass, and the other processes go on.
func (c *cluster) pass() {
	if c.depth > 3 {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	for range c.random.IntN(3) {
		c.step()
	}
}

// step lets some time pass, after which one process acts, unless it waits for an answer.
func (c *cluster) step() {
	passed := passes[c.random.IntN(len(passes))]
	c.elapsed += passed
	for _, p := range c.processes {
		p.clock.Step(time.Duration(float64(passed) * p.rate))
	}
	c.check()
	p := c.processes[c.random.IntN(len(c.processes))]
	if p.busy || c.elapsed < p.paused {
		return
	}
	if p.lost {
		p.start()
	}
	if c.chance(0.1) {
		p.paused = c.elapsed + pauses[c.random.IntN(len(pauses))]
		return
	}
	p.busy = true
	p.act()
	p.busy = false
	c.check()
}

// start begins another run of the process.
func (p *process) start() {
	p.run++
	p.clock, p.led, p.lost = clocktesting.NewFakeClock(time.Unix(int64(p.run)*10_000, 0)), false, false
	p.fence = leaselock.NewFence(deadline, p.clock)
	p.Lock = leaselock.New(requests{p}, leaselock.Options{Interval: interval, Duration: duration, Retry: retry, Fence: p.fence,
		Clock: p.clock, Lost: func(error) { p.lost, p.led = true, false }})
}

// act is what an elector does: it renews, releases, or takes a lease that is free.
func (p *process) act() {
	wanted := resourcelock.LeaderElectionRecord{HolderIdentity: p.Identity(), LeaseDurationSeconds: int(duration / time.Second),
		LeaderTransitions: p.transitions}
	ctx := context.Background()
	if p.led && p.cluster.chance(0.7) && p.Update(ctx, wanted) == nil {
		return
	}
	record, _, err := p.Get(ctx)
	if err != nil || p.lost {
		return
	}
	wanted.LeaderTransitions = record.LeaderTransitions
	if p.led && p.cluster.chance(0.2) {
		wanted.HolderIdentity, wanted.LeaseDurationSeconds = "", 1
		p.led = false
		_ = p.Update(ctx, wanted)
		return
	}
	if record.HolderIdentity == "" || record.HolderIdentity == p.Identity() {
		if record.HolderIdentity == "" {
			wanted.LeaderTransitions++
		}
		p.transitions = wanted.LeaderTransitions
		p.led = p.Update(ctx, wanted) == nil || p.led
	}
}

func (c *cluster) check() {
	leaders := []string{}
	for _, p := range c.processes {
		if p.leads() {
			leaders = append(leaders, p.name)
		}
	}
	require.LessOrEqual(c.t, len(leaders), 1, "after %s two write at once: %v", c.elapsed, leaders)
}

// Whatever is paused, lost or late: at no moment two processes may write.
func TestOneProcessWritesAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster{t: t, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
		for i := range 3 {
			p := &process{cluster: c, name: fmt.Sprint("p", i), rate: 1 + maxSkew*(2*c.random.Float64()-1)}
			p.start()
			c.processes = append(c.processes, p)
		}
		for range 300 {
			c.step()
		}
	})
}
