package dataplane

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Writer is a workload that never stops: it writes numbered texts to a volume's blocks one after the other, and reads each block back
// before it writes it again.
type Writer struct {
	Volume string `json:"volume"`
	// Node is where it runs; empty follows the volume, as a migrating guest does: it stays with its device while that is there.
	Node     string        `json:"node,omitempty"`
	Interval time.Duration `json:"interval"`
	Blocks   int64         `json:"blocks"`

	// Device is what it writes to; empty while there is none.
	Device string `json:"device,omitempty"`
	Writes uint64 `json:"writes"`
	// Failed counts writes that the workload saw fail, Waited those that had to be tried again.
	Failed uint64 `json:"failed"`
	Waited uint64 `json:"waited"`
	// MaxPause is the longest time between two acknowledged writes to one device.
	MaxPause time.Duration `json:"maxPause"`
	// Lost, Doubled and Misdirected count blocks that read older than acknowledged, newer, or as another block.
	Lost        uint64   `json:"lost"`
	Doubled     uint64   `json:"doubled"`
	Misdirected uint64   `json:"misdirected"`
	Errors      []string `json:"errors,omitempty"`
}

// Defaults of a writer.
const (
	DefaultInterval = 10 * time.Millisecond
	DefaultBlocks   = 16
	retryWaiting    = time.Millisecond
	maxErrors       = 10
)

// writing is a writer at work.
type writing struct {
	Writer
	plane    *Plane
	device   *device
	last     time.Time // of the last acknowledged write to the device
	next     uint64
	baseline uint64
	expected map[int64]string
	stopped  bool
}

// StartWriter begins to write; a writer of the same volume and node is replaced.
func (p *Plane) StartWriter(w Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.Volume == "" {
		return refuse(InvalidArgument, "a writer needs a volume")
	}
	p.dropWriters(w.Volume, w.Node)
	p.startWriter(w)
	return nil
}

func (p *Plane) hasWriter(volume string) bool {
	return slices.ContainsFunc(p.writers, func(w *writing) bool { return w.Volume == volume })
}

func (p *Plane) startWriter(w Writer) {
	if w.Interval <= 0 {
		w.Interval = DefaultInterval
	}
	if w.Blocks <= 0 {
		w.Blocks = DefaultBlocks
	}
	one := &writing{plane: p, expected: map[int64]string{},
		Writer: Writer{Volume: w.Volume, Node: w.Node, Interval: w.Interval, Blocks: w.Blocks}}
	p.writers = append(p.writers, one)
	p.after(one.Interval, one.tick)
}

// StopWriters ends the writers of a volume on a node; empty means all. It answers what they did.
func (p *Plane) StopWriters(volume, node string) []Writer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropWriters(volume, node)
}

func (p *Plane) dropWriters(volume, node string) []Writer {
	out := []Writer{}
	p.writers = slices.DeleteFunc(p.writers, func(w *writing) bool {
		if volume != "" && w.Volume != volume || node != "" && w.Node != node {
			return false
		}
		w.stopped = true
		out = append(out, w.copy())
		return true
	})
	return out
}

// Writers are the writers at work.
func (p *Plane) Writers() []Writer {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Writer, 0, len(p.writers))
	for _, w := range p.writers {
		out = append(out, w.copy())
	}
	return out
}

// copy counts a pause that continues.
func (w *writing) copy() Writer {
	out := w.Writer
	out.Errors = slices.Clone(w.Errors)
	if !w.last.IsZero() && w.device != nil {
		out.MaxPause = max(out.MaxPause, w.plane.clock.Now().Sub(w.last))
	}
	return out
}

// tick writes once and comes again; the lock is held.
func (w *writing) tick() {
	if w.stopped {
		return
	}
	pause := w.Interval
	if w.choose() {
		err := w.once()
		switch CodeOf(err) {
		case "OK":
		case string(Unavailable):
			w.Waited++
			pause = min(pause, retryWaiting)
		default:
			w.Failed++
			w.complain("write %d: %v", w.next, err)
		}
	}
	w.plane.after(pause, w.tick)
}

// choose finds the device to write to; false without one. Another device begins without a pause.
func (w *writing) choose() bool {
	v := w.plane.volumes[w.Volume]
	if v == nil {
		return false
	}
	if w.device != nil && v.devices[w.device] {
		return true
	}
	w.device, w.last, w.Device = v.deviceOn(w.Node), time.Time{}, ""
	if w.device == nil {
		return false
	}
	w.Device = w.device.name + " on " + w.device.node.name
	return true
}

// once reads the next block back and writes it.
func (w *writing) once() error {
	v := w.device.volume
	if w.baseline != v.baseline {
		w.baseline, w.expected = v.baseline, map[int64]string{}
	}
	block := int64(w.next) % w.Blocks
	got, _, err := w.plane.read(w.device, block)
	if err != nil {
		return err
	}
	w.check(block, got)
	text := fmt.Sprintf("%s/%s/%d/%d", w.Volume, w.Node, block, w.next)
	if _, err := w.plane.write(w.device, block, text); err != nil {
		return err
	}
	now := w.plane.clock.Now()
	if !w.last.IsZero() {
		w.MaxPause = max(w.MaxPause, now.Sub(w.last))
	}
	w.last, w.expected[block] = now, text
	w.next++
	w.Writes++
	return nil
}

// check holds what was read against what was acknowledged.
func (w *writing) check(block int64, got string) {
	want, known := w.expected[block]
	if !known || got == want {
		return
	}
	delete(w.expected, block)
	parts := strings.Split(got, "/")
	number, err := strconv.ParseUint(parts[len(parts)-1], 10, 64)
	switch {
	case got != "" && (err != nil || len(parts) != 4 || parts[0] != w.Volume || parts[1] != w.Node ||
		parts[2] != strconv.FormatInt(block, 10)):
		w.Misdirected++
	case err == nil && number >= w.next:
		w.Doubled++
	default:
		w.Lost++
	}
	w.complain("block %d reads %q, not %q", block, got, want)
}

func (w *writing) complain(format string, args ...any) {
	if len(w.Errors) < maxErrors {
		w.Errors = append(w.Errors, fmt.Sprintf(format, args...))
	}
}
