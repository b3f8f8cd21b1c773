package runkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// health answers /healthz and /readyz from the first moment of the process to its last: a liveness probe that nobody answered
// while the API server is away would end every controller again and again. Whoever answers is alive; who passes all checks is
// ready. What fails is told with its reason, as controller-runtime's handler does not.
type health struct {
	mutex  sync.Mutex
	checks map[string]check
}

// check is nil for what is as it must be, or says what is missing.
type check func(context.Context) error

// serveHealth listens on the address, unless that is 0, and answers until ctx ends.
func serveHealth(ctx context.Context, address string, log logr.Logger) (*health, error) {
	h := &health{checks: map[string]check{}}
	if address == "0" {
		return h, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for probes (--health-probe-bind-address): %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", h.ready)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // nobody needs an answer any more
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error(err, "answering probes")
		}
	}()
	return h, nil
}

// ready answers 200 when every check passes, else 500; a line for each check that fails, with verbose for every one.
func (h *health) ready(w http.ResponseWriter, request *http.Request) {
	h.mutex.Lock()
	checks := maps.Clone(h.checks)
	h.mutex.Unlock()
	verbose := request.URL.Query().Has("verbose")
	status, lines := http.StatusOK, []string(nil)
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if err := checks[name](request.Context()); err != nil {
			status, lines = http.StatusInternalServerError, append(lines, fmt.Sprintf("[-]%s: %v", name, err))
		} else if verbose {
			lines = append(lines, "[+]"+name)
		}
	}
	if status == http.StatusOK {
		lines = append(lines, "ready")
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, strings.Join(lines, "\n"))
}

// require adds a check, or puts it in the place of the one of that name.
func (h *health) require(name string, c check) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.checks[name] = c
}
