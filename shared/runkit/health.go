package runkit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
)

// health answers /healthz and /readyz from the first moment of the process to its last: an unanswered liveness probe
// while the API server is unreachable would restart every controller repeatedly. A process that answers is alive; one that passes all
// checks is ready. A failed check is reported with its reason, which controller-runtime's handler does not do.
type health struct {
	mutex  sync.Mutex
	checks map[string]check
}

// check returns nil, or what is missing.
type check func(context.Context) error

// serveHealth listens on the address, unless that is 0, and answers until ctx ends.
func serveHealth(ctx context.Context, address string, log logr.Logger) (*health, error) {
	h := &health{checks: map[string]check{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", h.ready)
	return h, serve(ctx, "health-probe-bind-address", address, mux, log)
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

// require adds a check, or replaces the one of that name.
func (h *health) require(name string, c check) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.checks[name] = c
}
