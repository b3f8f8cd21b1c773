package instancecontroller

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// turn switches a frontend over, suspends or resumes it. What a server accepted of a switch-over is written at once: no list reports it.
func (r *executor) turn(ctx context.Context, key Key, connection imclient.Client, frontend client.Object, call instance.Call) error {
	var err error
	switch call.Op {
	case instance.OpSuspend:
		return connection.Suspend(ctx, frontend.GetName())
	case instance.OpResume:
		return connection.Resume(ctx, frontend.GetName())
	case instance.OpRevert:
		err = r.revert(ctx, call.Revert)
	default:
		err = switchOver(ctx, connection, frontend.GetName(), call)
	}
	if err != nil {
		return err
	}
	if err := r.accept(ctx, key, frontend, call); err != nil {
		return &unwrittenError{err}
	}
	return nil
}

// unwrittenError is the error of a phase that the server accepted, where that could not be written. It is as if no answer had come: the
// phase is repeated.
type unwrittenError struct{ err error }

func (e *unwrittenError) Error() string {
	return fmt.Sprintf("the instance manager accepted it, and that could not be written: %v", e.err)
}

// Is makes its outcome Unanswered, whatever the API server's error is.
func (e *unwrittenError) Is(target error) bool { return target == imclient.ErrUnreachable }

func (e *unwrittenError) Unwrap() error { return e.err }

func switchOver(ctx context.Context, connection imclient.Client, name string, call instance.Call) error {
	request := imclient.SwitchOverRequest{Name: name, EngineName: call.Target.Engine, TargetAddress: call.Target.Address(),
		Phase: call.Phase}
	if call.CloseFirst {
		closing := request
		closing.Phase = v1beta2.SwitchoverSwitching
		if err := connection.SwitchOver(ctx, closing); err != nil {
			return err
		}
	}
	return connection.SwitchOver(ctx, request)
}

// revert closes the one target before it opens the other one.
func (r *executor) revert(ctx context.Context, back instance.Revert) error {
	if err := r.setPath(ctx, back.CloseAt, back.Close, imclient.ANAInaccessible); err != nil && !errors.Is(err, imclient.ErrNotFound) &&
		!back.Harmless {
		return err
	}
	if back.Open == "" {
		return nil
	}
	return r.setPath(ctx, back.OpenAt, back.Open, imclient.ANAOptimized)
}

// setPath opens or closes the path to an engine, at the instance manager that runs it.
func (r *executor) setPath(ctx context.Context, instanceManager, engine, state string) error {
	connection, _, ok := r.store.Client(instanceManager)
	if !ok {
		return fmt.Errorf("making the path to engine %s %s: %w: there is no connection to instance manager %q", engine, state,
			imclient.ErrUnreachable, instanceManager)
	}
	return connection.SetANAState(ctx, engine, state)
}

// triesToAccept is how often an accepted phase is written, over other writes to the frontend: the first time to the version that the write
// ahead left.
const triesToAccept = 4

// accept writes that a phase was accepted, if the status still reports that it is in work. The frontend is as the phase was written ahead.
func (r *executor) accept(ctx context.Context, key Key, frontend client.Object, call instance.Call) (err error) {
	for again := range triesToAccept {
		if again > 0 {
			now, err := lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, key.Name, &v1beta2.EngineFrontend{})
			if err != nil || now == nil {
				return err
			}
			frontend = now
		}
		_, now := read(frontend)
		if now.Switchover != call.Ahead.Switchover {
			return nil
		}
		fields := map[string]any{}
		changeSwitchover(fields, now.Switchover, call.Accepted)
		if err = status.MergeStatus(ctx, r.rt.Client, frontend, fields, status.AtVersion()); err == nil {
			r.written.Record(frontend)
			return nil
		}
		if !status.IsConflict(err) {
			return client.IgnoreNotFound(err) // a frontend that is gone leads nowhere
		}
	}
	return err
}

// openTarget opens the path to the engine that a new frontend connects to. A switch-over that ended with its frontend may have closed it,
// and no server opens it at a creation. Where that is not possible the creation shows it.
func (r *executor) openTarget(ctx context.Context, key Key, object instance.Object) {
	if object.Kind != v1beta2.InstanceTypeEngineFrontend || object.Target.Engine == "" {
		return
	}
	engine, err := lookup.Shared(ctx, r.rt.Client, r.rt.Namespace, object.Target.Engine, &v1beta2.Engine{})
	if err != nil || engine == nil {
		return
	}
	if err := r.setPath(ctx, engine.Status.InstanceManagerName, engine.Name, imclient.ANAOptimized); err != nil {
		r.logFor(key).Info("the path to its target was not opened", "engine", engine.Name, "error", err.Error())
	}
}
