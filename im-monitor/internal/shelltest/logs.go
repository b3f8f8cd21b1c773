package shelltest

import (
	"context"
	"slices"

	"drover.dev/drover/im-monitor/internal/imclient"
)

// Logged returns what a server was asked to log, in order.
func (s *Servers) Logged(manager string) []imclient.Logs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.logged[manager])
}

// RefuseLogs makes a server refuse to change what it logs, or do it again.
func (s *Servers) RefuseLogs(manager string, refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf[manager] = refuse
}

// SetLogs notes what the server was asked to log.
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
