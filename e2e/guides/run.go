package guides

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// shell is where the commands of a page run.
type shell struct {
	dir         string
	environment []string
	// variables are the assignments of earlier commands of the page.
	variables []string
}

const (
	// patience is how long a command may run: it only ends what hangs.
	patience = 5 * time.Minute
	// followed is how long a command is followed that never ends by itself and whose output the page does not show.
	followed = time.Second
)

var (
	assignment = regexp.MustCompile(`^(export )?[A-Za-z_]+=`)
	endless    = regexp.MustCompile(`^kubectl [^|]*(-w|--watch)( |$)`)
)

// run executes a command with what it needs of the ones before, and returns what it printed. exits are the exit codes that are right.
func (s *shell) run(ctx context.Context, c command, text string, exits []int) (string, error) {
	if assignment.MatchString(text) {
		defer func() { s.variables = append(s.variables, text) }()
	}
	follows := endless.MatchString(firstLine(text))
	output, code, err := s.execute(ctx, strings.Join(append(slices.Clone(s.variables), text), "\n"), func(output string) bool {
		_, differs := unlike(c.shown, output, true)
		return follows && (len(c.shown) > 0 && !differs)
	}, follows && len(c.shown) == 0)
	printed := output.all()
	switch missing, differs := unlike(c.shown, printed, follows); {
	case err != nil:
		return printed, err
	case !follows && !slices.Contains(exits, code):
		return printed, fmt.Errorf("exit code %d", code)
	case len(c.shown) > 0 && differs:
		return printed, fmt.Errorf("the page shows, and the output does not have:\n  %s", missing)
	}
	return printed, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, " #")
	return strings.TrimSpace(line)
}

// output is what a command has printed so far.
type output struct {
	mutex sync.Mutex
	bytes bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.bytes.Write(p)
}

func (o *output) all() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.bytes.String()
}

// execute runs the text in bash until it ends, until enough is true of its output, or, if briefly, for a moment.
func (s *shell) execute(ctx context.Context, text string, enough func(string) bool, briefly bool) (*output, int, error) {
	out := &output{}
	process := exec.Command("bash", "-o", "pipefail", "-c", text)
	process.Dir, process.Env, process.Stdout, process.Stderr = s.dir, s.environment, out, out
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := process.Start(); err != nil {
		return out, 0, fmt.Errorf("starting bash: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	limit := patience
	if briefly {
		limit = followed
	}
	deadline, tick := time.NewTimer(limit), time.NewTicker(50*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	stop := func() { _ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL); <-ended }
	for {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return out, 0, fmt.Errorf("running bash: %w", err)
			}
			return out, process.ProcessState.ExitCode(), nil
		case <-tick.C:
			if enough(out.all()) {
				stop()
				return out, 0, nil
			}
		case <-deadline.C:
			stop()
			if briefly {
				return out, 0, nil
			}
			return out, 0, fmt.Errorf("no end after %s", patience)
		case <-ctx.Done():
			stop()
			return out, 0, context.Cause(ctx)
		}
	}
}

// environ is this process's environment with the variables set; HOME is one without settings of a person.
func environ(variables map[string]string) []string {
	out := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := variables[name]
		return replaced
	})
	for name, value := range variables {
		out = append(out, name+"="+value)
	}
	return out
}
