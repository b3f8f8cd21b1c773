package disk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestDecide(t *testing.T) {
	block := map[string]v1beta2.DiskSpec{"nvme": {DiskType: TypeBlock, Path: "/dev/nvme0n1"}, "hdd": {DiskType: "filesystem", Path: "/data"}}
	there := Answer{Found: true, UUID: "u1", Driver: "aio", TotalBytes: 100, FreeBytes: 60}
	known := map[string]v1beta2.DiskStatus{"nvme": {DiskUUID: "u1", DiskType: TypeBlock, StorageMaximum: 100, StorageAvailable: 70}}
	cases := []struct {
		name   string
		world  World
		reason string // of Ready
		uuid   string
		free   int64
	}{
		{"a disk that is there", World{Specs: block, InstanceManager: "im-1", Answers: map[string]Answer{"nvme": there}}, v1beta2.ReasonDiskReady, "u1", 60},
		{"a disk that the server lacks", World{Specs: block, InstanceManager: "im-1", Answers: map[string]Answer{"nvme": {}}}, v1beta2.ReasonNoDiskInfo, "", 0},
		{"nobody to ask keeps what was known", World{Specs: block, Status: known}, v1beta2.ReasonNoDiskInfo, "u1", 70},
		{"another UUID is another disk", World{Specs: block, Status: known, InstanceManager: "im-1", Answers: map[string]Answer{"nvme": {Found: true, UUID: "u2"}}}, v1beta2.ReasonDiskFilesystemChanged, "u1", 70},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.world.Now = now
			got := Decide(c.world)
			require.Len(t, got, 1, "the filesystem disk is not ours")
			s := *got["nvme"]
			require.Equal(t, c.reason, conditions.Reason(s.Conditions, v1beta2.DiskReady))
			require.Equal(t, c.reason == v1beta2.ReasonDiskReady, conditions.IsTrue(s.Conditions, v1beta2.DiskSchedulable))
			require.Equal(t, c.uuid, s.DiskUUID)
			require.Equal(t, c.free, s.StorageAvailable)
			c.world.Status = map[string]v1beta2.DiskStatus{"nvme": s, "hdd": {DiskType: "filesystem"}}
			c.world.Now = now.Add(time.Hour)
			require.Empty(t, Decide(c.world), "deciding again changes nothing")
		})
	}
}

func TestADiskThatIsTakenOutGoes(t *testing.T) {
	got := Decide(World{Now: now, Status: map[string]v1beta2.DiskStatus{"nvme": {DiskType: TypeBlock}, "hdd": {DiskType: "filesystem"}}})
	require.Equal(t, map[string]*v1beta2.DiskStatus{"nvme": nil}, got)
}
