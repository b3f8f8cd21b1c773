package world

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Write writes a block through the volume's frontend, and returns when it was acknowledged.
func (w *World) Write(ctx context.Context, volume string, block int, text string) error {
	return w.ctl(ctx, http.MethodPost, volumePath(volume, "write"), map[string]any{"block": block, "text": text, "wait": "10s"}, nil)
}

// WriteFrom is Write through the frontend on that node.
func (w *World) WriteFrom(ctx context.Context, volume, node string, block int, text string) error {
	return w.ctl(ctx, http.MethodPost, volumePath(volume, "write"),
		map[string]any{"node": node, "block": block, "text": text, "wait": "10s"}, nil)
}

// Read reads a block through the volume's frontend; empty where nothing was ever written.
func (w *World) Read(ctx context.Context, volume string, block int) (string, error) {
	var answer struct{ Text string }
	return answer.Text, w.ctl(ctx, http.MethodGet, fmt.Sprintf("%s?block=%d", volumePath(volume, "read"), block), nil, &answer)
}

// Verify fails when a replica that is read lacks acknowledged data, or when replicas differ.
func (w *World) Verify(ctx context.Context, volume string) error {
	var answer struct {
		OK, Mixed bool
		Findings  []any
	}
	if err := w.ctl(ctx, http.MethodGet, volumePath(volume, "verify"), nil, &answer); err != nil {
		return err
	}
	if !answer.OK || answer.Mixed {
		return fmt.Errorf("volume %s does not read as it was written: mixed %t, %v", volume, answer.Mixed, answer.Findings)
	}
	return nil
}

// Keeps fails unless the block has this content and the whole volume reads as it was written.
func (w *World) Keeps(ctx context.Context, volume string, block int, text string) error {
	is, err := w.Read(ctx, volume, block)
	if err != nil {
		return err
	}
	if is != text {
		return fmt.Errorf("block %d of volume %s reads %q, not %q", block, volume, is, text)
	}
	return w.Verify(ctx, volume)
}

// HoldCopies pauses rebuilds, clones, restores and expansions; of one volume, or of all when it is empty.
func (w *World) HoldCopies(ctx context.Context, volume string) error {
	return w.ctl(ctx, http.MethodPost, "/v1/copy-time", map[string]any{"volume": volume, "hold": true}, nil)
}

// HoldCopiesBefore pauses v1 rebuilds before their copy begins, and all other copies.
func (w *World) HoldCopiesBefore(ctx context.Context, volume string) error {
	return w.ctl(ctx, http.MethodPost, "/v1/copy-time", map[string]any{"volume": volume, "holdBefore": true}, nil)
}

// ReleaseCopies ends HoldCopies and HoldCopiesBefore: copies take the given time.
func (w *World) ReleaseCopies(ctx context.Context, volume string, takes time.Duration) error {
	return w.ctl(ctx, http.MethodPost, "/v1/copy-time", map[string]any{"volume": volume, "time": takes.String()}, nil)
}

func volumePath(volume, what string) string {
	return "/v1/volumes/" + url.PathEscape(volume) + "/" + what
}

// Elsewhere lists the engines and frontends of the volume on other nodes than this one, as a text.
func (w *World) Elsewhere(ctx context.Context, volume, node string) (string, error) {
	list, err := w.instances(ctx)
	var names []string
	for _, r := range list {
		if r.Node != node && (strings.HasPrefix(r.Name, volume+"-e-") || strings.HasPrefix(r.Name, volume+"-ef-")) {
			names = append(names, r.Name+" ("+r.State+") on "+r.Node)
		}
	}
	return Join(names), err
}

// KillEngine lets the volume's engine on the node crash, where it runs.
func (w *World) KillEngine(ctx context.Context, volume, node string) error {
	list, err := w.instances(ctx)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.Node == node && strings.HasPrefix(r.Name, volume+"-e-") {
			err := w.KillInstance(ctx, node, r.Name)
			if err != nil && strings.Contains(err.Error(), http.StatusText(http.StatusNotFound)) {
				return nil // it ended meanwhile
			}
			return err
		}
	}
	return nil
}
