package record

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Refusal is what the API server answers to watches that are refused.
type Refusal string

// The refusals.
const (
	// RefuseGone is the HTTP status 410.
	RefuseGone Refusal = "410 Gone"
	// RefuseExpired is a stream of one event, an error with code 410.
	RefuseExpired Refusal = "an event of error 410"
	// RefuseEnd is a stream that ends at once.
	RefuseEnd Refusal = "a stream without an event"
)

// watches are the open watches, and the refusal of further ones.
type watches struct {
	mutex   sync.Mutex
	refusal Refusal
	last    int
	open    map[int]context.CancelFunc
}

// begin opens a watch, unless it is refused; end must be called when it is over.
func (w *watches) begin(ctx context.Context) (until context.Context, end func(), refusal Refusal) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.refusal != "" {
		return ctx, func() {}, w.refusal
	}
	until, cancel := context.WithCancel(ctx)
	if w.open == nil {
		w.open = map[int]context.CancelFunc{}
	}
	w.last++
	number := w.last
	w.open[number] = cancel
	return until, func() {
		cancel()
		w.mutex.Lock()
		defer w.mutex.Unlock()
		delete(w.open, number)
	}, ""
}

// RefuseWatches closes every watch and refuses further ones, until AllowWatches.
func (p *API) RefuseWatches(how Refusal) {
	p.watches.mutex.Lock()
	defer p.watches.mutex.Unlock()
	p.watches.refusal = how
	if how == "" {
		return
	}
	for _, end := range p.watches.open {
		end()
	}
}

// AllowWatches lets watches through again.
func (p *API) AllowWatches() { p.RefuseWatches("") }

// OpenWatches is how many watches are open.
func (p *API) OpenWatches() int {
	p.watches.mutex.Lock()
	defer p.watches.mutex.Unlock()
	return len(p.watches.open)
}

// refuse answers a watch. A lost answer is ignored: the client retries.
func refuse(w http.ResponseWriter, how Refusal) {
	expired := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonExpired, Code: http.StatusGone, Message: "too old resource version",
	}
	w.Header().Set("Content-Type", "application/json")
	switch how {
	case RefuseGone:
		w.WriteHeader(http.StatusGone)
		_ = json.NewEncoder(w).Encode(expired)
	case RefuseExpired:
		_ = json.NewEncoder(w).Encode(metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Object: expired}})
	default:
		w.WriteHeader(http.StatusOK)
	}
}
