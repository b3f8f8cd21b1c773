package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Volume is a volume that is reached through a frontend on the node of a manager. Endpoint is what the manager reports for the frontend.
type Volume struct {
	Name     string
	Manager  *Manager
	Endpoint string
}

// Content reads and writes the blocks of volumes as a workload does. A call that the frontend does not answer waits until ctx ends.
type Content interface {
	// Write writes a text at the beginning of a block and returns once the frontend acknowledged it.
	Write(ctx context.Context, v Volume, block int64, text string) error
	// Read returns the text of a block; it is empty where the block holds zeros.
	Read(ctx context.Context, v Volume, block int64) (string, error)
	// Reaches reports whether volumes on the node of a manager can be reached.
	Reaches(m *Manager) bool
}

// BlockSize is the size of a block of Content, in bytes.
const BlockSize = 4096

// SimulatorContent reaches volumes through the simulator's control endpoint.
type SimulatorContent struct{ Control *Control }

// Reaches reports that the simulator's nodes are reached.
func (s SimulatorContent) Reaches(*Manager) bool { return true }

// errWaits is the answer to I/O that the frontend holds.
var errWaits = errors.New("the I/O waits")

// Write tries until the frontend acknowledges the write.
func (s SimulatorContent) Write(ctx context.Context, v Volume, block int64, text string) error {
	node, err := s.Control.nodeOf(ctx, v.Manager)
	if err != nil {
		return err
	}
	in := map[string]any{"node": node, "block": block, "text": text}
	return untilAnswered(ctx, func() error { return s.Control.do(ctx, http.MethodPost, "/v1/volumes/"+v.Name+"/write", in, nil) })
}

// Read tries until the frontend answers.
func (s SimulatorContent) Read(ctx context.Context, v Volume, block int64) (string, error) {
	node, err := s.Control.nodeOf(ctx, v.Manager)
	if err != nil {
		return "", err
	}
	query := url.Values{"node": {node}, "block": {strconv.FormatInt(block, 10)}}
	var out struct{ Text string }
	err = untilAnswered(ctx, func() error {
		return s.Control.do(ctx, http.MethodGet, "/v1/volumes/"+v.Name+"/read?"+query.Encode(), nil, &out)
	})
	return out.Text, err
}

// untilAnswered repeats I/O that waits.
func untilAnswered(ctx context.Context, try func() error) error {
	for {
		err := try()
		if !errors.Is(err, errWaits) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// textOf is the text at the beginning of a block.
func textOf(block []byte) string {
	text, _, _ := bytes.Cut(block, []byte{0})
	return string(text)
}
