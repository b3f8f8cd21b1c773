package instancemanagercontroller

import (
	"context"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancemanager"
)

// logsAsked is the request about logs to one run of a server, with its outcome.
type logsAsked struct {
	run      string
	wanted   imclient.Logs
	done     bool
	failures int
	retryAt  time.Time
	problem  string
}

// reportedFailures is the number of failures in a row after which the condition reports them: after the first one the call is repeated at
// once.
const reportedFailures = 2

// setLogs asks the server to log as the settings demand: once for each run of the server, and once for each change of these settings. A
// server that fails is asked again, at once the first time, then after growing pauses.
func (s *reconciler) setLogs(ctx context.Context, w *instancemanager.World) {
	if s.rt.Observe || !w.Inventory.Known {
		return
	}
	name, server := w.InstanceManager.Name, target(*w)
	asked := s.memory.logsAsked(name)
	if wanted := imclient.Logs(w.WantedLogs()); asked.run != server.Run() || asked.wanted != wanted {
		asked = logsAsked{run: server.Run(), wanted: wanted}
	}
	if !asked.done && !w.Now.Before(asked.retryAt) {
		client, epoch, connected := s.store.Client(name)
		if !connected || epoch.PodUID != server.PodUID || epoch.ContainerID != server.ContainerID {
			return // the next list enqueues this again
		}
		if err := client.SetLogs(ctx, asked.wanted); err != nil {
			asked.failures++
			asked.problem, asked.retryAt = err.Error(), s.rt.Clock.Now().Add(instancemanager.Backoff(asked.failures))
		} else {
			asked.done, asked.problem, asked.retryAt = true, "", time.Time{}
		}
		s.memory.askedLogs(name, asked)
	}
	w.Logging.RetryAt = asked.retryAt
	if asked.failures >= reportedFailures {
		w.Logging.Problem = asked.problem
	}
}

// logsAsked returns the last request about logs to an instance manager.
func (m *memory) logsAsked(name string) logsAsked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(name).logs
}

// askedLogs notes the last request about logs to an instance manager.
func (m *memory) askedLogs(name string, asked logsAsked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(name).logs = asked
}
