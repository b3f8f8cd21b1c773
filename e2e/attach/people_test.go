//go:build !fast

package attach

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// rowOf is what `kubectl get` prints of the object.
func rowOf(w *world.World, resource, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		table, err := w.Table(ctx, resource)
		for line := range strings.Lines(table) {
			if fields := strings.Fields(line); len(fields) > 0 && fields[0] == name {
				return strings.Join(fields, " "), err
			}
		}
		return "", err
	}
}

// shows waits until the row has all the words.
func shows(t *testing.T, ctx context.Context, w *world.World, resource, name string, words ...string) {
	t.Helper()
	row := rowOf(w, resource, name)
	require.NoError(t, w.Wait(ctx, "kubectl get "+resource+" to show "+world.Join(words), patience,
		func(ctx context.Context) (string, error) {
			is, err := row(ctx)
			for _, word := range words {
				if !strings.Contains(" "+is+" ", " "+word+" ") {
					return "it shows " + is, err
				}
			}
			return "", err
		}))
}

// byHand is the merge patch that the operator's guide gives to people; null removes the ticket.
func byHand(ctx context.Context, w *world.World, volume string, ticket map[string]any) error {
	attachment := &v1beta2.VolumeAttachment{}
	attachment.Name, attachment.Namespace = volume, w.Namespace
	return w.Patch(ctx, attachment, map[string]any{"spec": map[string]any{"attachmentTickets": map[string]any{"by-hand": ticket}}})
}

// A17: attach and detach with nothing but kubectl, and see who holds the volume and what blocks it in one command.
func TestA17KubectlDoesItAll(t *testing.T) {
	ctx, w := fixture(t)
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, byHand(ctx, w, name, map[string]any{"id": "by-hand", "type": "longhorn-api", "nodeID": near}))
	shows(t, ctx, w, "volumeattachments", name, "by-hand", near, "True")
	shows(t, ctx, w, "volumes", name, v1beta2.VolumeStateAttached, near)

	// The ticket of a pod that cannot have the volume names the holder.
	require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, far, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", false, v1beta2.ReasonAttachedElsewhere, patience))
	require.Contains(t, answerOf(t, ctx, name, "csi-pod"), "by-hand")

	require.NoError(t, byHand(ctx, w, name, nil))
	shows(t, ctx, w, "volumeattachments", name, "csi-pod", far, "True")
	require.NoError(t, w.CutNode(ctx, far))
	require.NoError(t, w.WaitNode(ctx, far, v1beta2.ConditionFalse, patience))
	shows(t, ctx, w, "volumeattachments", name, "csi-pod", "False")
	require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
	require.NoError(t, w.JoinNode(ctx, far))
	shows(t, ctx, w, "volumes", name, v1beta2.VolumeStateDetached)
}

// A6: whatever an older version or a crash left in the three fields for a volume's node, the volume ends on the node of
// its ticket. [ATT-1]
func TestA6EveryCombinationConverges(t *testing.T) {
	ctx, w := fixture(t)
	type left struct{ name, wanted, is, state string }
	var all []left
	for _, wanted := range []string{"", near} {
		for _, is := range []string{"", near, far} {
			for _, state := range []string{v1beta2.VolumeStateCreating, v1beta2.VolumeStateDetached, v1beta2.VolumeStateAttaching,
				v1beta2.VolumeStateAttached, v1beta2.VolumeStateDetaching} {
				all = append(all, left{world.Unique("left"), wanted, is, state})
			}
		}
	}
	each := func(act func(ctx context.Context, l left) error) {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(6)
		for _, l := range all {
			group.Go(func() error { return act(ctx, l) })
		}
		require.NoError(t, group.Wait())
	}
	each(func(ctx context.Context, l left) error { return w.Order(ctx, l.name, v1beta2.DataEngineV1, 1, nil) })
	controller := w.Process(world.AttachController)
	require.NoError(t, controller.Stop())
	each(func(ctx context.Context, l left) error {
		volume := &v1beta2.Volume{}
		if err := w.Get(ctx, l.name, volume); err != nil {
			return err
		}
		if err := w.Patch(ctx, volume, map[string]any{"spec": map[string]any{"nodeID": l.wanted}}); err != nil {
			return err
		}
		if err := w.SetStatus(ctx, volume, map[string]any{"currentNodeID": l.is, "state": l.state}); err != nil {
			return err
		}
		if l.wanted == "" {
			return nil
		}
		return w.Ticket(ctx, l.name, "by-hand", v1beta2.AttacherLonghornAPI, l.wanted, nil)
	})
	require.NoError(t, controller.Restart())
	each(func(ctx context.Context, l left) error {
		if l.wanted == "" {
			return w.WaitDetached(ctx, l.name, patience)
		}
		if err := w.WaitAttached(ctx, l.name, l.wanted, patience); err != nil {
			return err
		}
		return w.Wait(ctx, "one engine of "+l.name, patience, enginesOn(w, l.name, l.wanted))
	})
	require.NoError(t, w.NoHarm(ctx))
}
