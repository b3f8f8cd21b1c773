package volumesize

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoomIsForEncryptedVolumesOnly(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want Room
	}{
		{"v1, not encrypted", RoomV1(false, 12), 0},
		{"v1, encrypted, an image that knows the room", RoomV1(true, 12), LUKSHeader},
		{"v1, encrypted, an older image", RoomV1(true, 11), 0},
		{"v2, encrypted, without the label", RoomV2(true, false), 0},
		{"v2, encrypted, with the label", RoomV2(true, true), LUKSHeader},
		{"v2, the label alone", RoomV2(false, true), 0},
	} {
		require.Equal(t, c.want, c.got, c.name)
	}
}

func TestSizesGoThereAndBack(t *testing.T) {
	for _, r := range []Room{0, LUKSHeader} {
		require.Equal(t, Net(1<<30), r.Net(r.Backend(1<<30)))
		require.Zero(t, r.Backend(0), "an unknown size stays unknown")
	}
	require.Equal(t, Backend(1090519040), LUKSHeader.Backend(1073741824))
	require.Equal(t, Net(LUKSHeader), LUKSHeader.Net(Backend(LUKSHeader)), "a backend that is not larger than the room has none")
}
