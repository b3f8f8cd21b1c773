package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are picked below the range from which kernels take the ports of outgoing connections: those come and go at
// any time, and the API server must get its port back after a restart.
const (
	lowestPort   = 20000
	highestPort  = 32000
	portAttempts = 1000
)

// FreePorts returns different ports of 127.0.0.1 on which nobody listens now, and that no outgoing connection takes.
func FreePorts(count int) ([]int, error) {
	seen := map[int]bool{}
	var ports []int
	for range portAttempts {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if seen[port] || !free(port) {
			continue
		}
		seen[port] = true
		if ports = append(ports, port); len(ports) == count {
			return ports, nil
		}
	}
	return nil, errors.New("no free port found on 127.0.0.1")
}

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
