package realnode

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// holdPause is how often the processes are listed while copies are held. A copy begins a second after its process at the earliest.
const holdPause = 25 * time.Millisecond

// holdAfter is how long a rebuild goes on that is to be held: a real engine copies the first file 3 s after it has begun. A rebuild whose
// process is stopped earlier fails instead of waiting.
const holdAfter = 2 * time.Second

// holds are the volumes whose new replicas get no data.
type holds struct {
	mutex sync.Mutex
	all   map[string]*held
	// began is when the last rebuild of a volume began.
	began map[string]time.Time
}

// held is one volume whose copies are held: end is closed to end that, and ended when nothing is stopped any more.
type held struct{ end, ended chan struct{} }

// rebuilds remembers that a rebuild of a volume begins.
func (h *holds) rebuilds(volume string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.began[volume] = time.Now()
}

// due reports whether a process is to be stopped now that copies data of a volume whose engine runs.
func (h *holds) due(volume string, since time.Time) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	began := h.began[volume]
	return began.After(since) && time.Since(began) >= holdAfter
}

// hold stops the processes that will copy data to new replicas of a volume; of every volume if the name is empty. What already copies goes
// on. The processes of a volume without an engine are stopped as soon as they start, and those for a rebuild before its first file.
func (m *Machine) hold(volume string) {
	m.holds.mutex.Lock()
	defer m.holds.mutex.Unlock()
	if m.holds.all[volume] != nil {
		return
	}
	h, known, since := &held{end: make(chan struct{}), ended: make(chan struct{})}, map[int]bool{}, time.Now()
	m.holds.all[volume] = h
	m.eachAgent(volume, func(t task, _ bool) { known[t.pid] = true })
	go func() {
		defer close(h.ended)
		tick := time.NewTicker(holdPause)
		defer tick.Stop()
		for {
			select {
			case <-h.end:
				return
			case <-tick.C:
			}
			m.eachAgent(volume, func(t task, engineRuns bool) {
				if !known[t.pid] && (!engineRuns || m.holds.due(t.volume(), since)) {
					known[t.pid] = true
					_ = unix.Kill(t.pid, unix.SIGSTOP) // it ended
				}
			})
		}
	}()
}

// release ends hold; of every volume if the name is empty.
func (m *Machine) release(volume string) {
	m.holds.mutex.Lock()
	var ends []*held
	for name, h := range m.holds.all {
		if volume == "" || name == volume {
			close(h.end)
			ends = append(ends, h)
			delete(m.holds.all, name)
		}
	}
	m.holds.mutex.Unlock()
	for _, h := range ends {
		<-h.ended // else it might stop a process that was just continued
	}
	m.eachAgent(volume, func(t task, _ bool) { _ = unix.Kill(t.pid, unix.SIGCONT) }) // it ended
}

// eachAgent calls a function with each process that copies data of a volume, and with whether an engine of that volume runs; of every
// volume if the name is empty.
func (m *Machine) eachAgent(volume string, do func(t task, engineRuns bool)) {
	var agents []task
	engines := map[string]bool{}
	for _, p := range m.live() {
		tasks, err := m.tasksOf(p)
		if err != nil {
			continue // the pod ended
		}
		for _, t := range tasks {
			engines[t.after("controller")] = true
			if t.isAgent() && (volume == "" || t.volume() == volume) {
				agents = append(agents, t)
			}
		}
	}
	for _, t := range agents {
		do(t, engines[t.volume()])
	}
}
