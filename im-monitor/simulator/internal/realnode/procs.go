package realnode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// task is a process of an engine, a replica or a sync agent.
type task struct {
	pid  int
	args []string
}

// after returns the argument behind a flag or a word.
func (t task) after(word string) string {
	if i := slices.Index(t.args, word); i >= 0 && i+1 < len(t.args) {
		return t.args[i+1]
	}
	return ""
}

// isAgent reports whether the task copies data for a replica.
func (t task) isAgent() bool { return slices.Contains(t.args, "sync-agent") }

// instance returns the name of the instance whose process the task is; empty of any other process.
func (t task) instance() string {
	if t.isAgent() {
		return ""
	}
	if name := t.after("--engine-instance-name"); name != "" {
		return name
	}
	return t.after("--replica-instance-name")
}

// volume returns the name of the task's volume.
func (t task) volume() string {
	if name := t.after("controller"); name != "" {
		return name
	}
	return t.after("--volume-name")
}

// tasks lists the processes of engines and replicas in the PID namespace of a pod.
func (p *process) tasks() ([]task, error) {
	mine, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", p.pid()))
	if err != nil {
		return nil, fmt.Errorf("reading the namespace of process %d: %w", p.pid(), err)
	}
	directories, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var out []task
	for _, directory := range directories {
		if ns, err := os.Readlink(filepath.Join(directory, "ns/pid")); err != nil || ns != mine {
			continue
		}
		line, err := os.ReadFile(filepath.Join(directory, "cmdline"))
		pid, bad := strconv.Atoi(filepath.Base(directory))
		if err != nil || bad != nil || len(line) == 0 {
			continue // it ended
		}
		args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
		if filepath.Base(args[0]) == engineName {
			out = append(out, task{pid: pid, args: args})
		}
	}
	return out, nil
}

// tasksOf lists the engines, replicas and sync agents of a pod.
func (m *Machine) tasksOf(p *pod) ([]task, error) {
	m.mutex.Lock()
	process := p.process
	m.mutex.Unlock()
	if process == nil {
		return nil, nil
	}
	return process.tasks()
}

// killInstance kills the process of an instance.
func (m *Machine) killInstance(p *pod, name string) error {
	tasks, err := m.tasksOf(p)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.instance() == name {
			return unix.Kill(t.pid, unix.SIGKILL)
		}
	}
	return fmt.Errorf("instance %s has no process in pod %s", name, p.Name)
}
