package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Process is one running binary. The kernel kills it when this program ends.
type Process struct {
	Name string
	Log  string
	// Source is the ID of its token, by which the recorder distinguishes it from other processes of its user.
	Source string

	binary          string
	args            []string
	metrics, health string // addresses
	hook            string // address of its webhook, or of its REST API, if the binary has one
	profile         string // address of its profiles

	mutex   sync.Mutex
	command *exec.Cmd
	done    chan struct{}
	expect  bool // an end is expected: Kill or Stop was called
}

// REST returns the address at which an api-gateway answers.
func (p *Process) REST() string { return "http://" + p.hook }

// start runs the binary; what it prints is appended to its log file.
func (p *Process) start() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", p.Name, err)
	}
	command := exec.Command(p.binary, p.args...)
	command.Stdout, command.Stderr = log, log
	command.Env = append(os.Environ(), clockOffsets+"="+filepath.Dir(p.Log))
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return errors.Join(fmt.Errorf("starting %s: %w", p.Name, err), log.Close())
	}
	done := make(chan struct{})
	p.command, p.done, p.expect = command, done, false
	go func() {
		_ = command.Wait()
		_ = log.Close()
		again := p.lostItsLease()
		close(done)
		if again {
			_ = p.start()
		}
	}()
	return nil
}

// lostItsLease reports whether the process ended because it could not renew its lease in time, which happens on a slow machine. It is then
// started again, as a kubelet would do. Any other unexpected end is an error.
func (p *Process) lostItsLease() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.expect || !strings.Contains(p.Tail(5), "leader election lost") {
		return false
	}
	p.expect = true
	return true
}

// PID is the process ID.
func (p *Process) PID() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.command.Process.Pid
}

func (p *Process) signal(signal syscall.Signal, ends bool) (chan struct{}, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.expect = p.expect || ends
	err := p.command.Process.Signal(signal)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return p.done, err
}

// Kill sends SIGKILL, and returns when the process has ended.
func (p *Process) Kill() {
	if done, err := p.signal(syscall.SIGKILL, true); err == nil {
		<-done
	}
}

// Stop sends SIGTERM and waits for the end; after ten seconds the process is killed, which is an error.
func (p *Process) Stop() error {
	done, err := p.signal(syscall.SIGTERM, true)
	if err != nil {
		return fmt.Errorf("stopping %s: %w", p.Name, err)
	}
	// A paused process does not handle signals.
	if _, err := p.signal(syscall.SIGCONT, true); err != nil {
		return fmt.Errorf("waking %s: %w", p.Name, err)
	}
	select {
	case <-done:
		return nil
	case <-time.After(10 * time.Second):
		p.Kill()
		return fmt.Errorf("%s did not end within 10 s of SIGTERM; its log ends:\n%s", p.Name, p.Tail(20))
	}
}

// Pause stops the process (SIGSTOP); Resume lets it continue. A process that was paused may end by itself: it has lost
// its lease.
func (p *Process) Pause() error {
	_, err := p.signal(syscall.SIGSTOP, true)
	return err
}

// Resume ends a Pause.
func (p *Process) Resume() error {
	_, err := p.signal(syscall.SIGCONT, true)
	return err
}

// Restart starts the process again after it ended.
func (p *Process) Restart() error {
	<-p.Done()
	return p.start()
}

// Crash ends the process as Kill does, and starts it again.
func (p *Process) Crash() error {
	p.Kill()
	return p.Restart()
}

// RunAs ends the process, starts it again with another kubeconfig, and returns the one that it had.
func (p *Process) RunAs(kubeconfig string) (before string, err error) {
	p.Kill()
	at := slices.Index(p.args, "--kubeconfig") + 1
	before = p.args[at]
	p.args[at] = kubeconfig
	return before, p.Restart()
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.done
}

// Died returns an error if the process ended without Kill or Stop.
func (p *Process) Died() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	select {
	case <-p.done:
		if !p.expect {
			return fmt.Errorf("%s ended by itself (%s); its log ends:\n%s", p.Name, p.command.ProcessState, p.Tail(20))
		}
	default:
	}
	return nil
}

// Tail returns the last lines of the log.
func (p *Process) Tail(lines int) string {
	content, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimRight(content, "\n"), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

// RSS is the process's resident memory in bytes.
func (p *Process) RSS() (int64, error) { return p.memory("VmRSS") }

// PeakRSS is the most resident memory that the process has had, in bytes.
func (p *Process) PeakRSS() (int64, error) { return p.memory("VmHWM") }

// memory is a field of the kernel's report on the process, in bytes.
func (p *Process) memory(field string) (int64, error) {
	content, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.PID()), "status"))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of %s: %w", p.Name, err)
	}
	for line := range strings.Lines(string(content)) {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, field+": %d kB", &kilobytes); err == nil {
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("the kernel does not report the memory of %s", p.Name)
}

// Processor is the processor time that the process has used, of user and system, in whole hundredths of a second.
func (p *Process) Processor() (time.Duration, error) {
	content, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.PID()), "stat"))
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of %s: %w", p.Name, err)
	}
	fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:])) // the name before may have blanks
	var user, system int64
	if _, err := fmt.Sscan(strings.Join(fields[11:13], " "), &user, &system); err != nil {
		return 0, fmt.Errorf("reading the processor time of %s: %w", p.Name, err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

// Profile writes what the process answers at /debug/pprof/<what> into a file. One that has just started is asked until it serves.
func (p *Process) Profile(ctx context.Context, what, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.profile+"/debug/pprof/"+what, nil)
	if err != nil {
		return fmt.Errorf("asking %s for a profile: %w", p.Name, err)
	}
	var content []byte
	err = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (answered bool, failure error) {
		content, failure = fetch(request)
		if errors.Is(failure, syscall.ECONNREFUSED) && p.Died() == nil {
			return false, nil
		}
		return true, failure
	})
	if err != nil {
		return fmt.Errorf("asking %s for a profile: %w", p.Name, err)
	}
	return os.WriteFile(file, content, 0o644)
}

// fetch returns the body of the answer, which is an error unless its code is 200.
func fetch(request *http.Request) ([]byte, error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("answer %s: %s", response.Status, content)
	}
	return content, err
}
