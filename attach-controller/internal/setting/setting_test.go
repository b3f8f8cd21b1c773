package setting

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting"
)

func TestValues(t *testing.T) {
	m := setting.Remember(Catalogue)
	require.Equal(t, Defaults(), m.Values("v2"), "without settings the defaults are in force")

	set := func(name, value string) error { _, err := m.Set(name, &value); return err }
	require.NoError(t, set(AutoSalvage, " false "))
	require.NoError(t, set(ReplenishmentWaitInterval, "30"))
	require.NoError(t, set(DefaultReplicaCount, `{"v2":"2"}`))
	require.NoError(t, set("no-setting-of-ours", "whatever"))
	want := Defaults()
	want.AutoSalvage, want.ReplenishmentWait, want.DefaultReplicaCount = false, 30*time.Second, 2
	require.Equal(t, want, m.Values("v2"))

	for name, bad := range map[string]string{
		AutoSalvage: "yes", ReplenishmentWaitInterval: "-1", MinimalAvailablePercentage: "101", SnapshotMaxCount: "1",
		DefaultReplicaCount: `{"v3":"1"}`, RebuildsPerNode: "many", NodeDrainPolicy: "never",
	} {
		require.ErrorContains(t, set(name, bad), name, "a bad value names its setting")
	}
	require.Equal(t, want, m.Values("v2"), "the last good values stay in force")

	changed, err := m.Set(AutoSalvage, nil)
	require.NoError(t, err)
	require.True(t, changed, "a setting that goes leaves its default")
	require.True(t, m.Values("v2").AutoSalvage)
	require.Equal(t, 2, m.Values("v2").DefaultReplicaCount)
	require.Equal(t, 3, m.Values("").DefaultReplicaCount, "what is not named for a data engine has its default")
}

func TestTheTableOfObeyedSettingsNamesThese(t *testing.T) {
	require.Equal(t, setting.ObeyedBy(setting.AttachController), Catalogue.Names())
}
