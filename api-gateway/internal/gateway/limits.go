package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"

	"drover.dev/drover/api-gateway/internal/wire"
)

// limits counts the requests of each client address, and the open streams.
type limits struct {
	options Options
	clock   clock.PassiveClock

	mutex   sync.Mutex
	clients map[string]*clientRate
	swept   time.Time
	streams int
	// streamRate limits the bytes of all streams.
	streamRate *rate.Limiter
}

type clientRate struct {
	*rate.Limiter
	last time.Time
}

// forgetAfter is the time after which an idle address is forgotten.
const forgetAfter = time.Minute

func newLimits(o Options, c clock.PassiveClock) *limits {
	return &limits{options: o, clock: c, clients: map[string]*clientRate{},
		streamRate: rate.NewLimiter(streamBytesPerSecond, streamBurst)}
}

// allow reports whether a client may send one more request now.
func (l *limits) allow(address string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	now := l.clock.Now()
	if now.Sub(l.swept) > forgetAfter {
		l.swept = now
		for known, c := range l.clients {
			if now.Sub(c.last) > forgetAfter {
				delete(l.clients, known)
			}
		}
	}
	c := l.clients[address]
	if c == nil {
		c = &clientRate{Limiter: rate.NewLimiter(rate.Limit(l.options.RequestsPerSecond), l.options.Burst)}
		l.clients[address] = c
	}
	c.last = now
	return c.AllowN(now, 1)
}

// limited passes on the requests that keep to the limits and come from a page that may send them.
func (s *server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		address := hostOf(hr.RemoteAddr)
		r := request{Request: hr, ctx: hr.Context(), base: wire.BaseOf(hr, "")}
		var refused error
		switch {
		case !s.limits.allow(address):
			refused = wire.WithStatus(http.StatusTooManyRequests, fmt.Errorf("more than %d requests per second came from %s: send fewer",
				s.options.RequestsPerSecond, address))
			w.Header().Set("Retry-After", "1")
		case !isRead(hr) || isStream(hr):
			refused = s.checkOrigin(hr)
		}
		if refused == nil {
			refused = s.checkHost(hr)
		}
		var user string
		if refused == nil {
			user, refused = s.authenticate(hr)
		}
		if refused != nil {
			if statusOf(refused) == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			s.metrics.refuse(statusOf(refused))
			s.answer(w, r, nil, refused)
			return
		}
		if s.stopping.Err() != nil {
			w.Header().Set("Connection", "close") // the client connects again, to a process that stays
		}
		hr.Body = http.MaxBytesReader(w, hr.Body, wire.MaxBody)
		next.ServeHTTP(w, hr.WithContext(context.WithValue(hr.Context(), userKey{}, user)))
	})
}

// userKey is the key of the user in the context of a request; empty: the request needed no token.
type userKey struct{}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func isStream(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/ws/") }

// checkOrigin refuses writes and streams of pages of other web sites: a browser in the cluster's network would send them for its user.
// Programs send no origin.
func (s *server) checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" && r.Header.Get("Sec-Fetch-Site") != "cross-site" {
		return nil
	}
	u, err := url.Parse(origin)
	if err == nil && u.Host != "" && (u.Host == r.Host || u.Host == r.Header.Get("X-Forwarded-Host")) {
		return nil
	}
	if slices.Contains(s.options.Origins, origin) {
		return nil
	}
	return wire.WithStatus(http.StatusForbidden, fmt.Errorf("a page of %s may not write or stream here: serve the interface from this "+
		"address, or name its origin in --allowed-origins", cmp.Or(origin, "another web site")))
}

// openStream reports whether one more stream may be open, and counts it.
func (l *limits) openStream() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.streams >= l.options.Streams {
		return false
	}
	l.streams++
	return true
}

func (l *limits) closeStream() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.streams--
}
