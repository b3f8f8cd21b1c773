package removal

import (
	"time"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
)

// World is everything that is known about one Replica.
type World struct {
	Now     time.Time
	Replica Replica
	// Node is the Longhorn Node of the replica; nil means that there is none.
	Node *Node
	// Places are the instance managers of that node that can be connected to and have the data engine of the replica.
	Places []Place
	// FencingDelayEnds is when no call of an earlier leader can still be executed.
	FencingDelayEnds time.Time
	// Called is true when this process sent the removal.
	Called bool
	// Failure is the failure of this process's last attempt; nil when it did not fail.
	Failure *Failure
}

// Replica is what is read of the Replica.
type Replica struct {
	Name, Volume string
	// VolumeUID is that of the owner reference to the Volume; "" when there is none.
	VolumeUID  string
	DataEngine string
	Node, Disk string
	Current    string
	// Begun is true while something may run for it: its start was recorded (status.starting), or it started.
	Begun    bool
	Deleting bool
	// Approval is the reason of DataRemovalApproved where that is True.
	Approval string
	// Said is the present condition DataRemoved, of a v1 replica InstanceGone; nil when absent.
	Said *v1beta2.Condition
	// Generation is metadata.generation, WantsToRun whether the spec asks for an instance.
	Generation int64
	WantsToRun bool
}

// Node is what is read of the Node.
type Node struct {
	// Down is true on positive evidence only.
	Down bool
}

// Place is one instance manager that serves the disks of the replica's node.
type Place struct {
	InstanceManager string
	// Known is true when its newest complete list is known.
	Known bool
	// Instance is the entry of the replica's name; nil means that the list lacks it.
	Instance *Instance
	// Unloaded are the disks, by their keys, that the server has not loaded and that may hold the replica: an absence from its list proves
	// nothing.
	Unloaded []string
	// Absent is true when the lists prove that no instance of this name exists.
	Absent bool
	// Duplicate is another instance manager whose newest list has the same instance; "" when none has.
	Duplicate string
}

// Instance is one entry of a list.
type Instance struct{ Type, State, UUID, Disk string }

// Failure is why an attempt did not remove the data: a reason of DataRemoved that is not final, with its message.
type Failure struct{ Reason, Message string }

// CallWorld is what DecideCall reads right before the data is destroyed, beside the World. Everything in it was read after the
// approval, and the objects last.
type CallWorld struct {
	World World
	// Volume is nil when there is none.
	Volume *Volume
	// Engines are the Engine objects of the volume.
	Engines []mapping.Engine
	// Places are the instance managers on which an engine that maps the replica may run.
	Places []mapping.Place
	// Polls are the polls of the running engines of the volume for this call: each began after the deletion and the approval had been read,
	// so that no clock is needed to know that it is newer.
	Polls []Poll
	// Copies are the other replicas of the volume.
	Copies []Copy
}

// Volume is what is read of the Volume.
type Volume struct {
	UID      string
	Deleting bool
}

// Poll is one poll of a running engine.
type Poll struct {
	Engine string
	// Modes are those of its replicas by name.
	Modes map[string]string
}

// Copy is another replica of the volume.
type Copy struct {
	Name     string
	Deleting bool
	// Healthy is true when it became a complete copy and has not failed since.
	Healthy bool
	// Out is true when its node is down or does not exist.
	Out bool
	// Listed is true when the newest list of its node shows it running.
	Listed bool
}
