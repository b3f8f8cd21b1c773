package instancemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func TestAServerLogsAsItsSettingsDemand(t *testing.T) {
	chatty := func(w *World) {
		w.Settings.Logging = setting.Logging{Level: "Debug", SPDKLevel: "Info", SPDKFlags: "bdev"}
	}
	require.Equal(t, setting.Logging{Level: "Debug", SPDKLevel: "Info", SPDKFlags: "bdev"}, world(v2, chatty).WantedLogs())
	require.Equal(t, setting.Logging{Level: "Debug"}, world(chatty).WantedLogs(), "a v1 server has no SPDK")
}

func TestAServerThatDoesNotLogAsDemandedIsReportedAndAskedAgain(t *testing.T) {
	refused := func(w *World) {
		w.Logging = Logging{Problem: "read tcp 10.0.0.9:4711->10.1.2.3:8503: reset", RetryAt: w.Now.Add(10 * time.Second)}
	}
	v := Decide(world(refused))
	c := conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerSettingSynced)
	require.Equal(t, v1beta2.ReasonLogsNotSet, c.Reason)
	require.Equal(t, "The instance manager does not obey log-level (read tcp 10.1.2.3:8503: reset); it is asked again.", c.Message)
	require.Equal(t, 10*time.Second, v.After)
	require.Contains(t, conditions.Get(Decide(world(v2, refused)).Status.Conditions, v1beta2.InstanceManagerSettingSynced).Message,
		"data-engine-log-flags")
	require.Zero(t, Decide(world()).After, "a server that obeys is not asked again")
	missed := world(func(w *World) { w.Logging.RetryAt = w.Now.Add(-time.Second) })
	require.Equal(t, time.Millisecond, Decide(missed).After)
}
