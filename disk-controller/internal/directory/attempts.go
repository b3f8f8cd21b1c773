package directory

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Attempts works on the directories of disks, each disk in one attempt at a time. A directory that does not answer, as on a dead network
// file system, delays no other directory.
type Attempts struct {
	root    Root
	timeout time.Duration

	mu   sync.Mutex
	busy map[string]bool // the paths at which an attempt has not ended
}

// NewAttempts returns attempts at the directories of a host, for which a caller waits until the timeout.
func NewAttempts(root Root, timeout time.Duration) *Attempts {
	return &Attempts{root: root, timeout: timeout, busy: map[string]bool{}}
}

// Do opens the directory of a disk and works on it. It reports whether that has ended, and its error. If it has not ended, because this
// attempt or an earlier one takes longer than the timeout, the error says so, and the caller reads nothing that work sets.
func (a *Attempts) Do(path string, work func(*Disk) error) (ended bool, err error) {
	if !a.begin(path) {
		return false, errors.New("an earlier attempt to read it has not ended: its device or server does not answer")
	}
	done := make(chan error, 1)
	go func() {
		err := a.open(path, work)
		a.end(path) // first: the next attempt may follow the answer at once
		done <- err
	}()
	late := time.NewTimer(a.timeout)
	defer late.Stop()
	select {
	case err := <-done:
		return true, err
	case <-late.C:
		return false, fmt.Errorf("it did not answer within %s", a.timeout)
	}
}

func (a *Attempts) open(path string, work func(*Disk) error) error {
	d, err := a.root.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return work(d)
}

func (a *Attempts) begin(path string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[path] {
		return false
	}
	a.busy[path] = true
	return true
}

func (a *Attempts) end(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, path)
}
