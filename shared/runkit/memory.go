package runkit

import (
	"context"
	"runtime/debug"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// startPatience is how long after the caches are filled what the start brought along is taken to be done.
const startPatience = 15 * time.Second

// giveBack returns memory to the system once after the start: filling the caches takes more than they keep, and a quiet
// process would hardly ever collect it.
func giveBack(m ctrl.Manager, c clock.Clock) error {
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if !m.GetCache().WaitForCacheSync(ctx) {
			return nil // the process ends
		}
		select {
		case <-ctx.Done():
		case <-c.After(startPatience):
			debug.FreeOSMemory()
		}
		return nil
	}))
}
