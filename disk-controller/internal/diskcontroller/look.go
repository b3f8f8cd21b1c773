package diskcontroller

import (
	"fmt"
	"sync"
	"time"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/disk-controller/internal/disk"
)

// Looker looks at directories. A directory that does not answer, as on a dead network file system, delays no
// other directory.
type Looker struct {
	root    directory.Root
	timeout time.Duration

	mu   sync.Mutex
	busy map[string]bool // paths at which an attempt has not ended
}

// NewLooker returns a looker at the directories of the host.
func NewLooker(options Options) *Looker {
	return &Looker{root: directory.At(options.Root), timeout: options.LookTimeout}
}

// Look reads the directory of a disk.
func (l *Looker) Look(path string) disk.Sight {
	var seen disk.Sight
	problem := l.do(path, func(d *directory.Disk) error {
		s, err := d.Look()
		seen = disk.Sight{Unreadable: s.Unreadable, HasReplicas: s.Replicas, ReadOnly: s.ReadOnly, Filesystem: s.Filesystem, Type: s.Type,
			Maximum: s.Maximum, Available: s.Available}
		if s.Config != nil {
			seen.UUID = s.Config.DiskUUID
		}
		return err
	})
	if problem != nil {
		return disk.Sight{Problem: problem.Error()}
	}
	return seen
}

// prepare gives a directory its configuration file.
func (l *Looker) prepare(path string, c directory.Config) error {
	return l.do(path, func(d *directory.Disk) error { return d.Prepare(c) })
}

// do works on a directory, and gives up waiting after the timeout. Nothing that work sets is read then.
func (l *Looker) do(path string, work func(*directory.Disk) error) error {
	if !l.begin(path) {
		return fmt.Errorf("an earlier attempt to read it has not ended: its device or server does not answer")
	}
	done := make(chan error, 1)
	go func() {
		err := l.open(path, work)
		l.end(path) // first: the next attempt may follow the answer at once
		done <- err
	}()
	late := time.NewTimer(l.timeout)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("it did not answer within %s", l.timeout)
	}
}

func (l *Looker) open(path string, work func(*directory.Disk) error) error {
	d, err := l.root.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return work(d)
}

func (l *Looker) begin(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy == nil {
		l.busy = map[string]bool{}
	}
	if l.busy[path] {
		return false
	}
	l.busy[path] = true
	return true
}

func (l *Looker) end(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, path)
}
