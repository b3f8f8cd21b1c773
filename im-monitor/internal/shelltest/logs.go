package shelltest

import (
	"context"
	"slices"

	"drover.dev/drover/im-monitor/internal/imclient"
)

// Logged returns the requests about logs to a server, in order.
func (s *Servers) Logged(manager string) []imclient.Logs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logged[manager])
}

// RefuseLogs makes a server refuse requests about logs, or obey them again.
func (s *Servers) RefuseLogs(manager string, refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf[manager] = refuse
}

// SetLogs notes a request about logs.
func (c *connection) SetLogs(_ context.Context, logs imclient.Logs) error {
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	if c.down() {
		return errDown
	}
	c.servers.logged[c.manager] = append(c.servers.logged[c.manager], logs)
	if c.servers.deaf[c.manager] {
		return refused("LogSetLevel", imclient.ErrFailed, "failed to set the log level")
	}
	return nil
}
