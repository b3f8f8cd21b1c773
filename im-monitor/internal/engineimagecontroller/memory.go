package engineimagecontroller

import (
	"sync"
	"time"

	"drover.dev/drover/shared/pace"
	"drover.dev/drover/shared/retry"
)

// memory has the facts about EngineImages that only this process knows. All of it may be lost: a failed pod is then tried again sooner, and
// Volumes are read again sooner.
type memory struct {
	mu    sync.Mutex
	known map[string]*remembered
	// counts keeps the counts of one EngineImage's references apart: a hundred volumes in a row are counted together.
	counts pace.Pace
	// writes keeps the writes of one EngineImage's status apart: the object grows with the nodes, and so does the cost of a write.
	writes pace.Pace
}

// The pauses are pauseShare times as long as the last count, or write, took, and at most pauseMost; between two counts at least countPause.
const (
	pauseShare = 10
	pauseMost  = 10 * time.Second
	countPause = time.Second
)

func newMemory() memory {
	return memory{counts: pace.Pace{Factor: pauseShare, Least: countPause, Most: pauseMost},
		writes: pace.Pace{Factor: pauseShare, Most: pauseMost}}
}

type remembered struct {
	failures int
	failedAt time.Time
	// volumes is the number of Volumes that named the image when all were read at readAt.
	volumes int
	readAt  time.Time
}

// The pause after a pod that did not read the versions, which grows with each failure; and how long the number of Volumes counts.
var retryPause = retry.Pause{First: 5 * time.Second, Longest: 5 * time.Minute}

const volumesCount = time.Hour

func (m *memory) of(name string) *remembered {
	if m.known == nil {
		m.known = map[string]*remembered{}
	}
	if m.known[name] == nil {
		m.known[name] = &remembered{}
	}
	return m.known[name]
}

// failed notes that a pod has not read the versions.
func (m *memory) failed(name string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(name)
	r.failures++
	r.failedAt = now
}

// retryAt returns when such a pod may be created again; zero: now.
func (m *memory) retryAt(name string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.known[name]
	if r == nil || r.failures == 0 {
		return time.Time{}
	}
	return r.failedAt.Add(retryPause.After(r.failures))
}

func (m *memory) foundVolumes(name string, number int, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(name)
	r.volumes, r.readAt = number, now
}

// volumesOf returns the number of Volumes that named the image an hour ago or later.
func (m *memory) volumesOf(name string, now time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.known[name]; r != nil && now.Sub(r.readAt) < volumesCount {
		return r.volumes
	}
	return 0
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, name)
	m.counts.Forget(name)
	m.writes.Forget(name)
}
