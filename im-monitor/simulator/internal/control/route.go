package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// Handle answers one request of the control endpoint with a value that becomes JSON.
type Handle func(*http.Request) (any, error)

// Errors that decide the code of an answer.
var (
	// errBadRequest marks a request that the caller has to change.
	errBadRequest = errors.New("bad request")
	// ErrNotServed marks a request that this data plane cannot serve, such as a fault that real servers do not have.
	ErrNotServed = errors.New("this data plane does not serve that")
	// ErrConflict marks a request that may succeed later.
	ErrConflict = errors.New("not now")
)

// BadRequest marks an error that the caller has to correct.
func BadRequest(err error) error { return fmt.Errorf("%w: %w", errBadRequest, err) }

// Route serves each pattern with its handle.
func Route(log *slog.Logger, handles map[string]Handle) http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range handles {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(log, w, r, handle) })
	}
	return mux
}

// maxBody bounds a request: 100,000 instances fit several times.
const maxBody = 256 << 20

// answer runs a handle and writes its answer as JSON.
func answer(log *slog.Logger, w http.ResponseWriter, r *http.Request, handle Handle) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	result, err := handle(r)
	code := http.StatusOK
	if err != nil {
		code, result = statusOf(err), Failure{Error: err.Error()}
	}
	if r.Method != http.MethodGet {
		log.Info("control", "method", r.Method, "path", r.URL.Path, "code", code)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(result); err != nil {
		log.Debug("answering", "path", r.URL.Path, "error", err)
	}
}

func statusOf(err error) int {
	var refusal *dataplane.Error
	switch {
	case errors.Is(err, machine.ErrNotFound), errors.As(err, &refusal) && refusal.Code == dataplane.NotFound:
		return http.StatusNotFound
	case errors.Is(err, errBadRequest):
		return http.StatusBadRequest
	case errors.Is(err, ErrNotServed):
		return http.StatusNotImplemented
	case refusal != nil, errors.Is(err, ErrConflict):
		return http.StatusConflict
	default:
		return http.StatusInternalServerError
	}
}

// Read decodes the body of a request; an unknown field is an error, so that a misspelt fault is not silently none.
func Read[T any](r *http.Request) (T, error) {
	var out T
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return out, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	return out, nil
}
