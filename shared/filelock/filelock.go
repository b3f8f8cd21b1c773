// Package filelock locks files against other processes. The operating system drops the lock when its holder dies,
// however it dies, so a lock that can be taken proves that no process holds it. A recorded process ID proves less: it
// may belong to another process by now.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrHeld reports that another process holds the lock.
var ErrHeld = errors.New("another process holds the lock")

// Try creates the file if it is missing and locks it. The lock ends when the returned file is closed. Another process's lock
// is ErrHeld.
func Try(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}
