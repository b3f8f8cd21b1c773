package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errPortTaken reports that a port which was free a moment ago is not; another attempt with other ports helps.
var errPortTaken = errors.New("a port was taken by another process")

const terminateTimeout = 10 * time.Second

// process is one server. All methods may be called on nil, for a server that was never started.
type process struct {
	name   string
	log    string
	cmd    *exec.Cmd
	exited chan struct{}
}

// collectLess lets the servers collect garbage less often, unless the environment sets how often: they are small and short-lived, and a
// fifth of their time went into it.
const collectLess = "GOGC=400"

// startProcess runs a server with its log at <dir>/<name>.log and its process ID at <dir>/<name>.pid.
func startProcess(dir, name string, command, args []string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), exited: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.Command(command[0], append(command[1:len(command):len(command)], args...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	p.cmd.SysProcAttr, p.cmd.Env = serverAttributes(), append([]string{collectLess}, os.Environ()...)
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	pid := []byte(strconv.Itoa(p.cmd.Process.Pid) + "\n")
	if err := os.WriteFile(filepath.Join(dir, name+".pid"), pid, 0o600); err != nil {
		p.kill()
		return nil, fmt.Errorf("recording the process of %s: %w", name, err)
	}
	return p, nil
}

// run starts the server and waits for its end, all on one thread: the kernel kills the server when the thread that
// started it ends, not the process, so that thread must live as long as the server.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait()
	close(p.exited)
}

// waitReady polls until the server is ready, exits or the context ends.
func (p *process) waitReady(ctx context.Context, ready func(context.Context) bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.exited:
			return p.exitError()
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; its log ends with:\n%s", p.name, ctx.Err(), p.tail())
		case <-tick.C:
			if ready(ctx) {
				return nil
			}
		}
	}
}

func (p *process) exitError() error {
	tail := p.tail()
	err := fmt.Errorf("%s exited (%s); its log ends with:\n%s", p.name, p.cmd.ProcessState, tail)
	if strings.Contains(tail, "address already in use") {
		return errors.Join(errPortTaken, err)
	}
	return err
}

// tail returns the last lines of the log.
func (p *process) tail() string {
	const limit = 2000
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(data[max(0, len(data)-limit):]))
}

// kill ends the server at once and waits until it is gone.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // an error means that it has ended already
	<-p.exited
}

// terminate lets the server finish what it writes; it is an error when that takes too long.
func (p *process) terminate() error {
	if p == nil {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
		return nil
	case <-time.After(terminateTimeout):
		return fmt.Errorf("%s did not stop within %s", p.name, terminateTimeout)
	}
}
