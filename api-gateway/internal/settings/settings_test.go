package settings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting"
)

func TestEachDefaultIsAValueThatIsAcceptedAsItIs(t *testing.T) {
	titles := map[string]bool{}
	for _, d := range All() {
		require.False(t, titles[d.DisplayName], "%s: interfaces use the title as a key", d.Name())
		titles[d.DisplayName] = true
		require.NotEmpty(t, d.Description, d.Name())
		require.NotContains(t, d.Description, "](", "%s: the web interface has none of our pages", d.Name())
		if d.Default == "" {
			continue
		}
		normal, err := d.Normalize(d.Default)
		require.NoError(t, err, d.Name())
		require.Equal(t, d.Default, normal, d.Name())
	}
	require.Len(t, titles, 118)
}

// A setting that a controller obeys and that no client could set would need kubectl for ever.
func TestEverySettingThatDroverObeysIsListed(t *testing.T) {
	for _, binary := range []string{setting.AttachController, setting.ImMonitor, setting.SnapshotController, setting.UpgradeController} {
		for _, name := range setting.ObeyedBy(binary) {
			_, listed := Find(name)
			require.True(t, listed, name)
		}
	}
}

func TestAValueForEachDataEngineIsCompactAndInOrder(t *testing.T) {
	d, _ := Find("default-replica-count")
	for given, want := range map[string]string{"2": `{"v1":"2","v2":"2"}`, `{ "v2" : 2, "v1": "1" }`: `{"v1":"1","v2":"2"}`,
		`{"v2":"5"}`: `{"v1":"3","v2":"5"}`} {
		normal, err := d.Normalize(given)
		require.NoError(t, err, given)
		require.Equal(t, want, normal)
	}
	v2, _ := Find("data-engine-memory-size")
	normal, err := v2.Normalize(`{"v1":"1","v2":"4096"}`)
	require.NoError(t, err)
	require.Equal(t, `{"v2":"4096"}`, normal, "an engine that the default does not name is dropped")
	for _, wrong := range []string{"21", "0", "two", "{", `{"v1":"30"}`} {
		_, err := d.Normalize(wrong)
		require.Error(t, err, wrong)
	}
	cpu, _ := Find("guaranteed-instance-manager-cpu")
	for _, wrong := range []string{"NaN", "inf", "-1", "41"} {
		_, err := cpu.Normalize(wrong)
		require.Error(t, err, wrong)
	}
	require.Equal(t, "7", d.ValueFor(`{"v1":"7","v2":"2"}`, "v1"))
	require.Equal(t, "3", d.ValueFor("nonsense", "v1"), "the default")
}
