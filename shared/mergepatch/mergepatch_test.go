package mergepatch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/mergepatch"
)

func TestAPatchNamesWhatDiffers(t *testing.T) {
	require.Equal(t, map[string]any{"gone": nil, "new": int64(0), "changed": int64(3)}, mergepatch.OfMap(
		map[string]int64{"gone": 1, "same": 2, "changed": 1}, map[string]int64{"same": 2, "changed": 3, "new": 0}))
	require.Equal(t, map[string]any{}, mergepatch.OfMap[string](nil, nil))
}
