package cluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/kubectl-drover/internal/world"
)

const (
	// gather is how long events of one change are gathered before everything is read again.
	gather = 200 * time.Millisecond
	// retry is the pause after a watch or a later read failed.
	retry = 2 * time.Second
)

// Watching returns the rights to follow reads, beside those of the reads.
func Watching(reads ...Read) []Right {
	rights := make([]Right, 0, len(reads))
	for _, read := range reads {
		right := read.Right
		right.Verb = "watch"
		rights = append(rights, right)
	}
	return rights
}

// Follow reads, calls seen with what was read, and does so again after each change, until seen reports that it is done, it fails, or the
// context ends. A read that fails later than the first one is repeated, and its error is reported to failed.
func (c *Client) Follow(ctx context.Context, reads []Read, seen func(*world.World) (done bool, err error), failed func(error)) error {
	for first := true; ; first = false {
		w := c.World()
		err := c.Read(ctx, w, reads...)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (first || absent(err)):
			return err
		case err != nil:
			failed(err)
			if err := pause(ctx, retry); err != nil {
				return err
			}
			continue
		}
		if done, err := seen(w); done || err != nil {
			return err
		}
		if err := c.awaitChange(ctx, w, reads); err != nil {
			return err
		}
	}
}

// awaitChange returns after the first change of what was read, or when a watch ends: what happened since then is read again anyhow.
func (c *Client) awaitChange(ctx context.Context, w *world.World, reads []Read) error {
	watches, stop := context.WithCancel(ctx)
	defer stop()
	changes := make(chan time.Duration, len(reads))
	for _, read := range reads {
		list := read.into(w)
		options := append(c.options(read), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
		watcher, err := c.api.Watch(watches, list, options...)
		if apierrors.IsForbidden(err) {
			right := read.Right
			right.Verb = "watch"
			return c.explain(err, right)
		}
		if err != nil {
			return pause(ctx, retry)
		}
		defer watcher.Stop()
		go func() {
			event, open := <-watcher.ResultChan()
			if !open || event.Type == watch.Error {
				changes <- retry
				return
			}
			changes <- gather
		}()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case wait := <-changes:
		return pause(ctx, wait)
	}
}

// pause returns after d, or the context's error when that ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for a change: %w", ctx.Err())
	case <-timer.C:
		return nil
	}
}
