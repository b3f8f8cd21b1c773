package realnode

import (
	"context"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// front is the proxy between the controllers and the real servers. It listens on the addresses of the pods and forwards over their links.
// It keeps a journal of the calls that change something, and lets such calls fail where a fault is set.
type front struct {
	proxy   proxy
	journal *journal
	podAt   func(ip string) *pod
	// encrypted reports that the proxy cannot look into the calls: there are no faults, and the journal stays empty.
	encrypted bool

	mutex  sync.Mutex
	faults []fault.Rule
	next   int
	// changed is closed when faults change.
	changed chan struct{}
}

// proxy listens on the addresses of pods.
type proxy interface {
	Serve(address string) error
	Forget(address string)
	Close()
}

func newFront(o Options, podAt func(string) *pod, reverted, rebuilds func(volume string)) *front {
	f := &front{podAt: podAt, journal: newJournal(), changed: make(chan struct{}), encrypted: o.TLSDirectory != ""}
	var ports []int
	for _, port := range record.Ports {
		ports = append(ports, port+o.PortOffset)
	}
	behind := func(address string, port int) string {
		p := podAt(address)
		if p == nil {
			return net.JoinHostPort(address, "0") // nothing listens there
		}
		return net.JoinHostPort(p.where.management(), strconv.Itoa(port-o.PortOffset))
	}
	if f.encrypted { // the callers' own handshake is with the real server
		f.proxy = newRelay(ports, behind)
		return f
	}
	calls := record.NewDataPlane(&record.Sequence{}, ports, 0)
	f.proxy = calls
	calls.ForwardTo(behind)
	calls.BeforeEach(f.spoil)
	calls.Before(func(call record.Call) error {
		if call.Method == "ReplicaAdd" {
			volume, _ := proxied(call.Request)
			rebuilds(volume)
		}
		return nil
	})
	calls.Observe(func(call record.Call) {
		if p := podAt(call.Address); p != nil {
			e := entryOf(p, call)
			if e.Method == "SnapshotRevert" && e.Effect != dataplane.EffectNone {
				reverted(e.Volume)
			}
			f.journal.add(e)
		}
	})
	return f
}

func (f *front) open(ip string) error { return f.proxy.Serve(ip) }
func (f *front) close(ip string)      { f.proxy.Forget(ip) }
func (f *front) closeAll()            { f.proxy.Close() }

// served are the faults that can be had with real servers: what a call to them can meet on its way.
var served = []fault.Kind{fault.Error, fault.Latency, fault.Hang}

// add sets a fault, and answers with its ID.
func (f *front) add(rule fault.Rule) (string, error) {
	if f.encrypted {
		return "", fmt.Errorf("%w: a fault of calls over TLS, which no one but their two ends can read", control.ErrNotServed)
	}
	if !slices.Contains(served, rule.Kind) || rule.After || len(rule.Names) > 0 || rule.Pod != "" {
		return "", fmt.Errorf("%w: the fault %s of method %q, since the servers are real", control.ErrNotServed, rule.Kind, rule.Method)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if rule.ID == "" {
		f.next++
		rule.ID = "fault-" + strconv.Itoa(f.next)
	}
	f.faults = append(slices.DeleteFunc(f.faults, func(r fault.Rule) bool { return r.ID == rule.ID }), rule)
	f.haveChanged()
	return rule.ID, nil
}

// clear removes faults, by ID or all of them, and answers with their number.
func (f *front) clear(id string) int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	before := len(f.faults)
	f.faults = slices.DeleteFunc(f.faults, func(r fault.Rule) bool { return id == "" || r.ID == id })
	f.haveChanged()
	return before - len(f.faults)
}

// haveChanged wakes the calls that wait for the end of a fault; the lock is held.
func (f *front) haveChanged() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// awaitEnd returns when a fault has ended.
func (f *front) awaitEnd(id string) {
	for {
		f.mutex.Lock()
		there := slices.ContainsFunc(f.faults, func(r fault.Rule) bool { return r.ID == id })
		changed := f.changed
		f.mutex.Unlock()
		if !there {
			return
		}
		<-changed
	}
}

func (f *front) list() []fault.Rule {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return append([]fault.Rule{}, f.faults...)
}

// matching returns the rule that concerns a call, and counts it.
func (f *front) matching(call record.Call) (fault.Rule, bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	p := f.podAt(call.Address)
	for i, r := range f.faults {
		if p == nil || !fits(r.Node, p.Node) || !fits(r.Method, call.Method) || !fits(r.DataEngine, p.DataEngine) {
			continue
		}
		if r.Times == 1 {
			f.faults = slices.Delete(f.faults, i, i+1)
		} else if r.Times > 1 {
			f.faults[i].Times--
		}
		return r, true
	}
	return fault.Rule{}, false
}

func fits(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return pattern == "" || err == nil && ok
}

// spoil is called before a call is forwarded.
func (f *front) spoil(call record.Call) error {
	rule, found := f.matching(call)
	if !found {
		return nil
	}
	switch rule.Kind {
	case fault.Error:
		code := codes.Unknown
		_ = code.UnmarshalJSON([]byte(strconv.Quote(screaming(rule.Code)))) // an unknown one stays Unknown
		return status.Error(code, "an injected fault: "+rule.Message)
	case fault.Latency:
		<-time.After(time.Duration(rule.Delay))
	case fault.Hang:
		f.awaitEnd(rule.ID)
	}
	return nil
}

// screaming turns the name of a code, such as NotFound, into NOT_FOUND.
func screaming(name string) string {
	var out []byte
	for i := range len(name) {
		c := name[i]
		if i > 0 && c >= 'A' && c <= 'Z' {
			out = append(out, '_')
		}
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out)
}

// part closes the connections to the pods of a node, and refuses new ones until join.
func (f *front) part(pods []*pod) {
	for _, p := range pods {
		f.proxy.Forget(p.IP)
	}
}

func (f *front) join(pods []*pod) error {
	for _, p := range pods {
		if err := f.proxy.Serve(p.IP); err != nil {
			return err
		}
	}
	return nil
}

// journal is the list of the calls that changed something.
type journal struct {
	mutex   sync.Mutex
	entries []entry
	grown   chan struct{}
}

func newJournal() *journal { return &journal{grown: make(chan struct{})} }

func (j *journal) add(e entry) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	e.Serial, e.Time = uint64(len(j.entries)+1), time.Now()
	j.entries = append(j.entries, e)
	close(j.grown)
	j.grown = make(chan struct{})
}

// after returns the entries after a serial number; it waits for one until ctx ends.
func (j *journal) after(ctx context.Context, serial uint64) []entry {
	for {
		j.mutex.Lock()
		var out []entry
		if serial < uint64(len(j.entries)) {
			out = slices.Clone(j.entries[serial:])
		}
		grown := j.grown
		j.mutex.Unlock()
		if len(out) > 0 {
			return out
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}
