package command

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// answering runs a command line whose stdin and stderr are a terminal at which a person types the answer once it is asked. err is what the
// terminal shows.
func (s *scenario) answering(answer string, args ...string) result {
	s.t.Helper()
	screen, tty, err := pty.Open()
	require.NoError(s.t, err)
	defer func() { _ = screen.Close() }()
	var out strings.Builder
	frame := NewFrame(genericiooptions.IOStreams{In: tty, Out: &out, ErrOut: tty})
	frame.Now = func() time.Time { return noon }
	shown := make(chan string)
	go func() { shown <- typeAt(screen, answer) }()
	s.t.Setenv("NO_COLOR", "1")
	code := frame.Run(s.t.Context(), "0.0.0-test", append(args, "-n", s.namespace, "--kubeconfig", s.kubeconfig))
	require.NoError(s.t, tty.Close())
	return result{out: out.String(), err: strings.ReplaceAll(<-shown, "\r\n", "\n"), code: code}
}

// typeAt types the answer when the question is shown, and returns all that was shown.
func typeAt(screen *os.File, answer string) string {
	var shown strings.Builder
	buffer := make([]byte, 4096)
	typed := false
	for {
		n, err := screen.Read(buffer)
		shown.Write(buffer[:n])
		if err != nil { // the other end was closed
			return shown.String()
		}
		if !typed && strings.HasSuffix(shown.String(), "[y/N] ") {
			typed = true
			_, _ = io.WriteString(screen, answer+"\n")
		}
	}
}
