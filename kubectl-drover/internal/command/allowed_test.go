package command

import (
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

// commandOf returns a command by its names, such as "orphans delete".
func commandOf(t *testing.T, path string) Command {
	t.Helper()
	var found Command
	each(NewFrame(discarded()).Commands(), "", func(at string, c Command) {
		if at == path {
			found = c
		}
	})
	require.NotNil(t, found.Command, "no command %s", path)
	return found
}

// completions returns what a shell offers after these words, of which the last may be incomplete.
func (s *scenario) completions(words ...string) []string {
	s.t.Helper()
	got := s.runRaw(append([]string{"__complete", "-n", s.namespace, "--kubeconfig", s.kubeconfig}, words...)...)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	require.Equal(s.t, ":4", lines[len(lines)-1], got.err)
	return lines[:len(lines)-1]
}
