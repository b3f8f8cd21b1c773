package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// grown gives the volume a wanted and an accepted size; its replicas have 10 GiB.
func grown(wanted, accepted int64) World {
	w := attached("a b", wants(2), volume(func(v *v1beta2.Volume) { v.Spec.Size, v.Status.AcceptedSize = wanted, accepted }))
	for _, r := range w.Replicas {
		r.Spec.VolumeSize = 10 * gib
	}
	return w
}

func TestALargerSizeIsAcceptedWhereThereIsRoom(t *testing.T) {
	for name, c := range map[string]struct {
		world    World
		accepted int64
		reason   string
	}{
		"what replicas have was accepted":             {grown(10*gib, 0), 10 * gib, ""},
		"also where less is wanted":                   {grown(5*gib, 0), 10 * gib, ""},
		"and is not reported again":                   {grown(10*gib, 10*gib), 0, ""},
		"more, where every disk has room":             {grown(20*gib, 10*gib), 20 * gib, ""},
		"more than any disk has":                      {grown(999999999999999999, 10*gib), 0, v1beta2.ReasonInsufficientSpace},
		"more than any disk has, of an older cluster": {grown(999999999999999999, 0), 10 * gib, v1beta2.ReasonInsufficientSpace},
	} {
		t.Run(name, func(t *testing.T) {
			v := decide(c.world)
			require.Equal(t, c.accepted, v.AcceptedSize)
			require.Equal(t, Needs(c.world), c.world.Volume.Spec.Size > 10*gib, "the disks are read only for a larger size")
			if c.reason != "" {
				require.Equal(t, c.reason, v.Scheduled.Reason)
				require.Contains(t, v.Scheduled.Message, `or set spec.size back to "10737418240"`)
			}
		})
	}
}

func TestANewVolumeIsAcceptedWithItsFirstPlace(t *testing.T) {
	w := fresh()
	v := decide(w)
	require.NotEmpty(t, v.Create)
	require.Equal(t, w.Volume.Spec.Size, v.AcceptedSize)
	require.Zero(t, decide(fresh(closed("a b c d"))).AcceptedSize, "its size can still be less")
}

func TestAVolumeWithoutASizeReportsThatItGetsNoReplica(t *testing.T) {
	for _, size := range []int64{0, -5} {
		v := decide(fresh(volume(func(v *v1beta2.Volume) { v.Spec.Size = size })))
		require.Empty(t, v.Create)
		require.Equal(t, v1beta2.ReasonSizeMissing, v.Scheduled.Reason)
	}
	// A replica that was created without a size gets it with the volume.
	w := fresh(coming("a"))
	w.Replicas[0].Spec.VolumeSize = 0
	v := decide(w)
	require.Empty(t, v.Patches, "not before there is known to be room")
	require.Equal(t, 10*gib, v.AcceptedSize)
	w.Volume.Status.AcceptedSize = v.AcceptedSize
	require.Equal(t, map[string]any{"volumeSize": "10737418240"}, decide(w).Patches[0].Spec)
}

// A disk may be evicted so that the volume can grow: its replica holds nothing up.
func TestADiskThatItsReplicaLeavesHoldsUpNoGrowth(t *testing.T) {
	w := grown(20*gib, 10*gib)
	full := w.Nodes["b"].Status.DiskStatus["disk"]
	full.StorageMaximum = 10 * gib
	w.Nodes["b"].Status.DiskStatus["disk"] = full
	require.Zero(t, decide(w).AcceptedSize)
	evicted("b")(&w)
	require.Equal(t, 20*gib, decide(w).AcceptedSize)
}

// A size that is refused twice in one pass is reported once: as long as there is no room, nothing else is reported.
func TestARefusedSizeIsReportedOnce(t *testing.T) {
	w := grown(999999999999999999, 10*gib)
	v := decide(w)
	require.Contains(t, v.Scheduled.Message, "cannot grow from 10Gi to 888.2Pi: ")
	w.Volume.Status.Conditions = []v1beta2.Condition{*v.Scheduled}
	require.Nil(t, decide(w).Scheduled)
}

func TestWhetherADiskThatIsNotReadyHasRoomIsNotKnown(t *testing.T) {
	w := grown(20*gib, 10*gib)
	for _, n := range w.Nodes {
		for key, disk := range n.Status.DiskStatus {
			disk.Conditions = conditions.Set(disk.Conditions, v1beta2.Condition{Type: v1beta2.DiskReady, Status: v1beta2.ConditionFalse},
				w.Now)
			n.Status.DiskStatus[key] = disk
		}
	}
	v := decide(w)
	require.Zero(t, v.AcceptedSize)
	require.Contains(t, v.Scheduled.Message, "is not ready: its free space is unknown")
}
