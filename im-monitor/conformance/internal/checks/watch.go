package checks

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
)

// watcher counts the notices of an InstanceWatch until the check ends.
type watcher struct{ notices atomic.Int64 }

// watch opens an InstanceWatch. Nothing shows when the server has it: a check first sees a notice, or watches for long enough.
func watch(t *suite.T, on *target.Manager) *watcher {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func(context.Context) error { cancel(); return nil })
	stream, err := on.Instance.InstanceWatch(ctx, &emptypb.Empty{})
	t.OK(err, "opening InstanceWatch")
	w := &watcher{}
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				return
			}
			w.notices.Add(1)
		}
	}()
	return w
}

// noticed reports whether there was a notice since the last time.
func (w *watcher) noticed() (bool, string) {
	n := w.notices.Swap(0)
	return n > 0, fmt.Sprintf("%d notices", n)
}

// quiet waits until there was no notice for a while.
func (w *watcher) quiet(t *suite.T) {
	t.Eventually("InstanceWatch becomes quiet", func() (bool, string) {
		w.notices.Store(0)
		t.Sleep(500 * time.Millisecond)
		n := w.notices.Load()
		return n == 0, fmt.Sprintf("%d notices within half a second", n)
	})
}
