package realnode

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// holdPause is how often the processes are listed while copies are held. A copy begins a second after its process at the earliest.
const holdPause = 25 * time.Millisecond

// holds are the volumes whose new replicas get no data.
type holds struct {
	mutex sync.Mutex
	ends  map[string]chan struct{}
}

// hold stops the processes that will copy data to new replicas of a volume, as soon as they start; of every volume if the name is empty.
// What already copies goes on.
func (m *Machine) hold(volume string) {
	m.holds.mutex.Lock()
	defer m.holds.mutex.Unlock()
	if m.holds.ends[volume] != nil {
		return
	}
	end, before := make(chan struct{}), map[int]bool{}
	m.holds.ends[volume] = end
	m.eachAgent(volume, func(pid int) { before[pid] = true })
	go func() {
		tick := time.NewTicker(holdPause)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				m.eachAgent(volume, func(pid int) {
					if !before[pid] {
						_ = unix.Kill(pid, unix.SIGSTOP) // it ended
					}
				})
			}
		}
	}()
}

// release ends hold; of every volume if the name is empty.
func (m *Machine) release(volume string) {
	m.holds.mutex.Lock()
	for name, end := range m.holds.ends {
		if volume == "" || name == volume {
			close(end)
			delete(m.holds.ends, name)
		}
	}
	m.holds.mutex.Unlock()
	m.eachAgent(volume, func(pid int) { _ = unix.Kill(pid, unix.SIGCONT) }) // it ended
}

// eachAgent calls a function with each process that copies data of a volume; of every volume if the name is empty.
func (m *Machine) eachAgent(volume string, do func(pid int)) {
	for _, p := range m.live() {
		tasks, err := m.tasksOf(p)
		if err != nil {
			continue // the pod ended
		}
		for _, t := range tasks {
			if t.isAgent() && (volume == "" || t.volume() == volume) {
				do(t.pid)
			}
		}
	}
}
