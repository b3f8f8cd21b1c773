package runkit

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// startPatience is how long after filling the caches the start is assumed to be over.
const startPatience = 15 * time.Second

// gcPercent lets the garbage collector run at half growth after the start, if $GOGC is not set: a controller's
// heap is its caches, which are large and hardly change, so that memory matters more than the rare collection. While they are
// filled it would run all the time.
const gcPercent = 50

// settleMemory lets the collector run more often once the start is over, and then returns memory to the system: filling the caches
// takes more than they keep, and a quiet process would hardly ever collect it.
func settleMemory(m ctrl.Manager, c clock.Clock) error {
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if !m.GetCache().WaitForCacheSync(ctx) {
			return nil // the process ends
		}
		select {
		case <-ctx.Done():
		case <-c.After(startPatience):
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(gcPercent)
			}
			debug.FreeOSMemory()
		}
		return nil
	}))
}
