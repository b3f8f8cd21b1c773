//go:build !fast

package attach

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// guest sets up a migratable volume that the source's ticket attaches near and a guest writes to.
func guest(t *testing.T, engine string) (context.Context, *world.World, string) {
	t.Helper()
	ctx, w := fixture(t)
	name := world.Unique("guest")
	require.NoError(t, w.Order(ctx, name, engine, 2, migratable))
	require.NoError(t, w.Ticket(ctx, name, source, v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, source, true, "", patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Write(ctx, name, 1, "first"))
	return ctx, w, name
}

// bothSides adds the target's ticket, and waits until the guest may move.
func bothSides(t *testing.T, ctx context.Context, w *world.World, name string) {
	t.Helper()
	require.NoError(t, w.Ticket(ctx, name, target, v1beta2.AttacherCSI, far, nil))
	require.NoError(t, w.WaitTicket(ctx, name, target, true, "", patience))
	require.NoError(t, w.WaitTicket(ctx, name, source, true, "", patience), "the guest's own side stays")
	require.NoError(t, w.Wait(ctx, "an engine on both sides", patience, enginesOn(w, name, near, far)))
	require.NoError(t, w.WriteFrom(ctx, name, near, 1, "second"), "the guest continues until it moves")
}

// enginesOn returns a text while engines of the volume do not run on exactly these nodes.
func enginesOn(w *world.World, name string, wanted ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		nodes, err := w.EngineNodes(ctx, name)
		if is := world.Join(nodes); err == nil && is != world.Join(wanted) {
			return "they run on " + is, nil
		}
		return "", err
	}
}

// settledOn is the end of a move: one side, which a ticket holds, with all data.
func settledOn(t *testing.T, ctx context.Context, w *world.World, name, ticket, node, text string) {
	t.Helper()
	require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
	require.NoError(t, w.WaitAttached(ctx, name, node, patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Wait(ctx, "one engine", patience, enginesOn(w, name, node)))
	unharmed(t, ctx, w, name, 1, text)
	require.NoError(t, w.WriteFrom(ctx, name, node, 2, "after"))
	unharmed(t, ctx, w, name, 2, "after")
}

// leftTarget waits until nothing of the target's side is left.
func leftTarget(t *testing.T, ctx context.Context, w *world.World, name string) {
	t.Helper()
	require.NoError(t, w.Wait(ctx, "the end of the target's side", patience, func(ctx context.Context) (string, error) {
		return w.Elsewhere(ctx, name, near)
	}))
}

func TestA10AVolumeMovesLive(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		require.NoError(t, w.DropTicket(ctx, name, source))
		settledOn(t, ctx, w, name, target, far, "second")
	})
}

func TestA10AMoveIsRolledBackWhenTheTargetsTicketGoes(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		require.NoError(t, w.DropTicket(ctx, name, target))
		require.NoError(t, w.Never(ctx, "a detachment", watching, attachedTo(name, near)))
		leftTarget(t, ctx, w, name)
		settledOn(t, ctx, w, name, source, near, "second")
	})
}

// The target's node dies: the guest stays where it is, and can move when the node is back.
func TestA10TheTargetsNodeDies(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		require.NoError(t, w.CutNode(ctx, far))
		require.NoError(t, w.WaitTicket(ctx, name, target, false, v1beta2.ReasonNodeNotReady, patience))
		require.NoError(t, w.Never(ctx, "a detachment", watching, attachedTo(name, near)))
		require.NoError(t, w.WaitTicket(ctx, name, source, true, "", patience))
		require.NoError(t, w.WriteFrom(ctx, name, near, 1, "third"))
		require.NoError(t, w.JoinNode(ctx, far))
		require.NoError(t, w.WaitTicket(ctx, name, target, true, "", patience))
		require.NoError(t, w.DropTicket(ctx, name, source))
		settledOn(t, ctx, w, name, target, far, "third")
	})
}

// The source's node dies and its ticket stays: the volume is attached where it can be.
func TestA10TheSourcesNodeDies(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		require.NoError(t, w.CutNode(ctx, near))
		require.NoError(t, w.WaitTicket(ctx, name, source, false, v1beta2.ReasonNodeNotReady, patience))
		require.NoError(t, w.WaitAttached(ctx, name, far, patience))
		require.NoError(t, w.WaitTicket(ctx, name, target, true, "", patience))
		require.NoError(t, w.DropTicket(ctx, name, source))
		require.NoError(t, w.JoinNode(ctx, near))
		settledOn(t, ctx, w, name, target, far, "second")
	})
}

// The target's engine crashes while the guest is still at the source: it does not notice.
func TestA10TheTargetsEngineCrashesBeforeTheMove(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		require.NoError(t, w.KillEngine(ctx, name, far))
		require.NoError(t, w.Never(ctx, "a detachment", watching, attachedTo(name, near)))
		require.NoError(t, w.WaitTicket(ctx, name, source, true, "", patience))
		require.NoError(t, w.DropTicket(ctx, name, target))
		leftTarget(t, ctx, w, name)
		settledOn(t, ctx, w, name, source, near, "second")
	})
}

// The target's engine crashes in the moment of the move: the volume is attached again where it was to go.
func TestA10TheTargetsEngineCrashesInTheMove(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		require.NoError(t, w.DropTicket(ctx, name, source))
		require.NoError(t, w.KillEngine(ctx, name, far))
		settledOn(t, ctx, w, name, target, far, "second")
	})
}

// The source's engine crashes: its frontend is gone, so the volume is attached again; the move can go on then.
func TestA10TheSourcesEngineCrashes(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		require.NoError(t, w.KillEngine(ctx, name, near))
		require.NoError(t, w.WaitVolumeEvent(ctx, name, "Faulted", patience))
		require.NoError(t, w.DropTicket(ctx, name, source))
		settledOn(t, ctx, w, name, target, far, "second")
	})
}
