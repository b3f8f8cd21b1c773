//go:build !fast

package kubernetes

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	near     = scenarios.Near
	patience = scenarios.Patience
	// taking is the method of the simulator's journal that takes a snapshot.
	taking = "VolumeSnapshot"
)

// here is the one World of this test binary; every test leaves it empty.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Record: true, Attach: true, Snapshots: true, Kubernetes: true,
		Flags: map[string][]string{world.SnapshotController: {"--webhook-certificate-validity=24s"}}},
		func(ctx context.Context, w *world.World) error { here = w; return furnish(ctx) })
}

// furnish installs the definitions of VolumeSnapshots, and classes for them.
func furnish(ctx context.Context) error {
	if err := here.VolumeSnapshots(ctx); err != nil {
		return err
	}
	for _, kind := range []string{"snap", "bak", "film"} {
		for _, policy := range []string{"Delete", "Retain"} {
			if err := here.SnapshotClass(ctx, class(kind, policy), kind, policy); err != nil {
				return err
			}
		}
	}
	return nil
}

func class(kind, policy string) string {
	return kind + "-" + map[string]string{"Delete": "delete", "Retain": "retain"}[policy]
}

// fixture gives a test an empty World, and empties it again at the end.
func fixture(t *testing.T) (context.Context, *world.World) {
	t.Helper()
	return harness.Empty(t, here, 4*time.Minute), here
}

// claimed creates a volume with two replicas, attached or not, and a claim that is bound to it.
func claimed(t *testing.T, ctx context.Context, engine string, attached bool) string {
	t.Helper()
	name := world.Unique("pvc")
	require.NoError(t, here.Order(ctx, name, engine, 2, nil))
	require.NoError(t, here.WaitDetached(ctx, name, patience))
	if attached {
		require.NoError(t, here.Ticket(ctx, name, "csi-1", v1beta2.AttacherCSI, near, nil))
		require.NoError(t, here.WaitAttached(ctx, name, near, patience))
	}
	require.NoError(t, here.PersistentVolume(ctx, name))
	require.NoError(t, here.Claim(ctx, name))
	return name
}

// ready waits until Kubernetes reports that the snapshot can be used.
func ready(t *testing.T, ctx context.Context, name string) world.VolumeSnapshotStatus {
	t.Helper()
	now, err := here.WaitVolumeSnapshot(ctx, name, "to be ready", patience, func(s world.VolumeSnapshotStatus) bool { return s.Ready })
	require.NoError(t, err)
	return now
}

// taken counts the snapshots that the volume's engine took.
func taken(t *testing.T, ctx context.Context, volume string) int {
	t.Helper()
	count, err := here.EngineCalls(ctx, volume, taking)
	require.NoError(t, err)
	return count
}
