package realnode

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

const (
	// serveTime is how long an instance manager may take until it serves.
	serveTime = 20 * time.Second
	// graceTime is how long an instance manager may take to end; a kubelet then kills it.
	graceTime = 10 * time.Second
	// instancePort is the port by which a server is known to serve.
	instancePort = "8503"
)

// setup is everything that the process of a pod must know before it becomes the instance manager.
type setup struct {
	Name            string
	Where           address
	Host, Root      string
	InstanceManager string
	Engine          string
	// Arguments are those of the instance manager, Environment its variables, each with its value.
	Arguments, Environment []string
	// Mounts are directories of this machine by their paths in the pod.
	Mounts map[string]string
}

// process is a running instance manager, with everything that it started.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

func (p *process) pid() int { return p.command.Process.Pid }

// kill ends the instance manager at once; the kernel ends its whole PID namespace with it.
func (p *process) kill() {
	_ = p.command.Process.Kill() // it has ended
	<-p.ended
}

// stop ends the instance manager as a kubelet does.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it has ended
	select {
	case <-p.ended:
	case <-time.After(graceTime):
		p.kill()
	}
}

// starter starts processes from one thread that lives as long as this process: the kernel kills them when that thread ends.
type starter struct{ work chan func() }

func newStarter() *starter {
	s := &starter{work: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for do := range s.work {
			do()
		}
	}()
	return s
}

func (s *starter) close() { close(s.work) }

// start runs an instance manager in namespaces of its own, and returns when it serves.
func (s *starter) start(o setup, network *network, log string) (*process, error) {
	encoded, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding the setup of pod %s: %w", o.Name, err)
	}
	output, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log of pod %s: %w", o.Name, err)
	}
	defer func() { _ = output.Close() }()
	ready, release, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer func() { _ = errors.Join(ready.Close(), release.Close()) }()
	command := exec.Command("/proc/self/exe", PodCommand, string(encoded))
	command.Stdout, command.Stderr, command.ExtraFiles = output, output, []*os.File{ready}
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	started := make(chan error)
	s.work <- func() { started <- command.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting a process in namespaces of its own (this needs root): %w", err)
	}
	p := &process{command: command, ended: make(chan struct{})}
	go func() { _ = command.Wait(); close(p.ended) }()
	if err := network.connect(o.Where, p.pid()); err != nil {
		p.kill()
		return nil, err
	}
	if _, err := release.Write([]byte{1}); err != nil {
		p.kill()
		return nil, fmt.Errorf("releasing the process of pod %s: %w", o.Name, err)
	}
	return p, p.await(log)
}

// await returns when the instance manager serves.
func (p *process) await(log string) error {
	deadline := time.After(serveTime)
	for {
		connection, err := inside(p.pid(), "tcp", net.JoinHostPort("127.0.0.1", instancePort))
		if err == nil {
			return connection.Close()
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%w: %s", machine.ErrEnded, tail(log))
		case <-deadline:
			p.kill()
			return fmt.Errorf("it does not serve within %s: %s", serveTime, tail(log))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tail returns the end of a log.
func tail(log string) string {
	content, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-2000):])
}

// inside dials from within the network namespace of a process, so that no cut link is in the way.
func inside(pid int, network, to string) (connection net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine, in whatever namespace it is
		var namespace *os.File
		if namespace, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil {
			err = fmt.Errorf("opening the network namespace of process %d: %w", pid, err)
			return
		}
		defer func() { _ = namespace.Close() }()
		if err = setns(namespace); err != nil {
			return
		}
		connection, err = net.DialTimeout(network, to, 2*time.Second)
	}()
	<-done
	return connection, err
}
