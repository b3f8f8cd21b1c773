// Package disk decides what Node.status.diskStatus says about v2 disks: what the node's instance manager answered, and
// when that does not count. v1 disks (type filesystem) are a node agent's and are never touched.
//
// A disk's UUID is that of its lvstore; replicas name it. It is taken over once. A server that later tells another one
// speaks of another disk: then the disk is not ready, and the UUID stays.
package disk

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// TypeBlock is the type of v2 disks.
const TypeBlock = "block"

// World is everything that the decision about one node's disks is made from.
type World struct {
	Now time.Time
	// Specs and Status are Node.spec.disks and Node.status.diskStatus.
	Specs  map[string]v1beta2.DiskSpec
	Status map[string]v1beta2.DiskStatus
	// InstanceManager is the node's running v2 instance manager, "" where there is none.
	InstanceManager string
	// Answers are what it said, by disk; a disk that is missing here was not answered for.
	Answers map[string]Answer
}

// Answer is what an instance manager said about a disk.
type Answer struct {
	// Found is false where it does not have the disk.
	Found                 bool
	UUID, Driver          string
	TotalBytes, FreeBytes int64
}

// Decide returns the entries of diskStatus that differ; a nil one is to be removed.
func Decide(w World) map[string]*v1beta2.DiskStatus {
	changes := map[string]*v1beta2.DiskStatus{}
	for name, spec := range w.Specs {
		if spec.DiskType != TypeBlock {
			continue
		}
		old, known := w.Status[name]
		if wanted := status(w, name, spec, old); !known || !same(old, wanted) {
			changes[name] = &wanted
		}
	}
	for name, old := range w.Status {
		if _, kept := w.Specs[name]; !kept && old.DiskType == TypeBlock {
			changes[name] = nil
		}
	}
	return changes
}

func status(w World, name string, spec v1beta2.DiskSpec, old v1beta2.DiskStatus) v1beta2.DiskStatus {
	out := old
	out.DiskName, out.DiskPath, out.DiskType = name, spec.Path, TypeBlock
	answer, answered := w.Answers[name]
	ready := v1beta2.Condition{Type: v1beta2.DiskReady, Status: v1beta2.ConditionFalse}
	switch {
	case !answered:
		// What was known stays: silence says nothing about the disk.
		ready.Reason, ready.Message = v1beta2.ReasonNoDiskInfo, fmt.Sprintf("No v2 instance manager answers for disk %s; see the node's InstanceManagers.", name)
	case !answer.Found:
		ready.Reason, ready.Message = v1beta2.ReasonNoDiskInfo, fmt.Sprintf("The instance manager %s does not have disk %s at %s: check the path and the driver.", w.InstanceManager, name, spec.Path)
	case old.DiskUUID != "" && answer.UUID != old.DiskUUID:
		ready.Reason, ready.Message = v1beta2.ReasonDiskFilesystemChanged, fmt.Sprintf("Disk %s at %s has UUID %q, replicas were placed on %s: put the old disk back, or remove this one and add it anew.", name, spec.Path, answer.UUID, old.DiskUUID)
	default:
		ready.Status, ready.Reason, ready.Message = v1beta2.ConditionTrue, v1beta2.ReasonDiskReady, fmt.Sprintf("Disk %s is there.", name)
		out.DiskUUID, out.DiskDriver, out.InstanceManagerName = answer.UUID, answer.Driver, w.InstanceManager
		out.StorageMaximum, out.StorageAvailable = answer.TotalBytes, answer.FreeBytes
	}
	out.Conditions = conditions.Owned(old.Conditions, v1beta2.DiskReady, v1beta2.DiskSchedulable)
	out.Conditions = conditions.Set(out.Conditions, ready, w.Now)
	out.Conditions = conditions.Set(out.Conditions, schedulable(name, ready), w.Now)
	return out
}

func schedulable(name string, ready v1beta2.Condition) v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable,
		Message: fmt.Sprintf("Replicas may be placed on disk %s as far as its space allows.", name)}
	if ready.Status != v1beta2.ConditionTrue {
		c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, v1beta2.ReasonDiskNotReady, ready.Message
	}
	return c
}

func same(a, b v1beta2.DiskStatus) bool {
	return a.DiskUUID == b.DiskUUID && a.DiskName == b.DiskName && a.DiskPath == b.DiskPath && a.DiskType == b.DiskType &&
		a.DiskDriver == b.DiskDriver && a.InstanceManagerName == b.InstanceManagerName &&
		a.StorageMaximum == b.StorageMaximum && a.StorageAvailable == b.StorageAvailable &&
		conditions.Equal(a.Conditions, b.Conditions)
}
