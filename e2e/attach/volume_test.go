//go:build !fast

package attach

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// attachedTo returns a text while the volume is not attached to the node.
func attachedTo(name, node string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		volume := &v1beta2.Volume{}
		if err := here.Get(ctx, name, volume); err != nil {
			return "", err
		}
		if volume.Status.State != v1beta2.VolumeStateAttached || volume.Status.CurrentNodeID != node {
			return "it is " + volume.Status.State + " on " + volume.Status.CurrentNodeID, nil
		}
		return "", nil
	}
}

// attachedNow is an error when the volume is not attached to the node.
func attachedNow(ctx context.Context, name, node string) error {
	if why, err := attachedTo(name, node)(ctx); err != nil || why != "" {
		return errors.Join(err, errors.New(why))
	}
	return nil
}

func noTicket(volume, id string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		tickets, err := here.Tickets(ctx, volume)
		if _, ok := tickets[id]; ok {
			return "it is there", err
		}
		return "", err
	}
}

// answerOf is the message of a ticket's answer.
func answerOf(t *testing.T, ctx context.Context, volume, id string) string {
	t.Helper()
	attachment := &v1beta2.VolumeAttachment{}
	require.NoError(t, here.Get(ctx, volume, attachment))
	c := conditions.Get(attachment.Status.AttachmentTicketStatuses[id].Conditions, v1beta2.TicketSatisfied)
	require.NotNil(t, c)
	return c.Message
}

// A7: a node goes down while it holds the volume; the pod moves; the node returns.
func TestA7ANodeGoesDownUnderAnAttachedVolume(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := world.Unique("vol")
		require.NoError(t, w.Order(ctx, name, engine, 2, nil))
		require.NoError(t, w.Ticket(ctx, name, "csi-old", v1beta2.AttacherCSI, near, nil))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-old", true, "", patience))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.CutNode(ctx, near))
		require.NoError(t, w.WaitNode(ctx, near, v1beta2.ConditionFalse, patience))
		require.NoError(t, w.Ticket(ctx, name, "csi-new", v1beta2.AttacherCSI, far, nil))
		require.NoError(t, w.DropTicket(ctx, name, "csi-old"))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-new", true, "", patience))
		require.NoError(t, w.JoinNode(ctx, near))
		require.NoError(t, w.WaitNode(ctx, near, v1beta2.ConditionTrue, patience))
		require.NoError(t, w.Never(ctx, "a second move", watching, attachedTo(name, far)))
		require.NoError(t, w.Wait(ctx, "the end of the old engine", patience, oneEngine(w, name)))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	})
}

func TestA16AVolumeIsDeletedInEveryState(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		for name, prepare := range map[string]func(context.Context, *world.World, string) error{
			"detached": func(context.Context, *world.World, string) error { return nil },
			"attached": func(ctx context.Context, w *world.World, v string) error { return w.Attach(ctx, v, near, patience) },
			"attaching, with a ticket": func(ctx context.Context, w *world.World, v string) error {
				return w.Ticket(ctx, v, "t", v1beta2.AttacherCSI, near, nil)
			},
		} {
			t.Run(name, func(t *testing.T) {
				ctx, w := fixture(t)
				volume := world.Unique("vol")
				require.NoError(t, w.Order(ctx, volume, engine, 2, nil))
				require.NoError(t, prepare(ctx, w, volume))
				require.NoError(t, w.DeleteVolume(ctx, volume))
				require.NoError(t, w.WaitVolumeGone(ctx, volume, patience))
				require.NoError(t, w.Wait(ctx, "the end of its instances", patience, func(ctx context.Context) (string, error) {
					return w.InstancesOf(ctx, volume)
				}))
			})
		}
	})
}
