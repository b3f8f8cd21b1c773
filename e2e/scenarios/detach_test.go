//go:build !fast

package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// O5: a detached v2 volume is the user's data. [ORP-2]
func TestO5ADetachedV2VolumeIsNoOrphanWhateverTheSetting(t *testing.T) {
	ctx, s := fixture(t)
	require.NoError(t, s.SetAutoDeletion(ctx, "replica-data;instance", "0"))
	v, err := s.CreateVolume(ctx, world.Unique("archive"), v1beta2.DataEngineV2, "", Near, Far)
	require.NoError(t, err)
	require.NoError(t, s.RestartManager(ctx, Near, v1beta2.DataEngineV2), "the lvols are rediscovered")
	none(t, ctx, s, 5*time.Second)
	require.NoError(t, s.Whole(ctx, v))
	deleted, err := s.AnyDeletion(ctx)
	require.NoError(t, err)
	require.Empty(t, deleted)
}

// O6: a volume is detached right after each attach, repeatedly: at the end no process is left, and claimed data is kept. [ORP-2]
func TestO6RapidDetachmentsLeaveNoProcessBehind(t *testing.T) {
	times := 100
	if world.IsReal() { // each takes two seconds
		times = 20
	}
	ctx, s := fixture(t)
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "0"))
	var volumes []*world.Volume
	for _, engine := range world.DataEngines() {
		v, err := s.CreateVolume(ctx, world.Unique(engine), engine, "", Near)
		require.NoError(t, err)
		volumes = append(volumes, v)
	}
	for i := range times {
		require.NoError(t, s.Blink(ctx, volumes[i%len(volumes)], Near))
	}
	require.NoError(t, s.Wait(ctx, "no process", 2*Patience, s.nothingLive(volumes...)))
	for _, v := range volumes {
		if v.DataEngine == v1beta2.DataEngineV2 {
			require.NoError(t, s.Whole(ctx, v), "the data of the v2 volume is there")
		}
	}
	require.NoError(t, s.Wait(ctx, "the end of all orphans", Patience, s.NoOrphans))
}
