package realnode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// firstWriterBlock is the first block of writers, behind those that scenarios write.
const firstWriterBlock = 1000

// writer is a workload that writes to a volume until it is stopped, and then reads everything back.
type writer struct {
	machine *Machine
	cancel  context.CancelFunc
	ended   chan struct{}

	mutex   sync.Mutex
	state   dataplane.Writer
	latest  map[int64]string // what was acknowledged
	pending map[int64]string // what was sent and failed: either may be read
}

// writers are the workloads by volume.
type writers struct {
	mutex sync.Mutex
	all   map[string]*writer
}

// startWriter starts a workload.
func (m *Machine) startWriter(in control.StartWriter) error {
	if in.Node != "" {
		return fmt.Errorf("%w: a writer that stays on a node", control.ErrNotServed)
	}
	interval, blocks := time.Duration(in.Interval), in.Blocks
	if interval <= 0 {
		interval = dataplane.DefaultInterval
	}
	if blocks <= 0 {
		blocks = dataplane.DefaultBlocks
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{machine: m, cancel: cancel, ended: make(chan struct{}), latest: map[int64]string{}, pending: map[int64]string{},
		state: dataplane.Writer{Volume: in.Volume, Interval: interval, Blocks: blocks}}
	m.writers.mutex.Lock()
	defer m.writers.mutex.Unlock()
	if m.writers.all[in.Volume] != nil {
		cancel()
		return fmt.Errorf("%w: volume %s has a writer", control.ErrConflict, in.Volume)
	}
	m.writers.all[in.Volume] = w
	go w.run(ctx)
	return nil
}

// run writes block after block. A write that meets no engine waits; one that an engine answers with an error has failed.
func (w *writer) run(ctx context.Context) {
	defer close(w.ended)
	tick := time.NewTicker(w.state.Interval)
	defer tick.Stop()
	last := time.Time{}
	for number := uint64(1); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		block := firstWriterBlock + int64(number)%w.state.Blocks
		text := fmt.Sprintf("%s %d %d", w.state.Volume, block, number)
		s, err := w.machine.frontend(w.state.Volume, "")
		if err == nil {
			err = s.write(block, text)
		}
		w.count(block, text, err, last)
		if err == nil {
			last, number = time.Now(), number+1
		}
	}
}

func (w *writer) count(block int64, text string, err error, last time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch {
	case err == nil:
		w.state.Writes++
		w.latest[block] = text
		delete(w.pending, block)
		if !last.IsZero() {
			w.state.MaxPause = max(w.state.MaxPause, time.Since(last))
		}
	case errors.Is(err, errIO):
		w.state.Failed++
		w.pending[block] = text
		w.state.Errors = append(w.state.Errors, err.Error())[:min(len(w.state.Errors)+1, 10)]
	default:
		w.state.Waited++
	}
}

// stopWriters ends the writers of a volume, or all, reads back what they wrote, and returns their results.
func (m *Machine) stopWriters(volume string) []dataplane.Writer {
	m.writers.mutex.Lock()
	var ended []*writer
	for _, name := range slices.Sorted(maps.Keys(m.writers.all)) {
		if volume == "" || volume == name {
			ended = append(ended, m.writers.all[name])
			delete(m.writers.all, name)
		}
	}
	m.writers.mutex.Unlock()
	out := []dataplane.Writer{}
	for _, w := range ended {
		w.cancel()
		<-w.ended
		out = append(out, w.result())
	}
	return out
}

// result reads every block back that the writer wrote.
func (w *writer) result() dataplane.Writer {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for block, text := range w.latest {
		is, err := w.machine.read(w.state.Volume, "", block)
		prefix := fmt.Sprintf("%s %d ", w.state.Volume, block)
		switch {
		case err != nil:
			w.state.Lost++
			w.state.Errors = append(w.state.Errors, err.Error())
		case is == text || w.pending[block] != "" && is == w.pending[block]:
		case strings.HasPrefix(is, prefix) || is == "":
			w.state.Lost++
			w.state.Errors = append(w.state.Errors, fmt.Sprintf("block %d reads %q, acknowledged was %q", block, is, text))
		default:
			w.state.Misdirected++
			w.state.Errors = append(w.state.Errors, fmt.Sprintf("block %d reads %q", block, is))
		}
	}
	return w.state
}

// listWriters returns the writers of a volume, or all, as they are.
func (m *Machine) listWriters(volume string) []dataplane.Writer {
	m.writers.mutex.Lock()
	defer m.writers.mutex.Unlock()
	out := []dataplane.Writer{}
	for _, name := range slices.Sorted(maps.Keys(m.writers.all)) {
		if volume == "" || volume == name {
			w := m.writers.all[name]
			w.mutex.Lock()
			out = append(out, w.state)
			w.mutex.Unlock()
		}
	}
	return out
}

// shownWriters have durations that people can read.
func shownWriters(list []dataplane.Writer) []control.Writer {
	out := []control.Writer{}
	for _, w := range list {
		out = append(out, control.Writer{Writer: w, Interval: fault.Duration(w.Interval), MaxPause: fault.Duration(w.MaxPause)})
	}
	return out
}
