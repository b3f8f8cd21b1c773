package dataplane

import (
	"path"
	"strings"
)

// RequireBinaries lets a v1 process start only if its binary is on the host of its node. Without a cluster nobody brings binaries.
func (p *Plane) RequireBinaries() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.binaries = map[string]bool{}
}

// PutBinary puts the engine binary into a directory of a node's host.
func (p *Plane) PutBinary(node, directory string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.binaries != nil {
		p.binaries[binaryKey(node, directory)] = true
	}
}

// RemoveBinary removes the engine binary from a directory of a node's host. Processes that run keep it.
func (p *Plane) RemoveBinary(node, directory string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.binaries, binaryKey(node, directory))
}

func binaryKey(node, directory string) string { return node + ":" + path.Clean(directory) }

// SetBinaries sets the directory of the host that the pod of a server has at /engine-binaries; "" is none.
func (s *Server) SetBinaries(directory string) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	s.binaries = directory
}

// lacksBinary returns why a process cannot start whose binary is not on the host; "" if it is. The lock is held.
func (s *Server) lacksBinary(binary string) string {
	if s.plane.binaries == nil {
		return ""
	}
	directory, onHost := path.Dir(binary), ""
	if rest, found := strings.CutPrefix(directory, "/engine-binaries/"); found && s.binaries != "" {
		onHost = path.Join(s.binaries, rest)
	} else if rest, found := strings.CutPrefix(directory, "/host/"); found {
		onHost = "/" + rest
	}
	if onHost != "" && path.Base(binary) == "longhorn" && s.plane.binaries[binaryKey(s.node.name, onHost)] {
		return ""
	}
	return "fork/exec " + binary + ": no such file or directory"
}
