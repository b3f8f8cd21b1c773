//go:build !fast

package disks

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// watching is how long a test checks that something does not happen.
const watching = 5 * time.Second

// deletes lets policy delete every kind of orphan at once, until the test ends.
func deletes(t *testing.T, ctx context.Context) {
	t.Helper()
	require.NoError(t, here.SetAutoDeletion(ctx, "replica-data;instance", "0"))
	t.Cleanup(func() { require.NoError(t, here.SetAutoDeletion(context.Background(), "", "300")) })
}

// dataOrphan is the Orphan of the data of a replica on a disk.
func dataOrphan(t *testing.T, ctx context.Context, key, replica string) string {
	t.Helper()
	s, err := here.DiskStatus(ctx, node, key)
	require.NoError(t, err)
	return v1beta2.OrphanDataName(node, key, s.DiskPath, s.DiskUUID, replica)
}

func holds(t *testing.T, ctx context.Context, path, replica string) bool {
	t.Helper()
	d, err := here.Device(ctx, node, path)
	require.NoError(t, err)
	require.NotNil(t, d.Lvstore)
	_, there := d.Lvstore.Replicas[replica]
	return there
}

// A1, T7: an lvstore of another cluster is adopted while auto deletion is on. Policy deletes nothing on it; a person may.
func TestAForeignLvstoreUnderAutoDeletionKeepsEveryReplica(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/foreign", Lvstore: &world.Lvstore{Name: "theirs", UUID: foreign,
		Replicas: map[string]uint64{"their-r-1": 1 << 20, "their-r-2": 1 << 20}}})
	deletes(t, ctx)
	before := digest(t, ctx, "/dev/foreign")
	disk(t, ctx, "foreign", "/dev/foreign", "adopt:"+foreign)
	comes(t, ctx, "foreign", v1beta2.ReasonDiskReady)
	first, second := dataOrphan(t, ctx, "foreign", "their-r-1"), dataOrphan(t, ctx, "foreign", "their-r-2")
	for _, name := range []string{first, second} {
		require.NoError(t, w.WaitCondition(ctx, name, v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonForeignData, patience))
	}
	unchanged := func(ctx context.Context) (string, error) {
		if digest(t, ctx, "/dev/foreign") != before {
			return "the device has other bytes", nil
		}
		return "", nil
	}
	require.NoError(t, w.Never(ctx, "a deletion of foreign data", watching, unchanged))
	restart(t, ctx, "foreign")
	require.NoError(t, w.Never(ctx, "a deletion of foreign data after a restart", watching, unchanged))
	require.NoError(t, w.DeleteOrphan(ctx, first))
	require.NoError(t, w.WaitOrphanGone(ctx, first, patience))
	require.False(t, holds(t, ctx, "/dev/foreign", "their-r-1"), "a person deleted it")
	require.True(t, holds(t, ctx, "/dev/foreign", "their-r-2"))
}

// T7, ORP-5: a disk was empty at its first load; data that a replica without an object left on it is found. Policy keeps the data of a
// volume without any object until the instance is recorded as abandoned.
func TestPolicyDeletesUnclaimedDataOnlyOnceItsInstanceIsAbandoned(t *testing.T) {
	ctx, w := fixture(t)
	comes(t, ctx, "disk-1", v1beta2.ReasonDiskReady)
	manager := w.InstanceManager(node, v1beta2.DataEngineV2)
	left := world.Instance{InstanceManager: manager, Name: "gone-r-0a1b2c3d", Type: v1beta2.InstanceTypeReplica,
		DataEngine: v1beta2.DataEngineV2}
	ran, err := w.StartInstance(ctx, left)
	require.NoError(t, err)
	require.NoError(t, w.StopInstance(ctx, manager, left.Name, false))
	name := dataOrphan(t, ctx, "disk-1", left.Name)
	require.NoError(t, w.WaitCondition(ctx, name, v1beta2.OrphanDataCleanable, v1beta2.ConditionTrue, "", patience))
	require.True(t, holds(t, ctx, "/dev/disk-1", left.Name))
	deletes(t, ctx)
	require.NoError(t, w.WaitCondition(ctx, name, v1beta2.OrphanCleanupApproved, v1beta2.ConditionFalse, v1beta2.ReasonNotAbandoned,
		patience))
	require.NoError(t, w.Never(ctx, "a deletion of data whose instance is not recorded as abandoned", watching,
		func(ctx context.Context) (string, error) {
			if !holds(t, ctx, "/dev/disk-1", left.Name) {
				return "it is gone", nil
			}
			return "", nil
		}))
	record := v1beta2.AbandonedInstance{UUID: ran.UUID, DataEngine: v1beta2.DataEngineV2}
	require.NoError(t, status.MergeStatus(ctx, w.Admin, w.NodeObject(node), map[string]any{
		"abandonedInstances": map[string]v1beta2.AbandonedInstance{left.Name: record}}))
	require.NoError(t, w.WaitOrphanGone(ctx, name, patience))
	require.False(t, holds(t, ctx, "/dev/disk-1", left.Name))
}
