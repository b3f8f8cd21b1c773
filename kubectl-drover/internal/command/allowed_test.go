package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowed returns the scenario as a ServiceAccount that may do exactly what the command declares, and nothing beside it.
func (s *scenario) allowed(command string) *scenario {
	s.t.Helper()
	restricted := *s
	restricted.as(s.t, strings.ReplaceAll(command, " ", "-"), commandOf(s.t, command).Rights)
	return &restricted
}

// commandOf returns a command by its name.
func commandOf(t *testing.T, name string) Command {
	t.Helper()
	commands := NewFrame(discarded()).Commands()
	i := slices.IndexFunc(commands, func(c Command) bool { return c.Name() == name })
	require.GreaterOrEqual(t, i, 0, "no command %s", name)
	return commands[i]
}
