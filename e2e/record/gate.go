package record

import (
	"context"
	"io"
	"sync"
)

// gates delays streams: a stream whose key is closed delivers nothing until it is opened again.
type gates struct {
	mutex  sync.Mutex
	closed map[string]chan struct{}
}

func (g *gates) close(key string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.closed == nil {
		g.closed = map[string]chan struct{}{}
	}
	if g.closed[key] == nil {
		g.closed[key] = make(chan struct{})
	}
}

func (g *gates) open(key string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if gate := g.closed[key]; gate != nil {
		close(gate)
		delete(g.closed, key)
	}
}

// wait returns when none of the keys is closed, or with the context's error.
func (g *gates) wait(ctx context.Context, keys ...string) error {
	for {
		gate := g.first(keys)
		if gate == nil {
			return ctx.Err()
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (g *gates) first(keys []string) chan struct{} {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, key := range keys {
		if gate := g.closed[key]; gate != nil {
			return gate
		}
	}
	return nil
}

// gatedBody is a watch's body. Data that was read while the gate closed is kept until it opens.
type gatedBody struct {
	io.ReadCloser
	ctx   context.Context
	gates *gates
	keys  []string
}

// Read reads from the server and returns the data when the gates are open.
func (b gatedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if held := b.gates.wait(b.ctx, b.keys...); held != nil {
		return 0, held
	}
	return n, err
}
