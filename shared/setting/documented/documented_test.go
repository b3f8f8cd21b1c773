package documented

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting"
)

func TestEachObeyedSettingIsDocumented(t *testing.T) {
	obeyed := map[string]bool{}
	for _, binary := range []string{setting.AttachController, setting.ImMonitor, setting.OrphanController, setting.SnapshotController,
		setting.UpgradeController} {
		for _, name := range setting.ObeyedBy(binary) {
			obeyed[name] = true
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(obeyed)), slices.Sorted(maps.Keys(Settings())))
}
