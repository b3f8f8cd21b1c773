package diskcontroller

import (
	"sync"
	"time"

	"drover.dev/drover/im-monitor/internal/disk"
	"drover.dev/drover/im-monitor/internal/imclient"
)

// memory is what the servers of nodes reported when they were asked last. It spares questions, and nothing that it holds is needed after a
// restart.
type memory struct {
	mu    sync.Mutex
	nodes map[string]*heard
}

// heard is about one node; only the reconciliation of that node uses it.
type heard struct {
	run        string
	generation int64
	asked      time.Time // when the answers were asked for
	next       time.Time // when the server is to be asked again
	answers    map[string]disk.Answer
	lists      map[string]listing
}

// listing is what was listed on a disk that was loaded for the first time.
type listing struct {
	uuid     string // of the lvstore that was on the disk then
	at       time.Time
	names    []string
	complete bool
}

// with adds a list. Two make it complete: whatever one of them has, the disk holds.
func (l listing) with(found map[string]imclient.DiskReplica, at time.Time) listing {
	out := listing{uuid: l.uuid, at: at, complete: !l.at.IsZero()}
	for _, name := range l.names {
		if _, again := found[name]; !again {
			out.names = append(out.names, name)
		}
	}
	for name := range found {
		out.names = append(out.names, name)
	}
	return out
}

func (m *memory) of(node string) *heard {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nodes == nil {
		m.nodes = map[string]*heard{}
	}
	if m.nodes[node] == nil {
		m.nodes[node] = &heard{lists: map[string]listing{}}
	}
	return m.nodes[node]
}

func (m *memory) forget(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.nodes, node)
}
