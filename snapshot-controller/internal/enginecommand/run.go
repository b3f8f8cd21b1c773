package enginecommand

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// searchPath is where the engine finds the commands of the system that its drivers of file systems run.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// largestAnswer is the most that is read of an answer, in bytes.
const largestAnswer = 256 << 20

// endsWithin is how long a killed command may take to end. One that hangs in the kernel, as on a vanished file server, takes longer: it is
// left alone then, and keeps its place among the commands of its target.
const endsWithin = 5 * time.Second

// commands counts what was begun, for tests and figures.
var commands atomic.Int64

// Commands returns how many commands this process has begun.
func Commands() int64 { return commands.Load() }

// run runs the engine with these arguments and returns what it wrote to its standard output. limit 0 is no limit.
func (s Store) run(ctx context.Context, limit time.Duration, args ...string) ([]byte, error) {
	if s.Binary == "" {
		return nil, &Failure{Kind: ErrNoBinary, Text: "no engine binary is known"}
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	done, err := s.Places.take(ctx)
	if err != nil {
		return nil, s.timedOut(ctx, limit, args, "earlier commands for this target have not ended")
	}
	commands.Add(1)
	began := time.Now()
	defer func() { seconds.WithLabelValues(args[1]).Observe(time.Since(began).Seconds()) }()
	ended := make(chan outcome, 1)
	go func() {
		defer done()
		ended <- s.execute(ctx, args)
	}()
	var out outcome
	select {
	case out = <-ended:
	case <-ctx.Done():
		hung := time.NewTimer(endsWithin)
		defer hung.Stop()
		select {
		case out = <-ended:
		case <-hung.C:
			return nil, s.timedOut(ctx, limit, args, "it does not end when it is killed")
		}
	}
	return s.answer(ctx, limit, args, out)
}

// answer reads what became of a command.
func (s Store) answer(ctx context.Context, limit time.Duration, args []string, out outcome) ([]byte, error) {
	switch {
	case out.err == nil:
		return out.stdout, nil
	case ctx.Err() != nil:
		return nil, s.timedOut(ctx, limit, args, "")
	}
	if failed := new(exec.ExitError); !errors.As(out.err, &failed) {
		return nil, &Failure{Kind: ErrNoBinary, Text: fmt.Sprintf("%s cannot be run: %v", s.Binary, WithoutPath(out.err))}
	}
	text := strings.TrimSpace(string(out.stdout))
	if text == "" {
		text = lastLine(out.stderr)
	}
	text = shown(cmp.Or(text, out.err.Error()), s.Env)
	return nil, &Failure{Kind: kindOf(text), Text: text}
}

// timedOut returns the failure of a command that was ended; ctx has ended.
func (s Store) timedOut(ctx context.Context, limit time.Duration, args []string, why string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) || limit == 0 {
		return ctx.Err() // the caller gave up, not the time
	}
	text := fmt.Sprintf("the command backup %s had no answer within %s", args[1], limit)
	if why != "" {
		text += ": " + why
	}
	return &Failure{Kind: ErrTimeout, Text: text}
}

type outcome struct {
	stdout, stderr []byte
	err            error
}

// execute runs the command to its end. The kernel kills it when this process dies.
func (s Store) execute(ctx context.Context, args []string) outcome {
	runtime.LockOSThread() // the kernel kills a child when the thread dies that began it
	defer runtime.UnlockOSThread()
	command := exec.CommandContext(ctx, s.Binary, args...)
	command.Env = append([]string{searchPath}, s.Env...)
	command.Dir = "/" // nothing is to be found, or left, in the directory of this process
	command.WaitDelay = endsWithin
	ownGroup(command)
	stdout, stderr := &bounded{most: largestAnswer}, &tail{}
	command.Stdout, command.Stderr = stdout, stderr
	err := command.Run()
	if err == nil && stdout.over {
		err = fmt.Errorf("its answer is longer than %d bytes", largestAnswer)
	}
	return outcome{stdout: stdout.buffer.Bytes(), stderr: stderr.kept, err: err}
}

// WithoutPath returns an error without the path, which the sentence around it names already.
func WithoutPath(err error) error {
	if path := new(os.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	buffer bytes.Buffer
	most   int
	over   bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.buffer.Len(); len(p) > room {
		b.over = true
		b.buffer.Write(p[:room])
		return len(p), nil
	}
	return b.buffer.Write(p)
}

// tail keeps the end of what is written to it: engines log a lot.
type tail struct{ kept []byte }

const longestTail = 4096

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - longestTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
