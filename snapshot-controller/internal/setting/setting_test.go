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
	require.NoError(t, set(DisablePurge, " true "))
	require.NoError(t, set(PurgesPerNode, "0"))
	require.NoError(t, set(SnapshotMaxCount, `{"v2":"10"}`))
	require.NoError(t, set("no-setting-of-ours", "whatever"))
	require.NoError(t, set(JobsWhileDetached, "true"))
	require.NoError(t, set(EngineImage, "longhornio/longhorn-engine:v1.12.0"))
	require.NoError(t, set(BackupTimeout, "3"))
	require.NoError(t, set(FailedBackupTTL, "0"))
	want := Values{PurgeDisabled: true, SnapshotMaxCount: 10, JobsWhileDetached: true, EngineImage: "longhornio/longhorn-engine:v1.12.0",
		BackupTimeout: 3 * time.Minute}
	require.Equal(t, want, m.Values("v2"))

	for name, bad := range map[string]string{DisablePurge: "yes", PurgesPerNode: "-1", SnapshotMaxCount: "1", BackupTimeout: "0",
		FailedBackupTTL: "-1"} {
		require.ErrorContains(t, set(name, bad), name, "a bad value names its setting")
	}
	require.Equal(t, want, m.Values("v2"), "the last good values stay in force")

	changed, err := m.Set(DisablePurge, nil)
	require.NoError(t, err)
	require.True(t, changed, "a setting that goes leaves its default")
	require.False(t, m.Values("v2").PurgeDisabled)
	require.Equal(t, 250, m.Values("").SnapshotMaxCount, "what is not named for a data engine has its default")
	require.Len(t, Catalogue.Names(), 7)
}

// After a restart no one knows what a value that cannot be read was to be: nothing is purged until it can.
func TestNothingIsPurgedWhileItIsNotKnownWhetherItMayBe(t *testing.T) {
	m := setting.Remember(Catalogue)
	bad, good := "ture", "false"
	changed, err := m.Set(DisablePurge, &bad)
	require.ErrorContains(t, err, "neither true nor false")
	require.True(t, changed)
	for _, engine := range []string{"v1", "v2"} {
		require.True(t, m.Values(engine).PurgeDisabled)
	}
	changed, err = m.Set(DisablePurge, &bad)
	require.Error(t, err)
	require.False(t, changed, "the same value again changes nothing")
	changed, err = m.Set(DisablePurge, &good)
	require.NoError(t, err)
	require.True(t, changed)
	require.False(t, m.Values("v1").PurgeDisabled)
	_, err = m.Set(DisablePurge, &bad)
	require.Error(t, err)
	require.False(t, m.Values("v1").PurgeDisabled, "the last good value stays")
	_, err = m.Set(PurgesPerNode, &bad)
	require.Error(t, err)
	require.Equal(t, Defaults(), m.Values("v1"), "of others the default counts")
}

func TestTheTableOfObeyedSettingsNamesThese(t *testing.T) {
	require.Equal(t, setting.ObeyedBy(setting.SnapshotController), Catalogue.Names())
}
