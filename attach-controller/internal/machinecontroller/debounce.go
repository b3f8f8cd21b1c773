package machinecontroller

import (
	"slices"
	"sync"
	"time"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// debounce is how long a wait of an ordinary attach or detach lasts before the volume's condition shows it. An attach waits for one
// instance after the other, each for a moment: a write for each would double the writes, and delay the next step.
const debounce = time.Second

// ordinary are the reasons that end without help. All others are written at once.
var ordinary = []string{
	v1beta2.ReasonWaitingForReplicas, v1beta2.ReasonWaitingForEngine, v1beta2.ReasonWaitingForFrontend, v1beta2.ReasonDetaching,
}

// debouncer records since when each volume has an unwritten change that is about a wait only.
type debouncer struct {
	mutex sync.Mutex
	since map[string]time.Time
}

// left is how much longer the change is not written; zero means that it is written now.
func (d *debouncer) left(v *v1beta2.Volume, verdict machine.Verdict, now time.Time) time.Duration {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !onlyWaits(v, verdict) {
		delete(d.since, v.Name)
		return 0
	}
	since, known := d.since[v.Name]
	if !known {
		if d.since == nil {
			d.since = map[string]time.Time{}
		}
		d.since[v.Name], since = now, now
	}
	left := since.Add(debounce).Sub(now)
	if left <= 0 {
		delete(d.since, v.Name)
		return 0
	}
	return left
}

// forget drops a deleted volume.
func (d *debouncer) forget(volume string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.since, volume)
}

// whileMigrating reports whether an attached volume waits for something else in its migration: that waits for one instance after the
// other.
func whileMigrating(v *v1beta2.Volume, stored, wanted *v1beta2.Condition) bool {
	return v.Spec.MigrationNodeID != "" && stored.Reason == wanted.Reason && wanted.Reason == v1beta2.ReasonAttached
}

// onlyWaits reports whether a verdict changes nothing but what the volume waits for in an ordinary attach or detach.
func onlyWaits(v *v1beta2.Volume, verdict machine.Verdict) bool {
	stored, wanted := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached),
		conditions.Get(verdict.Conditions, v1beta2.VolumeAttached)
	if len(verdict.Status) > 0 || stored == nil || wanted == nil || stored.Status != wanted.Status ||
		!slices.Contains(ordinary, wanted.Reason) && !whileMigrating(v, stored, wanted) {
		return false
	}
	rest := func(list []v1beta2.Condition) []v1beta2.Condition {
		return conditions.Remove(machine.Owned(list), v1beta2.VolumeAttached)
	}
	return !conditions.Equal([]v1beta2.Condition{*stored}, []v1beta2.Condition{*wanted}) &&
		conditions.Equal(rest(v.Status.Conditions), rest(verdict.Conditions))
}
