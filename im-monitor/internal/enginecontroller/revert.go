package enginecontroller

import (
	"context"
	"errors"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// revert asks the engine, and notes its answer. Where there is none, it is asked again.
func (c *Controller) revert(ctx context.Context, e *v1beta2.Engine, t target, proxy *imclient.Proxy, snapshot string) error {
	err := proxy.Revert(ctx, t.Target, snapshot)
	if execute.OutcomeOf(err) == execute.Unanswered {
		return err
	}
	fields := map[string]any{"lastRevert": e.Spec.RequestedRevert, "lastRevertError": nil}
	if err != nil {
		fields["lastRevertError"] = err.Error()
	}
	return errors.Join(err, status.MergeStatus(ctx, c.rt.Client, e, fields))
}
