package shelltest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// logs waits until a server was asked for exactly these logs, in order.
func (e *Env) logs(name string, want ...imclient.Logs) {
	e.t.Helper()
	var got []imclient.Logs
	e.Eventually(func() bool { got = e.Servers.Logged(name); return len(got) >= len(want) }, "%s was not asked for its logs", name)
	require.Equal(e.t, want, got)
}

// A server is asked what to log once after its start and once for each change of the settings, and not when something else changes.
func TestAServerIsAskedForItsLogsOnceForEachStartAndChange(t *testing.T) {
	e, name := oneNode(t, "logs-1", v1beta2.DataEngineV2)
	first, changed := imclient.Logs{Level: "Info", SPDKLevel: "Notice"}, imclient.Logs{Level: "Debug", SPDKLevel: "Notice", SPDKFlags: "bdev"}
	e.logs(name, first)
	e.Set(setting.SPDKLogFlags, `{"v2":"bdev"}`)
	e.logs(name, first, imclient.Logs{Level: "Info", SPDKLevel: "Notice", SPDKFlags: "bdev"})
	e.Set(setting.LogLevel, "Debug")
	e.logs(name, first, imclient.Logs{Level: "Info", SPDKLevel: "Notice", SPDKFlags: "bdev"}, changed)

	// A change of another setting, an instance, or a lost connection causes no further request.
	e.Set(setting.PriorityClass, "")
	e.Servers.Shut(name, true)
	e.Servers.Shut(name, false)
	e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: "v2", State: "running", UUID: "u1"})
	var im v1beta2.InstanceManager
	e.Eventually(func() bool { return e.Get(name, &im) && len(im.Status.InstanceReplicas) == 1 }, "the replica never showed up")
	require.Len(t, e.Servers.Logged(name), 3)

	e.Servers.Drop(name, "vol-1-r-aabbccdd")
	var pod corev1.Pod
	require.True(t, e.Get(name, &pod))
	pod.Status.Phase = corev1.PodFailed
	require.NoError(t, e.Admin.Status().Update(t.Context(), &pod))
	e.Eventually(func() bool { return len(e.Servers.Logged(name)) == 4 }, "the next run of the server was not asked")
	require.Equal(t, changed, e.Servers.Logged(name)[3])
}

// A server that refuses is asked again, and a person sees its answer until it obeys.
func TestAServerThatDoesNotSetItsLogsIsAskedAgainAndReported(t *testing.T) {
	e, name := oneNode(t, "logs-2", v1beta2.DataEngineV1)
	synced := func() (c *v1beta2.Condition) {
		var im v1beta2.InstanceManager
		if e.Get(name, &im) {
			c = conditions.Get(im.Status.Conditions, v1beta2.InstanceManagerSettingSynced)
		}
		return c
	}
	e.logs(name, imclient.Logs{Level: "Info"})
	e.Servers.RefuseLogs(name, true)
	e.Set(setting.LogLevel, "Debug")
	e.Eventually(func() bool { c := synced(); return c != nil && c.Reason == v1beta2.ReasonLogsNotSet }, "nobody was shown the refusal")
	require.Contains(t, synced().Message, "log-level (")
	require.Contains(t, synced().Message, "failed to set the log level")
	e.Servers.RefuseLogs(name, false)
	e.Set(setting.LogLevel, "Info")
	e.Eventually(func() bool { c := synced(); return c != nil && c.Reason == v1beta2.ReasonSettingsInForce }, "the refusal stayed")
	all := e.Servers.Logged(name)
	require.Equal(t, imclient.Logs{Level: "Info"}, all[len(all)-1])
}
