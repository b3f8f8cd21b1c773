package instancemanager

import (
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/setting"
)

// Logging reports whether the server obeyed when it was asked to log as the settings demand.
type Logging struct {
	// Problem is the error of a server that did not obey; empty if it obeyed, or was not asked yet.
	Problem string
	// RetryAt is the time of the next request; zero: there is none.
	RetryAt time.Time
}

// WantedLogs returns the log levels that the settings demand of the server. A v1 server has no data engine that logs by itself.
func (w World) WantedLogs() setting.Logging {
	out := w.Settings.Logging
	if !w.v2() {
		out.SPDKLevel, out.SPDKFlags = "", ""
	}
	return out
}

// logsIn returns the time until the next request about logs; 0: there is none.
func logsIn(w World) time.Duration {
	if w.Logging.RetryAt.IsZero() {
		return 0
	}
	return max(w.Logging.RetryAt.Sub(w.Now), time.Millisecond)
}

// wrongLogs returns why the server does not log as the settings demand; empty: no problem is known.
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
