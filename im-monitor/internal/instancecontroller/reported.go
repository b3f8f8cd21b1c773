package instancecontroller

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/events"
)

// reported remembers what each object waits for, so that it is reported once.
type reported struct {
	mu sync.Mutex
	m  map[Key]string
}

// set notes a reason and reports whether it is new; an empty one forgets.
func (t *reported) set(key Key, kind, reason string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.m[key]
	if before == reason {
		return false
	}
	if before != "" {
		waiting.WithLabelValues(kind, before).Dec()
	}
	if reason == "" {
		delete(t.m, key)
		return true
	}
	if t.m == nil {
		t.m = map[Key]string{}
	}
	t.m[key] = reason
	waiting.WithLabelValues(kind, reason).Inc()
	return true
}

func (t *reported) forget(key Key) { t.set(key, key.Kind, "") }

// report counts what an object waits for, and reports what a person may have to do something about.
func (s *base) report(key Key, o client.Object, v instance.Verdict) {
	reason := v.Reason
	switch reason {
	case instance.ReasonCalling:
		return // the executor reports what it waits for
	case instance.ReasonDone:
		reason = ""
	}
	if !s.reported.set(key, key.Kind, reason) || reason == "" {
		return
	}
	s.logFor(key).V(1).Info("waiting", "reason", reason, "message", v.Message)
	switch reason {
	case instance.ReasonOtherLive, instance.ReasonUnclaimedLive, instance.ReasonReplicaNotReady, instance.ReasonNoInstanceManager,
		instance.ReasonManagerCannotStart, instance.ReasonNotCutOff, instance.ReasonIncomplete,
		instance.ReasonImageUnknown, instance.ReasonImageNotDeployed, instance.ReasonNoBackingImage, instance.ReasonVolumeMissing,
		instance.ReasonDataMissing:
		events.Emit(s.rt.Recorder, o, waitingEvent(v))
	}
}
