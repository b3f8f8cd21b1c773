package cluster

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile makes the file if it is missing and locks it against every other process. The lock ends with the returned
// file, at the latest with the process.
func lockFile(path string) (*os.File, error) {
	file, err := tryLockFile(path)
	if err == nil && file == nil {
		err = fmt.Errorf("locking %s: somebody else holds it", path)
	}
	return file, err
}

// tryLockFile is lockFile, but returns nil when somebody else holds the lock.
func tryLockFile(path string) (*os.File, error) {
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
		return nil, nil
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}
