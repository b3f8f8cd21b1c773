package setting_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

func TestASettingSaysWhetherItIsInForceAndWhyNot(t *testing.T) {
	for title, c := range map[string]struct {
		name            string
		refused         error
		applied         bool
		reason, message string
	}{
		"read": {"snapshot-max-count", nil, true, v1beta2.ReasonInForce, "snapshot-controller, attach-controller"},
		"refused": {"auto-salvage", errors.New(`"yes" is neither true nor false`), false, v1beta2.ReasonInvalidValue,
			"stays in force, after a restart the default"},
		"Longhorn's alone":   {"backing-image-cleanup-wait-interval", nil, false, v1beta2.ReasonNotObeyed, "No controller of Drover"},
		"a name of a person": {"auto-salvag", nil, false, v1beta2.ReasonNotObeyed, "its value changes nothing"},
	} {
		t.Run(title, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			obj := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Name: c.name, Generation: 3},
				Status: v1beta2.SettingStatus{Applied: true}}
			wanted, changed := setting.Status(obj, c.refused, now)
			require.True(t, changed)
			require.Equal(t, c.applied, wanted.Applied)
			require.EqualValues(t, 3, wanted.ObservedGeneration)
			require.Equal(t, c.reason, wanted.Conditions[0].Reason)
			require.Contains(t, wanted.Conditions[0].Message, c.message)

			obj.Status = wanted
			_, changed = setting.Status(obj, c.refused, now.Add(time.Hour))
			require.False(t, changed, "what is reported already is not written again")
			obj.Generation++
			_, changed = setting.Status(obj, c.refused, now.Add(time.Hour))
			require.True(t, changed, "a person sees that the new value was read")
		})
	}
}

func TestEverySettingHasOneWriter(t *testing.T) {
	require.Equal(t, setting.AttachController, setting.Writer("backing-image-cleanup-wait-interval"), "a setting without an obeying binary")
	for _, binary := range []string{setting.AttachController, setting.ImMonitor, setting.OrphanController, setting.SnapshotController,
		setting.UpgradeController} {
		require.NotEmpty(t, setting.ObeyedBy(binary), binary)
		for _, name := range setting.ObeyedBy(binary) {
			require.Contains(t, setting.Obeying(name), binary)
			require.Equal(t, setting.Obeying(name)[0], setting.Writer(name))
			require.NotEqual(t, setting.UpgradeController, setting.Writer(name), "upgrade-controller has no right to write one")
		}
	}
}
