//go:build !fast

package kubernetes

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// S12: a snapshot of an attached volume; its deletion removes everything. [SNP-2]
func TestS12AVolumeSnapshotOfAnAttachedVolume(t *testing.T) {
	for _, engine := range world.DataEngines() {
		t.Run(engine, func(t *testing.T) {
			ctx, w := fixture(t)
			vol, name := claimed(t, ctx, engine, true), world.Unique("vs")
			require.NoError(t, w.VolumeSnapshot(ctx, name, class("snap", "Delete"), vol))
			now := ready(t, ctx, name)
			snap := "snapshot-" + now.UID
			require.Equal(t, "snap://"+vol+"/"+snap, now.Handle)
			require.NotEmpty(t, now.CreationTime)
			require.Empty(t, now.Error)
			volume, s := &v1beta2.Volume{}, &v1beta2.Snapshot{}
			require.NoError(t, w.Get(ctx, vol, volume))
			require.NoError(t, w.Get(ctx, snap, s))
			require.Equal(t, volume.Spec.Size, s.Status.RestoreSize)
			require.Equal(t, "1Gi", now.RestoreSize)
			require.Equal(t, 1, taken(t, ctx, vol))

			require.NoError(t, w.Snapshot(ctx, vol, world.Unique("newer")),
				"the volume's head builds on the newest, which cannot be merged")
			require.NoError(t, w.DeleteVolumeSnapshot(ctx, name))
			require.NoError(t, w.WaitVolumeSnapshotGone(ctx, name, now.Content, patience))
			require.NoError(t, w.WaitSnapshotGone(ctx, snap, patience))
		})
	}
}

// The volume is attached for the snapshot, and then detached. A retained snapshot stays.
func TestS12AVolumeSnapshotOfADetachedVolumeThatIsRetained(t *testing.T) {
	ctx, w := fixture(t)
	vol, name := claimed(t, ctx, world.FullDataEngine(), false), world.Unique("vs")
	require.NoError(t, w.VolumeSnapshot(ctx, name, class("snap", "Retain"), vol))
	now := ready(t, ctx, name)
	require.NoError(t, w.WaitDetached(ctx, vol, patience))
	require.Equal(t, 1, taken(t, ctx, vol))

	require.NoError(t, w.DeleteVolumeSnapshot(ctx, name))
	require.NoError(t, w.WaitVolumeSnapshotGone(ctx, name, "", patience))
	require.NoError(t, w.DeleteSnapshotContent(ctx, now.Content))
	require.NoError(t, w.WaitVolumeSnapshotGone(ctx, name, now.Content, patience))
	s := &v1beta2.Snapshot{}
	require.NoError(t, w.Get(ctx, "snapshot-"+now.UID, s))
	require.True(t, s.Status.ReadyToUse && s.DeletionTimestamp == nil)
}

// An existing snapshot is found by its handle.
func TestS12APreProvisionedVolumeSnapshot(t *testing.T) {
	ctx, w := fixture(t)
	vol, snap, name := claimed(t, ctx, v1beta2.DataEngineV1, true), world.Unique("snap"), world.Unique("vs")
	require.NoError(t, w.FoundSnapshot(ctx, name, "snap://"+vol+"/"+snap, "Delete"))
	now, err := w.WaitVolumeSnapshot(ctx, name, "to miss its snapshot", patience,
		func(s world.VolumeSnapshotStatus) bool { return s.Error != "" })
	require.NoError(t, err)
	require.Contains(t, now.Error, "there is no Snapshot "+snap+" of volume "+vol)
	require.NoError(t, w.Snapshot(ctx, vol, snap))
	now = ready(t, ctx, name)
	require.Empty(t, now.Error)
	require.Equal(t, "1Gi", now.RestoreSize)
	require.NoError(t, w.Snapshot(ctx, vol, world.Unique("newer")))
	require.NoError(t, w.DeleteVolumeSnapshot(ctx, name))
	require.NoError(t, w.WaitVolumeSnapshotGone(ctx, name, now.Content, patience))
	require.NoError(t, w.WaitSnapshotGone(ctx, snap, patience))
}

// The VolumeSnapshot reports why it is not ready, and can be deleted before it is.
func TestS12AVolumeSnapshotReportsWhatBlocksIt(t *testing.T) {
	ctx, w := fixture(t)
	vol, name := claimed(t, ctx, v1beta2.DataEngineV1, false), world.Unique("vs")
	require.NoError(t, w.VolumeSnapshot(ctx, name, class("film", "Delete"), vol))
	now, err := w.WaitVolumeSnapshot(ctx, name, "to report why", patience, func(s world.VolumeSnapshotStatus) bool { return s.Error != "" })
	require.NoError(t, err)
	require.Contains(t, now.Error, "snap and bak can be taken")
	require.NoError(t, w.DeleteVolumeSnapshot(ctx, name))
	require.NoError(t, w.WaitVolumeSnapshotGone(ctx, name, now.Content, patience))
	require.Zero(t, taken(t, ctx, vol))
}

// A VolumeSnapshot that is deleted before a snapshot can be taken leaves no object behind. [SNP-3]
func TestS12AVolumeSnapshotThatIsDeletedBeforeItWasTaken(t *testing.T) {
	ctx, w := fixture(t)
	vol, name := claimed(t, ctx, v1beta2.DataEngineV1, true), world.Unique("vs")
	require.NoError(t, w.Patch(ctx, named(vol), map[string]any{"spec": map[string]any{"snapshotMaxCount": 2}}))
	for range 2 {
		snap := world.Unique("snap")
		require.NoError(t, w.Snapshot(ctx, vol, snap))
		require.NoError(t, w.WaitSnapshot(ctx, snap, v1beta2.SnapshotReady, v1beta2.ReasonReady, patience))
	}
	require.NoError(t, w.VolumeSnapshot(ctx, name, class("snap", "Delete"), vol))
	var snap string
	require.NoError(t, w.Wait(ctx, "the Snapshot", patience, func(ctx context.Context) (string, error) {
		now, err := w.VolumeSnapshotNow(ctx, name)
		snap = "snapshot-" + now.UID
		if err != nil {
			return "", err
		}
		if err := w.Get(ctx, snap, &v1beta2.Snapshot{}); !apierrors.IsNotFound(err) {
			return "", err
		}
		return "there is none", nil
	}))
	require.NoError(t, w.WaitSnapshot(ctx, snap, v1beta2.SnapshotReady, v1beta2.ReasonLimitReached, patience))
	now, err := w.VolumeSnapshotNow(ctx, name)
	require.NoError(t, err)
	require.NoError(t, w.DeleteVolumeSnapshot(ctx, name))
	require.NoError(t, w.WaitVolumeSnapshotGone(ctx, name, now.Content, patience))
	require.NoError(t, w.WaitSnapshotGone(ctx, snap, patience))
	require.Equal(t, 2, taken(t, ctx, vol))
}

// The controller is killed while it takes a snapshot: one is taken. [ALL-2, SNP-2]
func TestS12TheControllerIsKilledMeanwhile(t *testing.T) {
	ctx, w := fixture(t)
	vol, name := claimed(t, ctx, world.FullDataEngine(), false), world.Unique("vs")
	require.NoError(t, w.VolumeSnapshot(ctx, name, class("snap", "Delete"), vol))
	_, err := w.WaitVolumeSnapshot(ctx, name, "to have a content", patience,
		func(s world.VolumeSnapshotStatus) bool { return s.Content != "" })
	require.NoError(t, err)
	require.NoError(t, w.Process(world.SnapshotController).Crash())
	now, err := w.WaitVolumeSnapshot(ctx, name, "to be ready", patience+30*time.Second,
		func(s world.VolumeSnapshotStatus) bool { return s.Ready })
	require.NoError(t, err)
	require.NotEmpty(t, now.Handle)
	require.Equal(t, 1, taken(t, ctx, vol))
}

func named(volume string) *v1beta2.Volume {
	v := &v1beta2.Volume{}
	v.Name, v.Namespace = volume, here.Namespace
	return v
}

// A class without a type means backups: ready once the backup is complete in its target.
func TestS12AVolumeSnapshotThatIsABackup(t *testing.T) {
	ctx, w := fixture(t)
	require.NoError(t, w.BackupTarget(ctx, v1beta2.BackupTargetDefault, t.TempDir()))
	vol, name := claimed(t, ctx, world.FullDataEngine(), true), world.Unique("vs")
	require.NoError(t, w.Write(ctx, vol, 1, "saved"))
	require.NoError(t, w.ReleaseCopies(ctx, vol, 100*time.Millisecond))
	require.NoError(t, w.VolumeSnapshot(ctx, name, class("bak", "Delete"), vol))
	now := ready(t, ctx, name)
	saved := "backup-" + now.UID
	require.Equal(t, "bak://"+vol+"/"+saved, now.Handle)
	require.Equal(t, "1Gi", now.RestoreSize)
	b := &v1beta2.Backup{}
	require.NoError(t, w.Get(ctx, saved, b))
	require.Equal(t, v1beta2.BackupCompleted, b.Status.State)
	require.NotEmpty(t, b.Status.URL)
	require.Equal(t, 1, taken(t, ctx, vol))

	found := world.Unique("vs")
	require.NoError(t, w.FoundSnapshot(ctx, found, now.Handle, "Retain"))
	require.Equal(t, "1Gi", ready(t, ctx, found).RestoreSize, "a backup is found by its handle, too")

	require.NoError(t, w.Snapshot(ctx, vol, world.Unique("newer")), "a v1 head builds on the newest, which cannot be merged")
	require.NoError(t, w.DeleteVolumeSnapshot(ctx, name))
	require.NoError(t, w.WaitVolumeSnapshotGone(ctx, name, now.Content, patience))
	require.NoError(t, w.WaitBackupGone(ctx, saved, patience))
	require.NoError(t, w.WaitSnapshotGone(ctx, "snapshot-"+now.UID, patience))
}
