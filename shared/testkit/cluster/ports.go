package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"drover.dev/drover/shared/filelock"
)

// Ports are picked below the range from which kernels take the ports of outgoing connections: those come and go at
// any time, and the API server must get its port back after a restart.
const (
	lowestPort   = 20000
	highestPort  = 32000
	portAttempts = 1000
)

// FreePorts returns different ports of 127.0.0.1 on which no process listens now, and that no outgoing connection takes. No other process
// that asks here gets them until this one ends: a server on them may start slowly, be killed, and restart.
func FreePorts(count int) ([]int, error) {
	seen := map[int]bool{}
	var ports []int
	for range portAttempts {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if seen[port] || !free(port) {
			continue
		}
		if mine, err := reserve(port); err != nil {
			return nil, err
		} else if !mine {
			continue
		}
		seen[port] = true
		if ports = append(ports, port); len(ports) == count {
			return ports, nil
		}
	}
	return nil, errors.New("no free port found on 127.0.0.1")
}

// reserve takes a lock that ends with the process, and reports whether it got it.
func reserve(port int) (bool, error) {
	dir := filepath.Join(cacheRoot(), "ports")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("making the directory of reserved ports: %w", err)
	}
	lock, err := filelock.Try(filepath.Join(dir, strconv.Itoa(port)))
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reserving port %d: %w", port, err)
	}
	reserved.Store(port, lock) // open as long as the process lives
	return true, nil
}

// reserved keeps the files of the locks from being closed.
var reserved sync.Map

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
