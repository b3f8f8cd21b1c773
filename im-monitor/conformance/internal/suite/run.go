package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// Outcome is what became of a check.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
	NotRun Outcome = "not run"
)

// Result is the outcome of a check and, unless it passed, the reason.
type Result struct {
	Check   string  `json:"check"`
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Runner runs checks against a target, one after the other.
type Runner struct {
	Target *target.Target
	// Run is part of the name of every object.
	Run string
	// Limit is how long one check may take, and its cleaning up once more.
	Limit time.Duration
	// Done is called with each result as it comes.
	Done func(Result)

	shared shared
}

// Admit returns an error when a manager of the target lists an instance that is not of this run: the suite is for managers that no one
// uses.
func (r *Runner) Admit(ctx context.Context) error {
	for _, m := range r.Target.Managers() {
		list, err := m.Instance.InstanceList(ctx, &emptypb.Empty{})
		if err != nil {
			return fmt.Errorf("listing the instances of the %s instance manager %s: %w", m.Engine, m.Host, err)
		}
		for name := range list.GetInstances() {
			if !strings.HasPrefix(name, Prefix(r.Run)) {
				return fmt.Errorf("the %s instance manager %s lists instance %s, which is not of this run, and %d instances in all: the "+
					"suite runs only against an instance manager that no one uses; take another one, or give --id when the instances are "+
					"those of an earlier run",
					m.Engine, m.Host, name, len(list.GetInstances()))
			}
		}
	}
	return nil
}

// All runs the checks. A manager that lists foreign instances after a check ends the run with an error.
func (r *Runner) All(ctx context.Context, checks []Check) ([]Result, error) {
	if err := r.Admit(ctx); err != nil {
		return nil, err
	}
	r.shared = shared{facts: map[string]string{}, ends: map[string]func(context.Context) error{}}
	var out []Result
	for _, c := range checks {
		result := r.one(ctx, c)
		out = append(out, result)
		r.Done(result)
		if ctx.Err() != nil {
			break
		}
	}
	if err := r.finish(ctx); err != nil {
		return out, err
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("the run was ended: %w", ctx.Err())
	}
	return out, nil
}

// finish undoes what the checks of the run share.
func (r *Runner) finish(ctx context.Context) error {
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), r.Limit)
	defer stop()
	errs := []error{r.sweep(after)}
	for key, undo := range r.shared.ends {
		if err := undo(after); err != nil {
			errs = append(errs, fmt.Errorf("cleaning up %s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// one runs a check in a goroutine of its own, so that its methods can end it, and undoes what it did.
func (r *Runner) one(ctx context.Context, c Check) Result {
	began := time.Now()
	result := Result{Check: c.ID, Name: c.Name, Outcome: NotRun}
	if result.Reason = lacks(r.Target, c); result.Reason != "" {
		return result
	}
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	t := &T{Target: r.Target, Manager: manager(r.Target, c.Engine), Second: second(r.Target, c.Engine), ctx: limited, run: r.Run,
		id: c.ID, shared: &r.shared, outcome: Failed, reason: "the check ended without a verdict"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(t)
		t.outcome, t.reason = Passed, ""
	}()
	<-done
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), r.Limit)
	defer stop()
	if err := t.undo(after); err != nil && t.outcome != Failed {
		t.outcome, t.reason = Failed, oneLine("cleaning up: "+err.Error())
	}
	result.Outcome, result.Reason, result.Seconds = t.outcome, t.reason, time.Since(began).Seconds()
	return result
}

// undo runs the clean-ups in the opposite order.
func (t *T) undo(ctx context.Context) error {
	var errs []error
	for n := len(t.cleanups) - 1; n >= 0; n-- {
		errs = append(errs, t.cleanups[n](ctx))
	}
	return errors.Join(errs...)
}

// sweep removes what checks that failed left behind: instances of this run, and no others.
func (r *Runner) sweep(ctx context.Context) error {
	var errs []error
	for _, m := range r.Target.Managers() {
		list, err := m.Instance.InstanceList(ctx, &emptypb.Empty{})
		errs = append(errs, err)
		for _, typ := range []string{"engine-frontend", "engine", "replica"} {
			for name, i := range list.GetInstances() {
				if !strings.HasPrefix(name, Prefix(r.Run)) || i.GetSpec().GetType() != typ {
					continue
				}
				_, err := m.Instance.InstanceDelete(ctx,
					&imrpc.InstanceDeleteRequest{Name: name, Type: typ, DataEngine: i.GetSpec().GetDataEngine(),
						CleanupRequired: true})
				if status.Code(err) != codes.NotFound {
					errs = append(errs, err)
				}
			}
		}
	}
	return errors.Join(errs...)
}
