package orphan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Key identifies the subject of an evaluation: one instance name on one instance manager.
type Key struct{ InstanceManager, Name string }

// World is everything that is known about one Key. Nil means absent, except for Inventory, where nil means unknown.
type World struct {
	Now time.Time
	Key Key
	// Manager is the InstanceManager object.
	Manager *Manager
	// Node is the Longhorn Node of the instance manager.
	Node *Node
	// Inventory is the latest complete list of the present epoch; nil is unknown, which is not empty.
	Inventory *Inventory
	// Duplicate is another instance manager whose newest list has an instance of this name and UUID, too; "" when none has.
	Duplicate string
	// MayUse is an engine of the volume that runs although no object shows that it does, and that may use this v1 replica; "" when none.
	MayUse string
	// Engine and Replica are the objects that carry the instance's name.
	Engine, Replica *Claim
	// Orphans are the instance Orphans about this key, in any order.
	Orphans []Orphan
	// Rules are the waiting times of the absence rule.
	Rules Rules
}

// Rules are the waiting times of the absence rule.
type Rules struct {
	// AbsenceGap is how far apart two lists must be that lack an instance.
	AbsenceGap time.Duration
	// V2Settle is how old a v2 epoch must be before a list of it proves that something is absent or stopped.
	V2Settle time.Duration
}

// Manager is the part of an InstanceManager that is read.
type Manager struct{ Node, DataEngine string }

// Node is the part of a Longhorn Node that is read.
type Node struct {
	// Down is true on positive evidence only.
	Down     bool
	Deleting bool
	// Evicting is true while eviction is requested for the node.
	Evicting bool
	// Disks are its block disks, by name.
	Disks []Disk
}

// Inventory is the part of one complete list of an instance manager that concerns the key.
type Inventory struct {
	// Began is when the list was requested, EpochSince when its connection epoch began.
	Began, EpochSince time.Time
	// Instance is the entry of the key's name; nil means the list lacks it.
	Instance *Instance
}

// Instance is one entry of an inventory.
type Instance struct {
	// Type is engine, replica or engine-frontend; v1 servers guess it from the name.
	Type string
	// State is the state as the data plane reports it.
	State string
	// UUID is the runtime's identity, "" where no source reports one; UUIDSource is the source.
	UUID       string
	UUIDSource UUIDSource
	// DiskUUID is the lvstore of a v2 replica, "" when unknown.
	DiskUUID string
}

// UUIDSource reports where an instance's UUID was read.
type UUIDSource string

// The sources of a UUID.
const (
	SourceInstanceStatus UUIDSource = "InstanceStatus"
	SourceHeadLvol       UUIDSource = "HeadLvol"
)

// Claim is the part of the Engine or Replica with an instance's name that is read.
type Claim struct {
	Deleting                                             bool
	DesireState, CurrentState                            string
	NodeID, OwnerID, InstanceManager, DiskID, VolumeName string
	// Address is the storage address (ip:port) of the runtime that the object runs; "" when none.
	Address string
}

// Orphan is the part of an Orphan that is read.
type Orphan struct {
	Name                          string
	OrphanType, DataEngine, Node  string
	InstanceName, InstanceManager string
	UUID                          string
	Deleting                      bool
	// DeletionSeen is when this process first saw that it is being deleted, by its own clock.
	DeletionSeen time.Time
	// ByHand reports a person's word that it is to be deleted although a policy holds back, ByHandCommand is how to give it.
	ByHand        bool
	ByHandCommand string
	// GivenUp reports that a person recorded exactly this Orphan as given up.
	GivenUp bool
	OwnerID string
	// Conditions are all conditions, those of others included.
	Conditions []v1beta2.Condition
	// DiskUUID is that of a replica's disk; "" is unknown.
	DiskUUID string
	// Data is set on an Orphan of replica data; InstanceName is the name of the data then, and UUID is empty.
	Data *Data
	// Unloaded are the disks that the instance manager has not loaded and that may hold the replica of a v2 orphan.
	Unloaded []string
	// Absent is true when the lists prove that this instance, by name and UUID, is absent.
	Absent bool
	// FencingDelayed is true while an earlier leader's call may still be executed: the orphan is neither executed nor written.
	FencingDelayed bool
	// Failure is the outcome of this process's last attempt to delete the instance; nil without an attempt.
	Failure *Failure
}

// Failure is the outcome of an attempt: a reason of CleanupFailed and its message, or empty after a success.
type Failure struct{ Reason, Message string }

// claim returns the object with the instance's name: that of its type, else the other one, because a v1 server guesses the
// type from the name and may be wrong.
func (w World) claim() *Claim {
	first, second := w.Replica, w.Engine
	if w.Inventory != nil && w.Inventory.Instance != nil && w.Inventory.Instance.Type == v1beta2.InstanceTypeEngine {
		first, second = second, first
	}
	if first != nil {
		return first
	}
	return second
}

func (w World) isV2() bool { return w.Manager != nil && w.Manager.DataEngine == v1beta2.DataEngineV2 }

func (w World) dataEngine() string {
	if w.isV2() {
		return v1beta2.DataEngineV2
	}
	return v1beta2.DataEngineV1
}
