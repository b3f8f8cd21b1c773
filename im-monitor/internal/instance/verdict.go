package instance

import (
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// Op is what a call does.
type Op string

// The calls.
const (
	OpNone       Op = ""
	OpCreate     Op = "create"
	OpDelete     Op = "delete"
	OpSwitchOver Op = "switch-over"
	OpSuspend    Op = "suspend"
	OpResume     Op = "resume"
	OpRevert     Op = "revert"
)

// WritesAhead reports whether what is called is written into the status before.
func (o Op) WritesAhead() bool { return o == OpCreate || o == OpSwitchOver || o == OpRevert }

// Revert closes the target that a frontend must not use, and then opens the other one. With both open, two engines would write.
type Revert struct {
	// Close and Open name engines, CloseAt and OpenAt their instance managers. Open is empty where the old target does not serve.
	Close, CloseAt, Open, OpenAt string
	// Harmless reports that the first one need not answer: it is gone, or no path leads to it.
	Harmless bool
}

// Call is the one call to send to an instance manager now.
type Call struct {
	Op              Op
	InstanceManager string
	// Ahead is the status to be written before a creation or a phase of a switch-over is sent, Accepted the switch-over once it was
	// accepted.
	Ahead    Status
	Accepted Switchover
	// Create is set for a creation.
	Create *Creation
	// UUID, DiskUUID, Cleanup and ByName are set for a deletion. ByName: there is no UUID to send, and the object claims the name there.
	UUID, DiskUUID  string
	Cleanup, ByName bool
	// Poll reports whether a running engine is to be polled before the deletion.
	Poll bool
	// Lost is set for the creation of a frontend that its server lost: the message of the condition DeviceLost.
	Lost string
	// Target and Phase are set for a switch-over.
	Target TargetSpec
	Phase  string
	// CloseFirst repeats switching before promoting: a promoting whose failure was not reported may have opened the old target again.
	CloseFirst bool
	// Revert is set to switch back.
	Revert Revert
	// Out reports whether its node is out: the call has a shorter timeout, because nothing depends on its answer.
	Out bool
}

// Identity is equal for a call and its repetitions.
func (c Call) Identity() string {
	return strings.Join([]string{string(c.Op), c.InstanceManager, c.UUID, c.Target.Address(), c.Phase}, "/")
}

// BeginsSwitchOver reports whether nothing of the switch-over is on record before this call.
func (c Call) BeginsSwitchOver() bool { return c.Op == OpSwitchOver && c.Phase == phasePreparing }

// ClosesOldTarget reports whether the call is the first that closes the old target: what is not copied by then is lost with it.
func (c Call) ClosesOldTarget() bool { return c.Op == OpSwitchOver && c.Phase == phaseSwitching }

// Verdict is what follows from a World.
type Verdict struct {
	// Status is the object's new status.
	Status Status
	// Call is the call to send; before a creation and a deletion the same decision is repeated on uncached objects.
	Call Call
	// ExpectAbsence requests the list that may prove that Here lacks the name.
	ExpectAbsence bool
	// WantsCopy requests to add the replica's disk to the spec of its backing image, so that a copy is created there.
	WantsCopy bool
	// Reason is the reason of the verdict; Message is the text for users.
	Reason, Message string
	// At is when to decide again; zero means at the next change.
	At time.Time
	// Events are emitted once Status is written.
	Events []events.Event
}

// Reasons of verdicts: a closed list. They are the label of a metric and, if a person has to act, the reason of an event.
const (
	// ReasonDone: the instance is as its spec requires.
	ReasonDone = "Done"
	// ReasonCalling: a call is due.
	ReasonCalling = "Calling"
	// ReasonHeld: a server may still execute a deletion of the leader before this one.
	ReasonHeld = "Held"
	// ReasonBackoff: the last call failed, and the next one is not due.
	ReasonBackoff = "Backoff"
	// ReasonNoNode: the object names no node.
	ReasonNoNode = "NoNode"
	// ReasonNodeOut: the node is down or out of service.
	ReasonNodeOut = "NodeOut"
	// ReasonNoInstanceManager: none serves the node.
	ReasonNoInstanceManager = "NoInstanceManager"
	// ReasonManagerCannotStart: the one that serves the node does not run, and its pod cannot start.
	ReasonManagerCannotStart = v1beta2.ReasonInstanceManagerCannotStart
	// ReasonUnknown: there is no complete list of the instance manager.
	ReasonUnknown = "InventoryUnknown"
	// ReasonChanging: the instance is starting or ending.
	ReasonChanging = "Changing"
	// ReasonUnproven: the list lacks the instance, which is no proof yet.
	ReasonUnproven = "AbsenceNotProven"
	// ReasonDiskNotLoaded: a v2 replica is not listed, and its server has not loaded the disk that holds it.
	ReasonDiskNotLoaded = v1beta2.ReasonDiskNotLoaded
	// ReasonDeleting: the object is being deleted, and so nothing is started for it, unless it is the last copy of a volume's data.
	ReasonDeleting = "ObjectDeleting"
	// ReasonIncomplete: the spec lacks fields that a creation needs.
	ReasonIncomplete = v1beta2.ReasonSpecIncomplete
	// ReasonVolumeMissing: the Volume does not exist.
	ReasonVolumeMissing = v1beta2.ReasonVolumeMissing
	// ReasonImageUnknown: it is not known which flags the processes of the image accept.
	ReasonImageUnknown = v1beta2.ReasonEngineImageUnknown
	// ReasonImageNotDeployed: the binary of the image is not on the node.
	ReasonImageNotDeployed = v1beta2.ReasonEngineImageNotDeployed
	// ReasonWaitsForBackingImage: the copy of the backing image on the replica's disk is not ready.
	ReasonWaitsForBackingImage = v1beta2.ReasonWaiting
	// ReasonNoBackingImage: the backing image does not exist.
	ReasonNoBackingImage = v1beta2.ReasonGetBackingImageFailed
	// ReasonOtherLive: another engine or frontend of the volume may be live.
	ReasonOtherLive = "OtherEngineLive"
	// ReasonUnclaimedLive: an engine or frontend of the volume that has no object any more may be live.
	ReasonUnclaimedLive = v1beta2.ReasonInstanceWithoutObject
	// ReasonReplicaNotReady: a second engine may only start over replicas that the first one has in mode RW.
	ReasonReplicaNotReady = "ReplicaNotRW"
	// ReasonRediscovering: the server was just started and may not list all surviving instances yet.
	ReasonRediscovering = "Rediscovering"
	// ReasonNotCutOff: a replica on a node in service still runs, so the instance on the node that is out is not fenced.
	ReasonNotCutOff = "NotCutOff"
	// ReasonRefused: the server refused the creation several times in a row.
	ReasonRefused = v1beta2.ReasonStartRefused
	// ReasonTargetNotServing: the engine that a frontend is to switch over to does not serve.
	ReasonTargetNotServing = "TargetNotServing"
	// ReasonMoveRefused: the server refused a phase of the switch-over, and the retry is not due.
	ReasonMoveRefused = "MoveRefused"
	// ReasonSwitchoverUnsupported: no server supports a switch-over of this kind of frontend.
	ReasonSwitchoverUnsupported = v1beta2.ReasonSwitchoverUnsupported
	// ReasonSuspendUnsupported: no server supports a suspension of this kind of frontend.
	ReasonSuspendUnsupported = "SuspendUnsupported"
	// ReasonNodeBusy: a v2 disk is being loaded where a switch-over is about to begin.
	ReasonNodeBusy = v1beta2.ReasonNodeBusy
	// ReasonDataMissing: the disk has no data of a v2 replica that was complete.
	ReasonDataMissing = v1beta2.ReasonDataMissing
	// ReasonEngineRebuilding: the engine on record rebuilds a replica, which would lack writes through another engine.
	ReasonEngineRebuilding = v1beta2.ReasonEngineRebuilding
	// ReasonTargetUnknown: a switch-over is in progress, and whether the new target still serves is not known.
	ReasonTargetUnknown = v1beta2.ReasonTargetUnknown
	// ReasonSuspensionLost: the I/O of a frontend was suspended on request and is no longer, and there is no new request.
	ReasonSuspensionLost = "SuspensionLost"
	// ReasonLed: a frontend that is to run still leads to the engine that is to stop.
	ReasonLed = "FrontendLeadsHere"
	// ReasonLeftover: another node lists an earlier run of the instance, which another instance there still uses.
	ReasonLeftover = "LeftoverInUse"
	// ReasonFrontendLost: a live upgrade lost a frontend, which is created again.
	ReasonFrontendLost = "FrontendLost"
	// ReasonMissing: the instance was started and is proven absent.
	ReasonMissing = "InstanceMissing"
	// ReasonFailed: the server reports that the instance failed.
	ReasonFailed = "InstanceFailed"
)

// refused reports whether no instance is created until a person or controller removes the cause.
func refused(reason string) bool {
	switch reason {
	case ReasonIncomplete, ReasonVolumeMissing, ReasonDataMissing, ReasonImageUnknown, ReasonImageNotDeployed, ReasonRefused,
		ReasonManagerCannotStart, ReasonUnclaimedLive:
		return true
	}
	return false
}

// waitsForImage reports a reason for which a replica waits for its backing image.
func waitsForImage(reason string) bool {
	return reason == ReasonWaitsForBackingImage || reason == ReasonNoBackingImage
}

// keep leaves the status unchanged and sets the reason to wait.
func keep(w World, reason, message string) Verdict {
	return Verdict{Status: w.Status, Reason: reason, Message: message}
}

// in returns the verdict with another state in its status.
func (v Verdict) in(state string) Verdict {
	v.Status.State = state
	return v
}
