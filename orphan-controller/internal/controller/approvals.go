package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// approvals remembers the policy deletions that this process has just approved and that its cache does not show yet,
// so that a slow cache does not raise the number under way on a node above the limit. Losing approvals has no other effect.
type approvals struct {
	clock  clock.PassiveClock
	mutex  sync.Mutex
	byNode map[string]map[types.UID]time.Time
}

// approvalLag is how long an approval is remembered when no cache ever shows it.
const approvalLag = 10 * time.Second

func newApprovals(clock clock.PassiveClock) *approvals {
	return &approvals{clock: clock, byNode: map[string]map[types.UID]time.Time{}}
}

func (a *approvals) add(node string, uid types.UID) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.byNode[node] == nil {
		a.byNode[node] = map[types.UID]time.Time{}
	}
	a.byNode[node][uid] = a.clock.Now()
}

func (a *approvals) remove(node string, uid types.UID) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	delete(a.byNode[node], uid)
}

// count returns how many orphans other than self are under way on the node: those that the cache shows, and those
// that it does not show yet.
func (a *approvals) count(node string, self types.UID, shown []types.UID) int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	count := 0
	for _, uid := range shown {
		delete(a.byNode[node], uid)
		if uid != self {
			count++
		}
	}
	for uid, since := range a.byNode[node] {
		switch {
		case a.clock.Since(since) > approvalLag:
			delete(a.byNode[node], uid)
		case uid != self:
			count++
		}
	}
	if len(a.byNode[node]) == 0 {
		delete(a.byNode, node)
	}
	return count
}
