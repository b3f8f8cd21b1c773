package podrecoverycontroller

import (
	"sync"
	"time"

	"k8s.io/utils/lru"
)

// remembered is the number of Volumes in the memory, the most recent ones.
const remembered = 4096

// memory records of each Volume when this process deleted a pod for its remountRequestedAt first. Without it, a clock that is ahead would
// cause deletions for ever: remountRequestedAt would be after the creation of each new pod. A lost entry costs such a pod one more
// deletion. It is safe for concurrent use.
type memory struct {
	mutex sync.Mutex
	first *lru.Cache
}

type firstDeletion struct {
	// requested is the remountRequestedAt of the deletion, at the time of the API server.
	requested, at time.Time
}

func newMemory() *memory { return &memory{first: lru.New(remembered)} }

// recall returns the API server's time of the first deletion for that remountRequestedAt; zero: there was none.
func (m *memory) recall(volume string, requested time.Time) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.known(volume, requested)
}

// remember records the time of a deletion, unless an earlier one is known.
func (m *memory) remember(volume string, requested, at time.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if known := m.known(volume, requested); known.IsZero() || at.Before(known) {
		m.first.Add(volume, firstDeletion{requested: requested, at: at})
	}
}

func (m *memory) known(volume string, requested time.Time) time.Time {
	if entry, ok := m.first.Get(volume); ok && entry.(firstDeletion).requested.Equal(requested) {
		return entry.(firstDeletion).at
	}
	return time.Time{}
}
