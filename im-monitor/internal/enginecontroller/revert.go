package enginecontroller

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// maintained makes sure that no one can write to the volume that is about to lose what was written, and that this is still
// asked for: until the frontend is on again, reverting twice is reverting once.
func (c *Controller) maintained(ctx context.Context, e *v1beta2.Engine) error {
	v := &v1beta2.Volume{}
	if err := c.rt.Uncached.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: e.Spec.VolumeName}, v); err != nil {
		return fmt.Errorf("reading volume %s: %w", e.Spec.VolumeName, err)
	}
	asked := v.Spec.RevertToSnapshot + "@" + v.Spec.RevertRequestedAt
	switch {
	case v.DeletionTimestamp != nil || !engine.IsOf(e, v):
		return fmt.Errorf("volume %s is going, or another one", v.Name)
	case asked != e.Spec.RequestedRevert || v.Status.LastRevert == asked:
		return fmt.Errorf("volume %s is not to be reverted any more", v.Name)
	case !v.Spec.DisableFrontend || !v.Status.FrontendDisabled || !e.Spec.DisableFrontend:
		return fmt.Errorf("volume %s can be written to", v.Name)
	}
	return nil
}

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
