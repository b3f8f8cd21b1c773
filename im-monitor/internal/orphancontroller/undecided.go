package orphancontroller

import (
	"sync"

	"drover.dev/drover/im-monitor/internal/orphan"
)

// undecided remembers why instances are undecided, by instance manager and name, so that each transition counts once.
type undecided struct {
	mu sync.Mutex
	m  map[string]map[string]string
}

// set notes the reason, "" for none, and reports whether it is new.
func (u *undecided) set(key orphan.Key, reason string) (changed bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	names := u.m[key.InstanceManager]
	old := names[key.Name]
	if old == reason {
		return false
	}
	if old != "" {
		undecidedNow.WithLabelValues(old).Dec()
		delete(names, key.Name)
	}
	if reason == "" {
		return true
	}
	if u.m == nil {
		u.m = map[string]map[string]string{}
	}
	if names == nil {
		names = map[string]string{}
		u.m[key.InstanceManager] = names
	}
	names[key.Name] = reason
	undecidedNow.WithLabelValues(reason).Inc()
	nonDecisions.WithLabelValues(reason).Inc()
	return true
}

// forget drops what was noted of an instance manager whose inventory is not known any more.
func (u *undecided) forget(instanceManager string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, reason := range u.m[instanceManager] {
		undecidedNow.WithLabelValues(reason).Dec()
	}
	delete(u.m, instanceManager)
}
