package instancemanager

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/retry"
)

// PodAction is what must be done to the pod.
type PodAction int

// The actions on a pod.
const (
	// KeepPod leaves things as they are.
	KeepPod PodAction = iota
	// CreatePod makes the pod of PodFor.
	CreatePod
	// DeletePod deletes exactly the pod that was seen, by UID.
	DeletePod
	// ForceDeletePod is DeletePod without waiting for a kubelet: the Kubernetes node is gone.
	ForceDeletePod
)

// Verdict is what must be done about one InstanceManager.
type Verdict struct {
	Pod PodAction
	// Failed reports whether the pod that is deleted had ended by itself: the next one waits for the back-off.
	Failed bool
	// Remove deletes the InstanceManager.
	Remove bool
	// Ask means: a list begun now is needed before this may continue; decide again with it.
	Ask bool
	// Connect reports whether the inventory must follow the pod at its IP; false means that it must forget it.
	Connect bool
	Status  Status
	// Maps are the changed entries of the instance maps; empty where nothing changed.
	Maps MapChanges
	// Held are engines and frontends that a v2 list lacks and that stay in the maps until that proves something.
	Held []string
	// After is when to decide again without any event; zero means never.
	After  time.Duration
	Events []events.Event
}

// Status is what im-monitor owns in InstanceManager.status beside the instance maps and the owner.
type Status struct {
	State, IP  string
	Version    Version
	Conditions []v1beta2.Condition
}

// MapChanges are the entries that differ by map; a nil entry is to be removed.
type MapChanges struct {
	Engines, EngineFrontends, Replicas map[string]*v1beta2.InstanceProcess
}

// Empty reports whether no entry differs.
func (m MapChanges) Empty() bool {
	return len(m.Engines)+len(m.EngineFrontends)+len(m.Replicas) == 0
}

// Types are the conditions of an InstanceManager that are written here.
func Types() []string {
	return []string{v1beta2.InstanceManagerNodeReady, v1beta2.InstanceManagerPodReady,
		v1beta2.InstanceManagerReachable, v1beta2.InstanceManagerSettingSynced, v1beta2.InstanceManagerFrontendRecords}
}

// podPause begins with the second failure in a row: after the first one the pod is made again at once.
var podPause = retry.Pause{First: 10 * time.Second, Longest: 5 * time.Minute}

// Backoff returns the wait after so many failures in a row, until the pod is made again or the server is called again.
func Backoff(failures int) time.Duration { return podPause.After(failures - 1) }
