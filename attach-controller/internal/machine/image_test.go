package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAnAttachedVolumeReportsAnImageForTheNextAttachment(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x")
	s.Engines[0].Spec.Image = "image"
	require.Equal(t, "The volume is attached to x.", waitsFor(Decide(s.World)))
	s.Volume.Spec.Image = "newer"
	v := Decide(s.World)
	require.Equal(t, "The volume is attached to x. Its engine runs image image: spec.image newer is used from the next attachment on.",
		waitsFor(v))
	require.Empty(t, v.Writes)
}
