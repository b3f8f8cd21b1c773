package suite

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/conformance/internal/target"
)

// T is one run of one check. Its methods end the check when something is not as it should be.
type T struct {
	*target.Target
	// Manager is the instance manager that is checked, Second another one of its data engine, nil when there is none.
	Manager, Second *target.Manager

	ctx      context.Context
	run      string
	id       string
	outcome  Outcome
	reason   string
	cleanups []func(ctx context.Context) error
	shared   *shared
}

// Context ends when the time of the check is over.
func (t *T) Context() context.Context { return t.ctx }

// Name is a name for an object of this check.
func (t *T) Name(suffix string) string { return Prefix(t.run) + t.id + suffix }

// RunName is a name for an object that all checks of a run share.
func (t *T) RunName(suffix string) string { return Prefix(t.run) + suffix }

// Prefix begins the name of every object of a run.
func Prefix(run string) string { return "conf-" + run + "-" }

// Fatalf ends the check: the behaviour is another one.
func (t *T) Fatalf(format string, args ...any) {
	t.outcome, t.reason = Failed, oneLine(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// NotRun ends the check: the target cannot serve it after all.
func (t *T) NotRun(format string, args ...any) {
	t.outcome, t.reason = NotRun, oneLine(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// Require ends the check unless something holds.
func (t *T) Require(holds bool, format string, args ...any) {
	if !holds {
		t.Fatalf(format, args...)
	}
}

// OK ends the check unless a call was answered with OK.
func (t *T) OK(err error, format string, args ...any) {
	if err != nil {
		t.Fatalf("%s: expected OK, got %s: %s", fmt.Sprintf(format, args...), status.Code(err), status.Convert(err).Message())
	}
}

// Refused ends the check unless a call was answered with a code and a text that contains all the parts.
func (t *T) Refused(err error, want codes.Code, parts []string, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	got := status.Convert(err)
	if got.Code() != want {
		t.Fatalf("%s: expected %s, got %s: %s", what, want, got.Code(), got.Message())
	}
	for _, part := range parts {
		if !strings.Contains(got.Message(), part) {
			t.Fatalf("%s: expected a text with %q, got %q", what, part, got.Message())
		}
	}
}

// Fails ends the check unless a call was refused, whatever the code, with a text that contains all the parts.
func (t *T) Fails(err error, parts []string, format string, args ...any) {
	if err == nil {
		t.Fatalf("%s: expected an error, got OK", fmt.Sprintf(format, args...))
	}
	t.Refused(err, status.Code(err), parts, format, args...)
}

// pause is how often Eventually and Never check.
const pause = 20 * time.Millisecond

// Eventually waits until seen answers true; otherwise the check fails with what it saw last.
func (t *T) Eventually(what string, seen func() (bool, string)) {
	t.within(t.Patience, what, seen)
}

// within waits for a while.
func (t *T) within(patience time.Duration, what string, seen func() (bool, string)) {
	deadline, last := time.Now().Add(patience), ""
	for {
		ok, detail := seen()
		if ok {
			return
		}
		last = detail
		if time.Now().After(deadline) {
			t.Fatalf("%s: not seen within %s; last: %s", what, patience, last)
		}
		t.Sleep(pause)
	}
}

// Never watches for a while that seen answers false.
func (t *T) Never(what string, seen func() (bool, string)) { t.NeverFor(t.Observation, what, seen) }

// NeverFor watches for a given time that seen answers false.
func (t *T) NeverFor(watch time.Duration, what string, seen func() (bool, string)) {
	for deadline := time.Now().Add(watch); time.Now().Before(deadline); t.Sleep(pause) {
		if is, detail := seen(); is {
			t.Fatalf("%s: it came after all: %s", what, detail)
		}
	}
}

// Sleep waits, and ends the check when its time is over.
func (t *T) Sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.Fatalf("the time of the check is over")
	}
}

// Cleanup has something undone at the end of the check, in the opposite order.
func (t *T) Cleanup(undo func(ctx context.Context) error) { t.cleanups = append(t.cleanups, undo) }

// shared is what checks of a run share: facts, such as the UUID of a disk, and what is undone at the end of the run.
type shared struct {
	facts map[string]string
	ends  map[string]func(ctx context.Context) error
}

// Remember keeps a fact for the checks that follow, Recall reads it.
func (t *T) Remember(key, fact string) { t.shared.facts[key] = fact }

// Recall reads a fact; it is empty where there is none.
func (t *T) Recall(key string) string { return t.shared.facts[key] }

// AtEnd has something undone at the end of the run, once for each key.
func (t *T) AtEnd(key string, undo func(ctx context.Context) error) { t.shared.ends[key] = undo }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
