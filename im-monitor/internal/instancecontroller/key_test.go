package instancecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheNameOfAnEngineOrFrontendReportsItsVolume(t *testing.T) {
	for name, volume := range map[string]string{
		"vol-e-0": "vol", "vol-ef-0": "vol", "data-e-shop-ef-0": "data-e-shop",
		"data-ef-shop-e-1": "data-ef-shop", "data-e-shop-e-2": "data-e-shop",
		"vol-r-00000001": "", "vol": "", "-e-0": "",
	} {
		require.Equal(t, volume, volumeOf(name), name)
	}
}
