package machinecontroller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/attach-controller/internal/machine"
)

// starts remembers since when each replica of a volume has been waited for to start. It is not stored: after a restart of
// this process the wait begins anew.
type starts struct {
	mutex sync.Mutex
	since map[string]map[types.UID]time.Time
}

// note tells a World since when its replicas are waited for, and forgets those that are not any more.
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

// forget is for a volume that is gone.
func (s *starts) forget(volume string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.since, volume)
}
