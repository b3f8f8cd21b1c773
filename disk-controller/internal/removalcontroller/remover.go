package removalcontroller

import (
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/shared/api/v1beta2"
)

var (
	// errGoesOn reports that a removal takes longer than the timeout, and goes on.
	errGoesOn = errors.New("the removal goes on")
	// errStale reports that the objects that a removal was decided on are too old to begin it.
	errStale = errors.New("the decision is too old to begin the removal")
)

// remover removes one directory of a disk at a time. A disk that does not answer delays no other disk.
type remover struct {
	root    directory.Root
	timeout time.Duration
	clock   clock.PassiveClock

	mu   sync.Mutex
	busy map[string]bool // paths of disks at which a removal goes on
}

// result is the end of a removal.
type result struct {
	there bool
	err   error
}

// remove removes the directory of a replica, and reports whether there was anything of it. It changes nothing on the disk after a time.
func (r *remover) remove(replica *v1beta2.Replica, until time.Time) (bool, error) {
	path := replica.Spec.DiskPath
	if !r.begin(path) {
		return false, errGoesOn
	}
	done := make(chan result, 1)
	disk, name, uid := replica.Spec.DiskID, replica.Spec.DataDirectoryName, string(replica.UID)
	go func() {
		there, err := r.onDisk(path, disk, name, uid, until)
		r.end(path) // first: the next attempt may follow the answer at once
		done <- result{there, err}
	}()
	late := time.NewTimer(r.timeout)
	defer late.Stop()
	select {
	case out := <-done:
		return out.there, out.err
	case <-late.C:
		return false, errGoesOn
	}
}

func (r *remover) onDisk(path, disk, name, uid string, until time.Time) (bool, error) {
	d, err := r.root.Open(path)
	if err != nil {
		return false, err
	}
	defer d.Close()
	return d.Remove(disk, name, uid, func() error {
		if r.clock.Now().After(until) {
			return errStale
		}
		return nil
	})
}

func (r *remover) begin(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy == nil {
		r.busy = map[string]bool{}
	}
	if r.busy[path] {
		return false
	}
	r.busy[path] = true
	return true
}

func (r *remover) end(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, path)
}
