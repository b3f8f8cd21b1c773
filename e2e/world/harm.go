package world

import (
	"context"
	"fmt"
	"net/http"
)

// harms are the effects in the simulator's journal that mean lost or mixed data, from any cause.
var harms = []string{"mixed-replicas", "stale-open", "two-writers", "two-targets", "wrong-engine"}

// NoHarm fails when the data plane's journal since the last Sweep has an effect that must never happen: an engine over replicas
// that differ, one opened over old data, a volume with two writers, a frontend whose I/O may go to two engines, a call through
// a frontend to an engine that gets no I/O.
func (w *World) NoHarm(ctx context.Context) error {
	var entries []struct {
		Method, Name, Node, Effect, Detail string
	}
	if err := w.ctl(ctx, http.MethodGet, fmt.Sprintf("/v1/journal?after=%d", w.journalMark()), nil, &entries); err != nil {
		return err
	}
	for _, e := range entries {
		for _, harm := range harms {
			if e.Effect == harm {
				return fmt.Errorf("%s: %s %s on %s %s", harm, e.Method, e.Name, e.Node, e.Detail)
			}
		}
	}
	return nil
}

// Reported returns a text while the data plane's journal has no entry with the effect since the last Sweep.
func (w *World) Reported(ctx context.Context, effect string) (string, error) {
	var entries []struct{ Effect string }
	if err := w.ctl(ctx, http.MethodGet, fmt.Sprintf("/v1/journal?after=%d", w.journalMark()), nil, &entries); err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Effect == effect {
			return "", nil
		}
	}
	return "nothing was " + effect, nil
}
