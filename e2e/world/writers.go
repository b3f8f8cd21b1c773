package world

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Writer is the result of a continuous workload on a volume. See the simulator's control endpoint.
type Writer struct {
	Volume  string `json:"volume"`
	Writes  uint64 `json:"writes"`
	Failed  uint64 `json:"failed"`
	Waited  uint64 `json:"waited"`
	Lost    uint64 `json:"lost"`
	Doubled uint64 `json:"doubled"`
	// Misdirected counts blocks with the content of another block.
	Misdirected uint64 `json:"misdirected"`
	// MaxPause is the longest time between two acknowledged writes, as a duration's text.
	MaxPause string   `json:"maxPause"`
	Errors   []string `json:"errors"`
}

// Pause is the longest time between two acknowledged writes.
func (w Writer) Pause() time.Duration {
	d, err := time.ParseDuration(w.MaxPause)
	if err != nil {
		return -1
	}
	return d
}

// Harm describes the failures of the workload; empty when there are none.
func (w Writer) Harm() string {
	if w.Failed+w.Lost+w.Doubled+w.Misdirected == 0 && w.Writes > 0 {
		return ""
	}
	return fmt.Sprintf("the writer of %s wrote %d: %d failed, %d lost, %d doubled, %d misdirected: %v", w.Volume, w.Writes, w.Failed,
		w.Lost, w.Doubled, w.Misdirected, w.Errors)
}

// WriteOn lets a workload write to a volume continuously.
func (w *World) WriteOn(ctx context.Context, volume string, every time.Duration) error {
	return w.ctl(ctx, http.MethodPost, "/v1/writers", map[string]any{"volume": volume, "interval": every.String()}, nil)
}

// WaitWritten waits for the first acknowledged write of a volume's workload.
func (w *World) WaitWritten(ctx context.Context, volume string, within time.Duration) error {
	return w.Wait(ctx, "the first write to "+volume, within, func(ctx context.Context) (string, error) {
		var out []Writer
		if err := w.ctl(ctx, http.MethodGet, "/v1/writers?volume="+url.QueryEscape(volume), nil, &out); err != nil {
			return "", err
		}
		if slices.ContainsFunc(out, func(one Writer) bool { return one.Volume == volume && one.Writes > 0 }) {
			return "", nil
		}
		return fmt.Sprintf("nothing is written yet: %+v", out), nil
	})
}

// StopWriting ends the workload of a volume and returns its result.
func (w *World) StopWriting(ctx context.Context, volume string) (Writer, error) {
	var out []Writer
	if err := w.ctl(ctx, http.MethodDelete, "/v1/writers?volume="+url.QueryEscape(volume), nil, &out); err != nil {
		return Writer{}, err
	}
	if len(out) != 1 {
		return Writer{}, fmt.Errorf("volume %s has %d writers, not one", volume, len(out))
	}
	return out[0], nil
}
