package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// ListTimeout bounds one whole list.
	ListTimeout = 10 * time.Second
	// ReadToCall is how long after the first read of a check a call may be sent; TriesToCall is how often it is checked at most.
	ReadToCall  = 2 * time.Second
	TriesToCall = 3
	// BusyDelay is the wait for a lock of another executor, or for a free slot.
	BusyDelay = 200 * time.Millisecond
)

// Results of tries without a call, beside the reasons of conditions. They are labels of metrics.
const (
	// Disagreed: what was read just now does not ask for the call any more.
	Disagreed = "Disagreed"
	// Observed: the process observes only.
	Observed = "Observed"
)

// Store is what a guarded call needs of the inventory.
type Store interface {
	Fresh(ctx context.Context, instanceManager string) (*inventory.Snapshot, error)
	Client(instanceManager string) (imclient.Client, inventory.Epoch, bool)
}

// Guard makes guarded calls, as the package comment states.
type Guard struct {
	Clock clock.PassiveClock
	// Store is nil for users that have connections and evidence of their own.
	Store Store
	// Locks are shared by all executors of the process. Slots are the user's own; nil where its caller holds one already.
	Locks *Locks
	Slots *Semaphore
	// PerManager is how many calls one instance manager gets at once.
	PerManager int
	// Observe sends nothing.
	Observe bool
}

// Call is one guarded call. Check and Send are needed; another step that is nil does nothing.
type Call struct {
	// InstanceManager is where the call goes, Locks what is locked meanwhile. Noun is what is called about, in messages: "instance".
	InstanceManager string
	Locks           []Key
	Noun            string
	// NotBefore is the end of the back-off and of the fencing delay.
	NotBefore time.Time
	// List reads a whole list that begins now. Gather reads what else the check needs of instance managers.
	List   bool
	Gather func(ctx context.Context) error
	// Check reads uncached, or what the write of Ahead is bound to the version of, and decides. Ahead writes what must be on record before
	// the call. Send is the RPC. Record notes what came of the try, under the locks; it is not called where the try was interrupted before
	// the call, by an error of the API server or by the end of the leadership. Where that ended during the call, Record notes what is known
	// of it: nothing can be written then.
	Check  func(ctx context.Context, at Reading) (Checked, error)
	Ahead  func(ctx context.Context) (Stop, error)
	Send   func(ctx context.Context, client imclient.Client) error
	Record func(ctx context.Context, result Result)
}

// Reading is when a check began to read, and what it may rely on.
type Reading struct {
	// Tried is when the try began, Began when this check did.
	Tried, Began time.Time
	// List is the list that began with the try; nil where none was asked for.
	List *inventory.Snapshot
}

// Checked is what a check allows: the zero value allows nothing.
type Checked struct {
	// Allowed lets the call be sent, unless Stop ends the try without one. Again checks once more: the check itself has just changed what
	// it is based on.
	Allowed bool
	Stop    Stop
	Again   bool
	// Epoch is that of the evidence.
	Epoch inventory.Epoch
	// Since is when the oldest read that the check relies on began, where that is an earlier check's; zero: this check read everything.
	Since time.Time
	// Timeout bounds the call from when it is sent, and ReadToCall longer from when the check began; 0 is the connection's own bound.
	Timeout time.Duration
}

// Stop is why a try ends without a call; the zero value does not stop it.
type Stop struct {
	// Result is the label of metrics, and the reason of a condition where Failure is true.
	Result, Message string
	// Failure reports that a condition must report it.
	Failure bool
}

// stops reports whether it ends the try.
func (s Stop) stops() bool { return s.Result != "" || s.Failure }

// Fail is a Stop that a condition reports.
func Fail(reason, format string, args ...any) Stop {
	return Stop{Result: reason, Message: fmt.Sprintf(format, args...), Failure: true}
}

// Result is what came of a try.
type Result struct {
	// Wait is when to come back where nothing was tried: it is not due, or somebody else has the slot or the lock.
	Wait time.Duration
	// Interrupted is true where the leadership ended during the try; a call may have been sent before.
	Interrupted bool
	// Stop is why no call was sent; else Outcome and Err are what the call returned.
	Stop    Stop
	Outcome Outcome
	Err     error
	// Epoch is that of the connection that the call was sent with, Ended when it returned.
	Epoch inventory.Epoch
	Ended time.Time
}

// Sent reports whether a call was sent.
func (r Result) Sent() bool { return r.Outcome != "" }

// Deletion is the call as the inventory proves its effect with.
func (r Result) Deletion(instanceManager string, request imclient.DeleteRequest) *inventory.Call {
	return &inventory.Call{InstanceManager: instanceManager, Name: request.Name, UUID: request.UUID, Type: request.Type,
		DiskUUID: request.DiskUUID, Epoch: r.Epoch, Ended: r.Ended}
}

// errUnchecked is the error of a call that nothing checks.
var errUnchecked = errors.New("a call without a check is not sent")

// Do makes one try. An error is the API server's; it is then not recorded.
func (g *Guard) Do(ctx context.Context, c Call) (Result, error) {
	if c.Check == nil {
		return Result{}, errUnchecked
	}
	if wait := c.NotBefore.Sub(g.Clock.Now()); wait > 0 {
		return Result{Wait: wait}, nil
	}
	leave, ok := g.enter(c)
	defer leave()
	if !ok {
		return Result{Wait: BusyDelay}, nil
	}
	result, err := g.try(ctx, c)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		if !result.Sent() {
			return Result{Interrupted: true}, nil
		}
		result.Interrupted = true
	}
	if c.Record != nil {
		c.Record(ctx, result)
	}
	return result, nil
}

// enter takes the slot and the locks, or none of them.
func (g *Guard) enter(c Call) (leave func(), ok bool) {
	var held []func()
	leave = func() {
		for _, free := range held {
			defer free() // the last one first
		}
	}
	if g.Slots != nil {
		release, ok := g.Slots.Take(c.InstanceManager, g.PerManager)
		if !ok {
			return leave, false
		}
		held = append(held, release)
	}
	for _, key := range c.Locks {
		unlock, ok := g.Locks.TryLock(key)
		if !ok {
			return leave, false
		}
		held = append(held, unlock)
	}
	return leave, true
}

// try gathers the evidence, and checks until the call can be sent soon enough after the check.
func (g *Guard) try(ctx context.Context, c Call) (Result, error) {
	at := Reading{Tried: g.Clock.Now()}
	if c.List {
		var err error
		if at.List, err = g.Fresh(ctx, c.InstanceManager); err != nil {
			return Result{Stop: Fail(v1beta2.ReasonUnreachable,
				"%s does not answer; it is retried automatically. If this persists, check its pod and the network to its node. "+
					"The error: %v.", c.InstanceManager, err)}, nil
		}
	}
	if c.Gather != nil {
		if err := c.Gather(ctx); err != nil {
			return Result{}, err
		}
	}
	for range TriesToCall {
		at.Began = g.Clock.Now()
		checked, stop, err := g.check(ctx, c, at)
		if err != nil || stop.stops() || ctx.Err() != nil {
			return Result{Stop: stop}, err
		}
		if checked.Since.Before(at.Began) && !checked.Since.IsZero() {
			at.Began = checked.Since
		}
		if !checked.Again && g.Clock.Since(at.Began) <= ReadToCall {
			return g.send(ctx, c, checked, at), nil
		}
	}
	return Result{Stop: Fail(v1beta2.ReasonUnreachable, "The checks took longer than %s every time; no call was sent.", ReadToCall)}, nil
}

// check decides, and writes ahead what is allowed.
func (g *Guard) check(ctx context.Context, c Call, at Reading) (Checked, Stop, error) {
	checked, err := c.Check(ctx, at)
	switch {
	case err != nil || checked.Again || checked.Stop.stops():
		return checked, checked.Stop, err
	case !checked.Allowed:
		return checked, Stop{Result: Disagreed}, nil
	case g.Observe:
		return checked, Stop{Result: Observed}, nil
	case c.Ahead == nil:
		return checked, Stop{}, nil
	}
	stop, err := c.Ahead(ctx)
	return checked, stop, err
}

// send sends the call over the connection of the evidence.
func (g *Guard) send(ctx context.Context, c Call, checked Checked, at Reading) Result {
	var result Result
	var client imclient.Client
	if g.Store != nil {
		var ok bool
		if client, result.Epoch, ok = g.Store.Client(c.InstanceManager); !ok || result.Epoch != checked.Epoch {
			return Result{Stop: Fail(v1beta2.ReasonUnreachable, "%s was reconnected meanwhile; the %s is checked again.",
				c.InstanceManager, c.Noun)}
		}
	}
	if checked.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, min(checked.Timeout, ReadToCall+checked.Timeout-g.Clock.Since(at.Began)))
		defer cancel()
	}
	result.Err = c.Send(ctx, client)
	result.Outcome, result.Ended = OutcomeOf(result.Err), g.Clock.Now()
	return result
}

// Fresh reads a whole list that begins now.
func (g *Guard) Fresh(ctx context.Context, instanceManager string) (*inventory.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, ListTimeout)
	defer cancel()
	return g.Store.Fresh(ctx, instanceManager)
}
