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

// Revert closes the target that a frontend must not use, and then opens the other one. Both open at once would be two engines that write.
type Revert struct {
	// Close and Open name engines, CloseAt and OpenAt their instance managers. Open is empty where the old target does not serve.
	Close, CloseAt, Open, OpenAt string
	// Harmless reports that the first one need not answer: it is gone, or no path leads to it any more.
	Harmless bool
}

// Call is the one thing to ask an instance manager for now.
type Call struct {
	Op              Op
	InstanceManager string
	// Ahead is the status to be written before a creation or a phase of a switch-over is sent, Accepted the switch-over once it was
	// accepted.
	Ahead    Status
	Accepted Switchover
	// Create is set for a creation.
	Create *Creation
	// UUID, DiskUUID, Cleanup and ByName are a deletion's. ByName: there is no UUID to send, and the object claims the name there.
	UUID, DiskUUID  string
	Cleanup, ByName bool
	// Poll reports whether a running engine is to be looked at before the deletion.
	Poll bool
	// Lost is set for the creation of a frontend that its server lost: what people are reported.
	Lost string
	// Target and Phase are a switch-over's.
	Target TargetSpec
	Phase  string
	// CloseFirst has switching repeated before promoting: a promoting that failed unseen may have opened the old target again.
	CloseFirst bool
	// Revert is the way back of a switch-over.
	Revert Revert
	// Out reports whether its node is out: the answer is not waited for as long, because nothing depends on it.
	Out bool
}

// Identity is the same for calls of which the later one is a repetition.
func (c Call) Identity() string {
	return strings.Join([]string{string(c.Op), c.InstanceManager, c.UUID, c.Target.Address(), c.Phase}, "/")
}

// Verdict is what follows from a World.
type Verdict struct {
	// Status is what the object's status must report.
	Status Status
	// Call is what to do beside it; before a creation and a deletion the same decision is made again on uncached objects.
	Call Call
	// ExpectAbsence asks for the list that may prove that Here lacks the name.
	ExpectAbsence bool
	// WantsCopy asks for the replica's disk to be named in the spec of its backing image, so that a copy is brought there.
	WantsCopy bool
	// Reason is one word on what is waited for or done; Message reports it to people.
	Reason, Message string
	// At is when to decide again; zero means when something changes.
	At time.Time
	// Events are reported once Status is written.
	Events []events.Event
}

// Reasons of verdicts: a closed list, the label of a metric and, for those that need people, the reason of an event.
const (
	// ReasonDone: the instance is as wanted.
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
	// ReasonUnknown: there is no whole list of the instance manager.
	ReasonUnknown = "InventoryUnknown"
	// ReasonChanging: the instance is starting or ending.
	ReasonChanging = "Changing"
	// ReasonUnproven: the list lacks it, which is not proof yet.
	ReasonUnproven = "AbsenceNotProven"
	// ReasonDiskNotLoaded: a v2 replica is not listed, and its server has not loaded the disk that holds it.
	ReasonDiskNotLoaded = v1beta2.ReasonDiskNotLoaded
	// ReasonDeleting: the object is being deleted, and so nothing is started for it.
	ReasonDeleting = "ObjectDeleting"
	// ReasonIncomplete: the spec lacks what a creation needs.
	ReasonIncomplete = v1beta2.ReasonSpecIncomplete
	// ReasonVolumeMissing: the Volume does not exist.
	ReasonVolumeMissing = v1beta2.ReasonVolumeMissing
	// ReasonImageUnknown: no one knows which flags the processes of the image understand.
	ReasonImageUnknown = v1beta2.ReasonEngineImageUnknown
	// ReasonImageNotDeployed: the binary of the image is not on the node.
	ReasonImageNotDeployed = v1beta2.ReasonEngineImageNotDeployed
	// ReasonWaitsForBackingImage: the copy of the backing image on the replica's disk is not ready.
	ReasonWaitsForBackingImage = v1beta2.ReasonWaiting
	// ReasonNoBackingImage: the backing image does not exist.
	ReasonNoBackingImage = v1beta2.ReasonGetBackingImageFailed
	// ReasonOtherLive: another engine or frontend of the volume may be live.
	ReasonOtherLive = "OtherEngineLive"
	// ReasonReplicaNotReady: a second engine may only start over replicas that the first one has in mode RW.
	ReasonReplicaNotReady = "ReplicaNotRW"
	// ReasonRediscovering: the server may not list all that outlived its start.
	ReasonRediscovering = "Rediscovering"
	// ReasonNotCutOff: a replica on a node in service still runs, so what ran on the node that is out is not partitioned.
	ReasonNotCutOff = "NotCutOff"
	// ReasonRefused: the server declined again and again to create it.
	ReasonRefused = v1beta2.ReasonStartRefused
	// ReasonTargetNotServing: the engine that a frontend must move to does not serve.
	ReasonTargetNotServing = "TargetNotServing"
	// ReasonMoveRefused: the server declined a phase of the move to another engine a moment ago.
	ReasonMoveRefused = "MoveRefused"
	// ReasonSwitchoverUnsupported: the frontend is of a kind that no server switches over.
	ReasonSwitchoverUnsupported = v1beta2.ReasonSwitchoverUnsupported
	// ReasonSuspendUnsupported: the frontend is of a kind that no server suspends.
	ReasonSuspendUnsupported = "SuspendUnsupported"
	// ReasonNodeBusy: a v2 disk is being loaded where a switch-over is about to begin.
	ReasonNodeBusy = v1beta2.ReasonNodeBusy
	// ReasonDataMissing: the disk has nothing of a v2 replica that was whole.
	ReasonDataMissing = v1beta2.ReasonDataMissing
	// ReasonEngineRebuilding: the engine on record copies to a replica, which would lack what is written through another engine.
	ReasonEngineRebuilding = v1beta2.ReasonEngineRebuilding
	// ReasonTargetUnknown: a switch-over is half done, and whether the new target still serves is not known.
	ReasonTargetUnknown = v1beta2.ReasonTargetUnknown
	// ReasonSuspensionLost: a frontend that held I/O as asked does not hold it any more, and no one asked it again.
	ReasonSuspensionLost = "SuspensionLost"
	// ReasonLed: a frontend that must run still leads to the engine that must stop.
	ReasonLed = "FrontendLeadsHere"
	// ReasonLeftover: another node lists an earlier run of it, which something there still uses.
	ReasonLeftover = "LeftoverInUse"
	// ReasonFrontendLost: a live upgrade lost a frontend, which is created again.
	ReasonFrontendLost = "FrontendLost"
	// ReasonMissing: it was started and is proven gone.
	ReasonMissing = "InstanceMissing"
	// ReasonFailed: its server reports that it failed.
	ReasonFailed = "InstanceFailed"
)

// refused reports a reason for which no instance is created until somebody changes something.
func refused(reason string) bool {
	switch reason {
	case ReasonIncomplete, ReasonVolumeMissing, ReasonDataMissing, ReasonImageUnknown, ReasonImageNotDeployed, ReasonRefused,
		ReasonManagerCannotStart:
		return true
	}
	return false
}

// waitsForImage reports a reason for which a replica waits for its backing image.
func waitsForImage(reason string) bool {
	return reason == ReasonWaitsForBackingImage || reason == ReasonNoBackingImage
}

// keep leaves the status and reports what is waited for.
func keep(w World, reason, message string) Verdict {
	return Verdict{Status: w.Status, Reason: reason, Message: message}
}

// in returns the verdict with another state in its status.
func (v Verdict) in(state string) Verdict {
	v.Status.State = state
	return v
}
