package world

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// checkPause is the interval between two checks of a wait, idlePause while nothing is changed through the proxies: tests mostly wait for a
// time to pass, and each check sends requests to the API server.
const checkPause, idlePause = 150 * time.Millisecond, 300 * time.Millisecond

// Wait checks until check returns "", or returns an error with the last text after the time is over. The text of check
// shows why the state is not reached yet.
func (w *World) Wait(ctx context.Context, what string, within time.Duration, check func(context.Context) (string, error)) error {
	var seen int64
	var next time.Time
	return w.wait(ctx, what, checkPause, within, check, func() bool {
		ended := w.Sequence.Ended()
		if w.API != nil && ended == seen && time.Now().Before(next) {
			return false
		}
		seen, next = ended, time.Now().Add(idlePause)
		return true
	})
}

// WaitSlowly is Wait with the caller's interval between two checks.
func (w *World) WaitSlowly(ctx context.Context, what string, pause, within time.Duration,
	check func(context.Context) (string, error)) error {
	return w.wait(ctx, what, pause, within, check, func() bool { return true })
}

// wait calls check at each due interval.
func (w *World) wait(ctx context.Context, what string, pause, within time.Duration, check func(context.Context) (string, error),
	due func() bool) error {
	within = w.Stretched(within)
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	why := "not checked yet"
	for {
		if due() {
			text, err := check(ctx)
			switch {
			case err == nil && text == "":
				return nil
			case err != nil && ctx.Err() == nil:
				why = err.Error()
			case err == nil && ctx.Err() == nil:
				why = text
			}
		}
		if err := w.Died(); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			if whole.Err() != nil {
				return fmt.Errorf("waiting for %s: %w; %s", what, context.Cause(whole), why)
			}
			return fmt.Errorf("waited %s for %s: %s", within, what, why)
		case <-ticker.C:
		}
	}
}

// Never checks for the given time that check returns "", and fails with the first other text.
func (w *World) Never(ctx context.Context, what string, during time.Duration, check func(context.Context) (string, error)) error {
	end := time.NewTimer(w.Stretched(during))
	defer end.Stop()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		text, err := check(ctx)
		if err != nil {
			return fmt.Errorf("watching that %s never happens: %w", what, err)
		}
		if text != "" {
			return fmt.Errorf("%s happened: %s", what, text)
		}
		select {
		case <-end.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// Pass lets so much real time pass, whatever the World's times are, and fails once a process has ended by itself.
func (w *World) Pass(ctx context.Context, during time.Duration) error {
	end := time.NewTimer(during)
	defer end.Stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-end.C:
			return w.Died()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			if err := w.Died(); err != nil {
				return err
			}
		}
	}
}

// Died names the processes that ended by themselves.
func (w *World) Died() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var ended []string
	for _, process := range w.processes {
		if err := process.Died(); err != nil {
			ended = append(ended, err.Error())
		}
	}
	if len(ended) > 0 {
		return fmt.Errorf("%s", strings.Join(ended, "\n"))
	}
	return nil
}
