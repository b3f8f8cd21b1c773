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
		setting.UpgradeController, setting.DiskController} {
		for _, name := range setting.ObeyedBy(binary) {
			obeyed[name] = true
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(obeyed)), slices.Sorted(maps.Keys(Settings())))
}

func TestWhatASettingMayBeOfAListIsRead(t *testing.T) {
	all := Settings()
	require.Equal(t, []string{"true", "false"}, all["auto-salvage"].Choices())
	require.Len(t, all["node-drain-policy"].Choices(), 5)
	for _, name := range []string{"default-engine-image", "snapshot-max-count", "orphan-resource-auto-deletion", "taint-toleration"} {
		require.Empty(t, all[name].Choices(), name)
	}
}
