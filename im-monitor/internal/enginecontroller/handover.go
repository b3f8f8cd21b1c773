package enginecontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// HandOver keeps the calls open that rebuild v1 replicas, after this process was asked to stop and has released its lease: the next leader
// sees those rebuilds continue, and only these calls can end them well. It returns when the last one ended, or after Options.HandOver: a
// rebuild that loses its caller then is repeated by the next leader. A call whose replica no poll has listed ends at once: a server that is
// slow to begin must not begin when no one wants it any more.
func (c *Controller) HandOver() {
	open := c.memory.handOver()
	if len(open) == 0 {
		return
	}
	c.rt.Log.Info("rebuilds continue: their calls stay open until they end", "rebuilds", len(open), "atMost", c.options.HandOver)
	late := c.rt.Clock.NewTimer(c.options.HandOver)
	defer late.Stop()
	for i, a := range open {
		select {
		case <-a.ended:
		case <-late.C():
			c.rt.Log.Info("rebuilds are left without their calls; the next leader repeats them", "rebuilds", len(open)-i)
			return
		}
	}
}

// handOver ends the calls that no server is known to have begun, and returns the others.
func (m *memory) handOver() []*addition {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*addition
	for _, r := range m.of {
		switch {
		case r.adding == nil:
		case r.adding.accepted:
			out = append(out, r.adding)
		default:
			r.stop()
		}
	}
	return out
}

// reportStranded emits an event for each replica that was found stranded by this poll.
func (c *Controller) reportStranded(e *v1beta2.Engine, v engine.Verdict) {
	for _, name := range v.Stranded {
		if e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeERR {
			continue // an earlier poll found it
		}
		events.Emit(c.rt.Recorder, e, events.Event{Type: corev1.EventTypeWarning, Reason: "RebuildStranded", Action: "PollEngine",
			Note: fmt.Sprintf(
				"The rebuild of replica %s has ended, and the replica stays write-only, because the caller of the rebuild is gone. The "+
					"replica is removed and rebuilt again.", name)})
		stranded.Inc()
	}
}
