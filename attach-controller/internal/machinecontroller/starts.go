package machinecontroller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/attach-controller/internal/machine"
)

// starts records since when a volume waits for each replica to start. It is not stored: after a restart of this process the wait begins
// again.
type starts struct {
	mutex sync.Mutex
	since map[string]map[types.UID]time.Time
}

// note sets in a World since when it waits for its replicas, and drops those that are no longer waited for.
func (s *starts) note(w *machine.World) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, now := s.since[w.Volume.Name], map[types.UID]time.Time{}
	w.StartsSince = map[string]time.Time{}
	for _, r := range w.Replicas {
		if !w.Starts(r) {
			continue
		}
		since, known := before[r.UID]
		if !known {
			since = w.Now
		}
		now[r.UID], w.StartsSince[r.Name] = since, since
	}
	if len(now) == 0 {
		delete(s.since, w.Volume.Name)
		return
	}
	if s.since == nil {
		s.since = map[string]map[types.UID]time.Time{}
	}
	s.since[w.Volume.Name] = now
}

// forget drops a deleted volume.
func (s *starts) forget(volume string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.since, volume)
}
