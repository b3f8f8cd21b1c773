package cluster

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"drover.dev/drover/shared/filelock"
)

const (
	dirPrefix = "drover-cluster-"
	ownerFile = "owner.lock"
	// youngest is how old a directory must be before a sweep checks it: its owner may not have locked it yet.
	youngest = 10 * time.Second
)

//go:embed guard.sh
var guardScript string

// ownedDir is a directory that is removed when its owner dies. While the owner lives it holds a lock on a file in it; a watchdog
// process waits for the owner's end and removes the directory, with the processes recorded in it.
type ownedDir struct {
	path     string
	lock     *os.File
	watchdog *exec.Cmd
	alive    io.Closer // the pipe whose end reports to the watchdog that the owner is gone
}

func newOwnedDir(base string) (*ownedDir, error) {
	path, err := os.MkdirTemp(base, dirPrefix)
	if err != nil {
		return nil, fmt.Errorf("making the cluster's directory: %w", err)
	}
	d := &ownedDir{path: path}
	if d.lock, err = filelock.Try(filepath.Join(path, ownerFile)); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	if err := d.startWatchdog(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the watchdog of %s: %w", path, err), d.remove())
	}
	return d, nil
}

func (d *ownedDir) startWatchdog() error {
	watchdog := guardCommand(d.path)
	alive, err := watchdog.StdinPipe()
	if err != nil {
		return err
	}
	if err := watchdog.Start(); err != nil {
		return err
	}
	d.watchdog, d.alive = watchdog, alive
	return nil
}

// guardCommand is the watchdog, a script in a process group of its own, so that a signal to the owner's group does not reach it. It
// holds none of the owner's outputs open.
func guardCommand(path string) *exec.Cmd {
	watchdog := exec.Command("/bin/sh", "-c", guardScript, "drover-cluster-guard", path)
	watchdog.Dir = "/"
	watchdog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return watchdog
}

// remove deletes the directory and ends its watchdog. The recorded processes must have ended.
func (d *ownedDir) remove() error {
	err := os.RemoveAll(d.path)
	if d.alive != nil {
		_ = d.alive.Close()
		_ = d.watchdog.Wait() // it finds nothing left to do
		d.alive = nil
	}
	if d.lock != nil {
		_ = d.lock.Close()
		d.lock = nil
	}
	if err != nil {
		return fmt.Errorf("removing the cluster's directory: %w", err)
	}
	return nil
}

// sweep removes the directories below base whose owner and watchdog both died. What cannot be removed stays for the next
// sweep: leftovers of another process do not prevent a start.
func sweep(base string) {
	paths, _ := filepath.Glob(filepath.Join(base, dirPrefix+"*"))
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < youngest {
			continue
		}
		lock, err := filelock.Try(filepath.Join(path, ownerFile))
		if err != nil {
			continue
		}
		_ = guardCommand(path).Run() // with an empty input: it acts at once
		_ = lock.Close()
	}
}
