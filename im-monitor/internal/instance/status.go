package instance

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// Status is the part of an object's status that this package writes.
type Status struct {
	State             string
	Starting, Started bool
	InstanceManager   string
	Image             string
	IP, StorageIP     string
	Port              int
	UUID              string
	UblkID            int32
	Endpoint          string
	SalvageExecuted   bool
	// The rest is a frontend's.
	ActivePath, PreferredPath string
	Paths                     []v1beta2.NvmeTCPPath
	Switchover                Switchover
	// Suspended is the request to suspend I/O that was answered last.
	Suspended  string
	TargetIP   string
	TargetPort int
	Size       volumesize.Net
	// Creation is why nothing was created, or why what was created failed; BackingImage why a replica waits for its backing image.
	Creation, BackingImage Problem
	// Switching is why a switch-over waits.
	Switching Problem
	// NodeDown is the condition's reason while it is True, else empty.
	NodeDown string
}

// Problem is the reason and message of a condition that reports a problem; empty is none.
type Problem struct{ Reason, Message string }

// Equal compares all of it; no paths are equal to an empty list.
func (s Status) Equal(other Status) bool { return equality.Semantic.DeepEqual(s, other) }

// Begun reports whether an instance may exist according to the status: its absence has to be proven.
func (s Status) Begun() bool {
	return s.Starting || s.supervised() || s.InstanceManager != "" ||
		s.State != "" && s.State != v1beta2.InstanceStateStopped
}

// supervised reports whether the instance was listed since its last creation. It is not created again: an instance that ended by itself
// is in error.
func (s Status) supervised() bool {
	switch s.State {
	case v1beta2.InstanceStateRunning, v1beta2.InstanceStateSuspended, v1beta2.InstanceStateError:
		return true
	}
	return s.Started
}

// AwaitsCutOff reports whether the object must be stopped on a node that is out, so that the states of the volume's replicas decide.
func (w World) AwaitsCutOff() bool { return !w.Object.Running && w.Node.Out() && w.Status.Begun() }

// stopped is the status of an instance that does not run.
func stopped(reason string) Status {
	return Status{State: v1beta2.InstanceStateStopped, NodeDown: reason}
}
