package command

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// onTerminal runs a command line whose output is a terminal, and returns what the terminal shows, with lines ended as in files.
func (s *scenario) onTerminal(args ...string) string {
	s.t.Helper()
	master, tty, err := pty.Open()
	require.NoError(s.t, err)
	defer func() { _ = master.Close() }()
	shown := make(chan string)
	go func() {
		var out bytes.Buffer
		_, _ = out.ReadFrom(master) // ends with an error once the terminal is closed
		shown <- out.String()
	}()
	frame := NewFrame(genericiooptions.IOStreams{In: tty, Out: tty, ErrOut: os.Stderr})
	frame.Now = func() time.Time { return noon }
	s.t.Setenv("KUBECONFIG", s.kubeconfig)
	frame.Run(s.t.Context(), "0.0.0-test", append(args, "-n", s.namespace))
	require.NoError(s.t, tty.Close())
	return strings.ReplaceAll(<-shown, "\r\n", "\n")
}

// Colour is for people: what goes into a file or a pipe is the same text without it.
func TestColourIsForTerminalsOnly(t *testing.T) {
	s := newScenario(t, "common.yaml", "outage/objects.yaml")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	plain := s.run("why", "vol-faulted").out
	require.NotContains(t, plain, "\x1b")

	shown := s.onTerminal("why", "vol-faulted")
	require.Contains(t, shown, "\x1b[31mNoUsableReplica\x1b[0m")
	require.Equal(t, plain, withoutColour(shown))

	t.Run("not for JSON", func(t *testing.T) { require.NotContains(t, s.onTerminal("why", "vol-faulted", "-o", "json"), "\x1b") })
	t.Run("not with NO_COLOR", func(t *testing.T) {
		t.Setenv("NO_COLOR", "1")
		require.Equal(t, plain, s.onTerminal("why", "vol-faulted"))
	})
	t.Run("not on a dumb terminal", func(t *testing.T) {
		t.Setenv("TERM", "dumb")
		require.Equal(t, plain, s.onTerminal("why", "vol-faulted"))
	})
}

func withoutColour(text string) string {
	for _, style := range []string{"0", "1", "2", "31", "32", "33"} {
		text = strings.ReplaceAll(text, "\x1b["+style+"m", "")
	}
	return text
}

// Shells ask the hidden command __complete; its last line is a directive.
func TestNamesAreCompletedFromTheAPIServer(t *testing.T) {
	s := newScenario(t, "common.yaml", "outage/objects.yaml")
	complete := func(args ...string) []string {
		got := s.runRaw(append([]string{"__complete", "-n", s.namespace, "--kubeconfig", s.kubeconfig}, args...)...)
		return strings.Split(strings.TrimSpace(got.out), "\n")
	}
	require.Equal(t, []string{"vol-degraded", "vol-faulted", ":4"}, complete("why", "vol"))
	require.Equal(t, []string{"vol-faulted", ":4"}, complete("why", "vol-f"))
	require.Equal(t, []string{"node-1", "node-2", "node-3", "vol-degraded", "vol-faulted", ":4"}, complete("tree", ""))
	require.Equal(t, []string{":4"}, complete("why", "vol-faulted", ""))
	require.Equal(t, []string{"json", "yaml", "name", ":4"}, complete("why", "-o", ""))
}
