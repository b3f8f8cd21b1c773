package instancemanagercontroller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/shared/pace"
)

// forgiveAfter is how long a pod has to run until its earlier failures do not count any more.
const forgiveAfter = 10 * time.Minute

// memory is what this process remembers of instance managers. All of it may be lost: pods are then replaced sooner, and
// silence is reported later.
type memory struct {
	mu    sync.Mutex
	known map[string]*remembered
	// maps keeps the writes of one InstanceManager's maps alone apart.
	maps pace.Pace
}

func newMemory() memory {
	return memory{maps: pace.Pace{Factor: mapsShare, Least: mapsPause, Most: mapsPauseMost}}
}

// mapsPause is the least time between two writes of one InstanceManager's instance maps alone: a change after silence is reported
// at once, and a hundred instances in a row are reported together. The object grows with its instances, and so would the cost of
// reporting each (1,500 instances: 0.4 s of the API server): with more than mapsLarge instances, the pause is mapsShare times as long as
// the last write took, up to mapsPauseMost. See docs/decisions/0067.
const (
	mapsPause     = time.Second
	mapsPauseMost = 10 * time.Second
	mapsShare     = 10
	mapsLarge     = 200
)

type remembered struct {
	unknownSince time.Time
	failures     int
	failedPod    types.UID
	failedAt     time.Time
	logs         logsAsked
}

func (m *memory) of(name string) *remembered {
	if m.known == nil {
		m.known = map[string]*remembered{}
	}
	if m.known[name] == nil {
		m.known[name] = &remembered{}
	}
	return m.known[name]
}

// heard notes whether the inventory is as known as it can be, and returns since when it is not.
func (m *memory) heard(name string, known bool, now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(name)
	switch {
	case known:
		r.unknownSince = time.Time{}
	case r.unknownSince.IsZero():
		r.unknownSince = now
	}
	return r.unknownSince
}

// failed counts the end of one pod, once.
func (m *memory) failed(name string, pod types.UID, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(name)
	if r.failedPod == pod {
		return
	}
	if now.Sub(r.failedAt) > forgiveAfter+instancemanager.Backoff(r.failures) {
		r.failures = 0
	}
	r.failures++
	r.failedPod, r.failedAt = pod, now
}

// retryAt is when the pod may be made again; zero means at once.
func (m *memory) retryAt(name string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(name)
	if r.failures == 0 {
		return time.Time{}
	}
	return r.failedAt.Add(instancemanager.Backoff(r.failures))
}

// mapsLeft is how long the maps wait until they are written again; zero is now.
func (m *memory) mapsLeft(name string, now time.Time) time.Duration { return m.maps.Left(name, now) }

// wroteMaps notes from when to when the maps were written, with how many instances.
func (m *memory) wroteMaps(name string, instances int, began, ended time.Time) {
	took := ended.Sub(began)
	if instances <= mapsLarge {
		took = 0
	}
	m.maps.Done(name, took, ended)
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, name)
	m.maps.Forget(name)
}
