package record

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Write is one request that changed an object, or tried to.
type Write struct {
	Request
	Step
	// Source is the ID of the request's token: each process of one user has its own.
	Source       string
	Body         []byte
	Code         int
	Began, Ended time.Time
}

// API is the proxy in front of the API server. Clients keep their own tokens; the proxy has none.
type API struct {
	sequence *Sequence
	server   *http.Server
	address  string
	ca       []byte
	gates    gates
	watches  watches
	counts   Counts[Request]

	mutex          sync.Mutex
	writes, leases []Write
	before         func(Write) error
}

// StartAPI listens on a free loopback port and forwards to upstream; it trusts only upstream's certificate authority.
func StartAPI(upstream *rest.Config, sequence *Sequence) (*API, error) {
	target, transport, err := dial(upstream)
	if err != nil {
		return nil, err
	}
	certificate, ca, err := selfSigned()
	if err != nil {
		return nil, fmt.Errorf("making the proxy's certificate: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the recording proxy: %w", err)
	}
	p := &API{sequence: sequence, address: "https://" + listener.Addr().String(), ca: ca}
	forward := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: p.answered,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	p.server = &http.Server{Handler: p.handler(forward), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}}
	go func() { _ = p.server.ServeTLS(listener, "", "") }()
	return p, nil
}

func dial(upstream *rest.Config) (*url.URL, http.RoundTripper, error) {
	anonymous := rest.AnonymousClientConfig(upstream)
	anonymous.QPS = -1
	transport, err := rest.TransportFor(anonymous)
	if err != nil {
		return nil, nil, fmt.Errorf("reaching the API server behind the proxy: %w", err)
	}
	target, err := url.Parse(upstream.Host)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the API server's address %q: %w", upstream.Host, err)
	}
	return target, transport, nil
}

// URL is the proxy's address, CA the certificate authority that a client needs for it.
func (p *API) URL() string { return p.address }

// CA is the PEM of the proxy's certificate authority.
func (p *API) CA() []byte { return p.ca }

// Close closes every connection.
func (p *API) Close() error { return p.server.Close() }

// Counts are the requests since the last Reset, by user, verb and resource. Object names are not kept there.
func (p *API) Counts() *Counts[Request] { return &p.counts }

// Writes returns every request that changed an object since the last Reset, leases and events left out.
func (p *API) Writes() []Write {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]Write(nil), p.writes...)
}

// Leases returns every request that changed a lease, or tried to, since the last Reset, in the order of the answers.
func (p *API) Leases() []Write {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]Write(nil), p.leases...)
}

// Reset forgets counts and writes.
func (p *API) Reset() {
	p.counts.Reset()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.writes, p.leases = nil, nil
}

// Before is called with every write before it is forwarded, and may block to delay it; an error breaks the connection
// instead. Nil removes it.
func (p *API) Before(hook func(Write) error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.before = hook
}

// HoldWatches delivers no more events of the resource to the user, until ReleaseWatches: the user's cache is stale from now on.
func (p *API) HoldWatches(user, resource string) { p.gates.close(user + "/" + resource) }

// ReleaseWatches delivers the delayed events.
func (p *API) ReleaseWatches(user, resource string) { p.gates.open(user + "/" + resource) }

type exchange struct {
	request Request
	write   *Write
}

type exchangeKey struct{}

func (p *API) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := parse(r)
		short := request
		short.Object, short.Namespace = "", ""
		p.counts.add(short)
		if request.Kind == KindWatch {
			until, end, refusal := p.watches.begin(r.Context())
			defer end()
			if refusal != "" {
				refuse(w, refusal)
				return
			}
			r = r.WithContext(until)
		}
		exchange := &exchange{request: request}
		switch request.Kind {
		case KindWrite:
			p.begin(exchange, r)
		case KindLease:
			exchange.write = &Write{Request: request, Source: claimsOf(r.Header.Get("Authorization")).ID, Body: bodyOf(r),
				Began: time.Now()}
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, exchange)))
	})
}

// begin numbers a write. A run that is cut here, or a hook that refuses, breaks the connection before the server
// has seen anything.
func (p *API) begin(exchange *exchange, r *http.Request) {
	body := bodyOf(r)
	step, cut := p.sequence.begin(exchange.request.User, exchange.request.String())
	source := claimsOf(r.Header.Get("Authorization")).ID
	write := &Write{Request: exchange.request, Step: step, Source: source, Body: body, Began: time.Now()}
	if cut || p.refused(*write) {
		panic(http.ErrAbortHandler)
	}
	exchange.write = write
}

// bodyOf reads the body of a request, which is still sent whole.
func bodyOf(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

func (p *API) refused(write Write) bool {
	p.mutex.Lock()
	hook := p.before
	p.mutex.Unlock()
	return hook != nil && hook(write) != nil
}

var errCut = errors.New("the run was cut after this write")

// answered records a write's answer, and puts a gate before a watch's events.
func (p *API) answered(response *http.Response) error {
	exchange := response.Request.Context().Value(exchangeKey{}).(*exchange)
	if exchange.request.Kind == KindWatch {
		user, resource := exchange.request.User, exchange.request.Resource
		response.Body = gatedBody{response.Body, response.Request.Context(), &p.gates, []string{user + "/" + resource}}
	}
	write := exchange.write
	if write == nil {
		return nil
	}
	write.Code, write.Ended = response.StatusCode, time.Now()
	p.mutex.Lock()
	if write.Kind == KindLease {
		p.leases = append(p.leases, *write)
		p.mutex.Unlock()
		return nil
	}
	p.writes = append(p.writes, *write)
	p.mutex.Unlock()
	if p.sequence.end(write.Step) {
		return errCut
	}
	return nil
}
