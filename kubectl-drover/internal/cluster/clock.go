package cluster

import (
	"net/http"
	"sync/atomic"
	"time"
)

// tolerated is what the clocks may differ by: the Date of an answer has no fractions of a second, and the answer travels.
const tolerated = 3 * time.Second

// serverClock knows the API server's clock from the Date of its answers. All times in objects are by the clocks of the cluster: a laptop
// whose clock is wrong would show wrong ages, and leases that were not renewed.
type serverClock struct{ difference atomic.Int64 }

func (s *serverClock) ahead() time.Duration { return time.Duration(s.difference.Load()) }

// wrap returns a transport that reads the clock from what passes.
func (s *serverClock) wrap(next http.RoundTripper) http.RoundTripper {
	return &clockReader{next: next, clock: s}
}

type clockReader struct {
	next  http.RoundTripper
	clock *serverClock
}

// RoundTrip implements http.RoundTripper.
func (r *clockReader) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err //nolint:wrapcheck // a transport passes errors on
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		difference := time.Until(date)
		if difference.Abs() < tolerated {
			difference = 0
		}
		r.clock.difference.Store(int64(difference))
	}
	return response, nil
}

// WrappedRoundTripper returns the transport that is wrapped.
func (r *clockReader) WrappedRoundTripper() http.RoundTripper { return r.next }
