package leaselock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// ErrFenced is the error of a write or call that this process must not do any more.
var ErrFenced = errors.New("this process may no longer be the leader")

// Fence compares the age of the last renewal of a lease with a deadline, on the monotonic clock. Before the first renewal it refuses
// nothing, because no work of a leader has begun. Its methods may be called concurrently.
type Fence struct {
	deadline time.Duration
	clock    clock.WithTicker
	renewed  atomic.Pointer[time.Time]
	closed   atomic.Bool

	mutex   sync.Mutex
	closing chan struct{} // closed by Close
}

// NewFence returns a fence that refuses once a renewal is older than the deadline, which is shorter than the lease's duration.
func NewFence(deadline time.Duration, clock clock.WithTicker) *Fence {
	return &Fence{deadline: deadline, clock: clock, closing: make(chan struct{})}
}

// Renewed records a successful renewal by the time at which its request began.
func (f *Fence) Renewed(began time.Time) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.renewed.Store(&began)
	if f.closed.Swap(false) {
		f.closing = make(chan struct{})
	}
}

// Close refuses everything until the next renewal, and ends what is guarded: the lease was released or lost.
func (f *Fence) Close() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.closed.Swap(true) {
		close(f.closing)
	}
}

// whenClosed returns a channel that is closed once the fence is.
func (f *Fence) whenClosed() <-chan struct{} {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.closing
}

// Check returns nil while writes are allowed, and else an error that wraps ErrFenced. A nil fence allows everything.
func (f *Fence) Check() error {
	if f == nil {
		return nil
	}
	if f.closed.Load() {
		return fmt.Errorf("%w: its lease was released or lost", ErrFenced)
	}
	if began := f.renewed.Load(); began != nil && f.remaining(*began) <= 0 {
		return fmt.Errorf("%w: its lease was last renewed %s ago, more than the renew deadline of %s", ErrFenced,
			f.clock.Since(*began).Round(time.Millisecond), f.deadline)
	}
	return nil
}

// remaining is how long a renewal still counts.
func (f *Fence) remaining(began time.Time) time.Duration { return f.deadline - f.clock.Since(began) }

// Guard returns a context that ends when the fence refuses. The caller calls stop when its work has ended.
func (f *Fence) Guard(ctx context.Context) (guarded context.Context, stop func()) {
	began := (*time.Time)(nil)
	if f != nil {
		began = f.renewed.Load()
	}
	if began == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	closed := f.whenClosed()
	if err := f.Check(); err != nil {
		cancel(err)
		return ctx, func() {}
	}
	go func() {
		for {
			timer := f.clock.NewTimer(max(f.remaining(*f.renewed.Load()), 0))
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-closed:
				timer.Stop()
				cancel(fmt.Errorf("%w: its lease was released or lost", ErrFenced))
				return
			case <-timer.C():
			}
			if err := f.Check(); err != nil {
				cancel(err)
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

type fenceKey struct{}

// With returns a context whose API writes are refused by this fence, too: for work that needs a second lease.
func (f *Fence) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, fenceKey{}, f)
}

// Transport refuses writes to the API server while the fence, or the one of the request's context, refuses. Reads pass.
func (f *Fence) Transport(next http.RoundTripper) http.RoundTripper { return transport{f, next} }

type transport struct {
	fence *Fence
	next  http.RoundTripper
}

// RoundTrip sends a request, unless it writes and a fence refuses. A write under way is cancelled when the process's own fence refuses.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return t.next.RoundTrip(request)
	}
	second, _ := request.Context().Value(fenceKey{}).(*Fence)
	if err := errors.Join(t.fence.Check(), second.Check()); err != nil {
		return nil, fmt.Errorf("%s %s was not sent: %w", request.Method, request.URL.Path, err)
	}
	ctx, stop := t.fence.Guard(request.Context())
	response, err := t.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		stop()
		return nil, err
	}
	response.Body = body{response.Body, stop}
	return response, nil
}

// WrappedRoundTripper is the transport underneath, which client-go reads.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// body cancels the fence's context of its request when it is closed.
type body struct {
	io.ReadCloser
	stop func()
}

// Close closes the body of the answer.
func (b body) Close() error {
	defer b.stop()
	return b.ReadCloser.Close()
}
