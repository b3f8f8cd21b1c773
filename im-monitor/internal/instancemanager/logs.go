package instancemanager

import (
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/setting"
)

// Logging reports how it went when the server was asked to log as the settings demand.
type Logging struct {
	// Problem is the answer of the server that did not do it; empty if it did, or was not asked yet.
	Problem string
	// RetryAt is when the server is asked again; zero means never.
	RetryAt time.Time
}

// WantedLogs returns what the server shall log. A v1 server has no data engine that logs by itself.
func (w World) WantedLogs() setting.Logging {
	out := w.Settings.Logging
	if !w.v2() {
		out.SPDKLevel, out.SPDKFlags = "", ""
	}
	return out
}

// logsIn is how long the next question about logs waits; 0: there is none.
func logsIn(w World) time.Duration {
	if w.Logging.RetryAt.IsZero() {
		return 0
	}
	return max(w.Logging.RetryAt.Sub(w.Now), time.Millisecond)
}

// wrongLogs reports why the server does not log as the settings demand; empty if nothing is known of that.
func wrongLogs(w World) string {
	if w.Logging.Problem == "" || !PodReady(w.Pod) {
		return ""
	}
	settings := "log-level"
	if w.v2() {
		settings = "log-level, data-engine-log-level or data-engine-log-flags"
	}
	return fmt.Sprintf("The instance manager does not obey %s (%s); it is asked again.", settings,
		ownAddress.ReplaceAllString(w.Logging.Problem, ""))
}
