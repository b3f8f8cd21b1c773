package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/runkit"
)

// The times of a connection. A client that sends or reads more slowly is cut off, so that slow clients cannot use up the connections.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	answerTimeout = 30 * time.Second
	idleTimeout   = time.Minute
	// handleTimeout limits the work of a handler: to less than the 10 s after which the CSI plugin gives up.
	handleTimeout = 9 * time.Second
	maxHeader     = 32 << 10
)

// server answers the requests of one process.
type server struct {
	options Options
	reader  reader
	client  client.Client
	changes *changes
	volumes *volumeCache
	lists   *listCache
	clock   clock.Clock
	log     logr.Logger
	metrics *metrics
	limits  *limits
	reviews *reviews
	// refusal returns why this process must not write, or nil.
	refusal func() error
	// ending is cancelled when the process is asked to end. Streams end then, and so does every wait for the cache, which follows no
	// changes any more.
	ending context.Context
	end    context.CancelFunc
	// stopping is cancelled before: answers then ask clients to connect again, to a process that stays.
	stopping context.Context
	// listens is true once clients can connect.
	listens atomic.Bool
}

// Setup prepares the caches, and starts to answer once they are filled.
func Setup(ctx context.Context, rt *runkit.Runtime, o Options, registry prometheus.Registerer) error {
	return newServer(rt, o).setUp(ctx, rt, registry)
}

func (s *server) setUp(ctx context.Context, rt *runkit.Runtime, registry prometheus.Registerer) error {
	if err := s.options.validate(); err != nil {
		return err
	}
	if err := rt.AddIndexes(ctx, indexes()...); err != nil {
		return err
	}
	if err := s.metrics.register(registry); err != nil {
		return err
	}
	if err := follow(ctx, rt, s.changes); err != nil {
		return err
	}
	if rt.RequireReady != nil {
		rt.RequireReady("rest", func(context.Context) error {
			if !s.listens.Load() {
				return errors.New("the REST API is not served yet")
			}
			return nil
		})
	}
	return rt.Manager.Add(runnable{s})
}

func newServer(rt *runkit.Runtime, o Options) *server {
	r := reader{cache: rt.Manager.GetCache(), uncached: rt.Uncached, namespace: rt.Namespace}
	seen := newChanges()
	s := &server{options: o, reader: r, client: rt.Client, changes: seen, volumes: newVolumeCache(r, seen), clock: rt.Clock,
		log: rt.Log.WithName("gateway"), metrics: newMetrics(), limits: newLimits(o, rt.Clock)}
	s.ending, s.end = context.WithCancel(context.Background())
	s.stopping = rt.Stopping
	if s.stopping == nil {
		s.stopping = s.ending
	}
	s.reviews = newReviews(rt.Manager.GetClient(), o.TokenAudience, rt.Namespace, rt.Clock)
	s.lists = newListCache(seen, s.buildLists())
	s.refusal = func() error {
		if rt.Observe {
			return errors.New("this gateway runs with --observe: it writes nothing")
		}
		if rt.WhyNotWrite == nil {
			return nil
		}
		return rt.WhyNotWrite()
	}
	return s
}

// runnable serves on every process, not only on a leader.
type runnable struct{ server *server }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (runnable) NeedLeaderElection() bool { return false }

// Start serves until ctx ends, and then lets requests under way end.
func (r runnable) Start(ctx context.Context) error {
	o := r.server.options
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return fmt.Errorf("listening (--listen-address): %w", err)
	}
	listeners := []net.Listener{r.server.limitedListener(listener)}
	if o.Certificate != "" {
		secure, err := r.server.secureListener(ctx)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		listeners = append(listeners, secure)
	}
	return r.server.serve(ctx, listeners...)
}

// limitedListener limits the connections of a listener.
func (s *server) limitedListener(l net.Listener) net.Listener {
	isTrusted := func(address string) bool { return s.isTrusted(context.Background(), address) }
	return newFairListener(l, s.options.Connections, isTrusted, s.metrics)
}

// secureListener listens with TLS. The certificate is read again when its file changes.
func (s *server) secureListener(ctx context.Context) (net.Listener, error) {
	watcher, err := certwatcher.New(s.options.Certificate, s.options.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate (--tls-certificate): %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.options.TLSAddress)
	if err != nil {
		return nil, fmt.Errorf("listening (--tls-listen-address): %w", err)
	}
	go func() {
		if err := watcher.Start(ctx); err != nil {
			s.log.Error(err, "A changed certificate is not noticed any more", "file", s.options.Certificate)
		}
	}()
	return tls.NewListener(s.limitedListener(listener), &tls.Config{GetCertificate: watcher.GetCertificate, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}}), nil
}

// serve answers until ctx ends. Requests under way go on then: the context of ctx would cut off their writes, and clients would not know
// which of them were done.
func (s *server) serve(ctx context.Context, listeners ...net.Listener) error {
	defer s.end()
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) }}
	s.listens.Store(true)
	ended := make(chan error, len(listeners))
	for _, listener := range listeners {
		s.log.Info("Serving the REST API", "address", listener.Addr().String())
		go func() { ended <- web.Serve(listener) }()
	}
	select {
	case err := <-ended:
		return fmt.Errorf("serving the REST API: %w", err)
	case <-ctx.Done():
	}
	s.end()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), handleTimeout)
	defer cancel()
	if err := web.Shutdown(last); err != nil {
		return web.Close()
	}
	return nil
}

// handler returns the whole chain: limits first, since they cost least.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range s.routes() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, hr *http.Request) { s.run(w, hr, pattern, h) })
	}
	mux.HandleFunc("GET /v1/ws/{name}", s.stream)
	mux.HandleFunc("GET /v1/ws/{period}/{name}", s.stream)
	mux.HandleFunc("/", func(w http.ResponseWriter, hr *http.Request) {
		s.run(w, hr, "other", func(r request) (any, error) {
			return nil, wire.WithStatus(http.StatusNotFound, fmt.Errorf("there is nothing at %s %s", r.Method, r.URL.Path))
		})
	})
	return s.limited(mux)
}

// run answers one request.
func (s *server) run(w http.ResponseWriter, hr *http.Request, pattern string, h handler) {
	began := s.clock.Now()
	ctx, cancel := context.WithTimeout(hr.Context(), handleTimeout)
	defer cancel()
	r := request{Request: hr, ctx: ctx, name: hr.PathValue("name")}
	managerURL, err := s.reader.settingValue(ctx, "manager-url", "")
	r.base = wire.BaseOf(hr, managerURL)
	var result any
	if err == nil {
		result, err = h(r)
	}
	if err != nil && ctx.Err() != nil && hr.Context().Err() == nil {
		err = wire.WithStatus(http.StatusServiceUnavailable, fmt.Errorf("the answer took longer than %s, try again: %w", handleTimeout, err))
	}
	s.answer(w, r, result, err)
	s.metrics.observe(pattern, err, s.clock.Since(began))
}
