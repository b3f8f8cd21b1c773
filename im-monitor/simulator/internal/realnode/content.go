package realnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/control"
)

// ledger remembers what was acknowledged of each volume, by block.
type ledger struct {
	mutex   sync.Mutex
	volumes map[string]map[int64]string
}

func (l *ledger) acknowledge(volume string, block int64, text string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.volumes[volume] == nil {
		l.volumes[volume] = map[int64]string{}
	}
	l.volumes[volume][block] = text
}

// of copies what was acknowledged of a volume.
func (l *ledger) of(volume string) map[int64]string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	out := map[int64]string{}
	for block, text := range l.volumes[volume] {
		out[block] = text
	}
	return out
}

// forget is called when a volume gets other content than was written, as by a revert.
func (l *ledger) forget(volume string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.volumes, volume)
}

// frontend finds the engine that serves a volume; on one node, or the newest one where the name of the node is empty.
func (m *Machine) frontend(volume, node string) (socket, error) {
	var found socket
	var newest time.Time
	for _, p := range m.live() {
		m.mutex.Lock()
		process := p.process
		m.mutex.Unlock()
		if process == nil || node != "" && p.Node != node {
			continue
		}
		s := socket{pid: process.pid(), volume: volume}
		info, err := os.Stat(filepath.Join(s.directory(), s.name()))
		if err != nil || !serves(process, volume) || info.ModTime().Before(newest) {
			continue
		}
		found, newest = s, info.ModTime()
	}
	if found.pid == 0 {
		return found, fmt.Errorf("%w: no engine serves volume %s", control.ErrConflict, volume)
	}
	return found, nil
}

// serves reports whether an engine of the volume runs in the pod: a killed one leaves its socket behind.
func serves(p *process, volume string) bool {
	tasks, err := p.tasks()
	for _, t := range tasks {
		if t.after("controller") == volume && !t.isAgent() {
			return true
		}
	}
	return err != nil
}

// write writes a block, and tries again until wait is over while nothing serves the volume.
func (m *Machine) write(ctx context.Context, volume, node string, block int64, text string, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		s, err := m.frontend(volume, node)
		if err == nil {
			err = s.write(block, text)
		}
		switch {
		case err == nil:
			m.ledger.acknowledge(volume, block, text)
			return nil
		case errors.Is(err, errIO) || time.Now().After(deadline):
			return err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// read reads a block.
func (m *Machine) read(volume, node string, block int64) (string, error) {
	s, err := m.frontend(volume, node)
	if err != nil {
		return "", err
	}
	return s.read(block)
}

// verification is the answer to GET /v1/volumes/{name}/verify.
type verification struct {
	Volume   string   `json:"volume"`
	OK       bool     `json:"ok"`
	Mixed    bool     `json:"mixed"`
	Findings []string `json:"findings,omitempty"`
}

// verify reads every block that was acknowledged, several times: an engine reads from its replicas in turn.
func (m *Machine) verify(volume string) (verification, error) {
	out := verification{Volume: volume}
	for block, text := range m.ledger.of(volume) {
		seen := map[string]bool{}
		for range readsOfVerify {
			is, err := m.read(volume, "", block)
			if err != nil {
				return out, err
			}
			seen[is] = true
			if is != text {
				out.Findings = append(out.Findings, fmt.Sprintf("block %d reads %q, acknowledged was %q", block, is, text))
			}
		}
		out.Mixed = out.Mixed || len(seen) > 1
	}
	out.OK = !out.Mixed && len(out.Findings) == 0
	return out, nil
}

// readsOfVerify is how often each block is read: more often than a volume has replicas.
const readsOfVerify = 6
