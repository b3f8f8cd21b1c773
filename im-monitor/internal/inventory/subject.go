package inventory

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Subject is an instance whose absence is asked for.
type Subject struct {
	InstanceManager, Name string
	// UUID is the one that it had; "" is unknown.
	UUID string
	// Type is its type. What is not positively an engine or an engine-frontend is treated as a replica.
	Type string
	// DiskUUID is that of the lvstore of a v2 replica; "" is unknown, and then every block disk of the node counts.
	DiskUUID string
	// Since is when the absence began to matter: lists that began before it prove nothing. Zero is the first question of a v2 replica, and
	// any time of others.
	Since time.Time
}

// onDisk reports whether the instance's data lies on a disk that its server has to load before a list may show it.
func (s Subject) onDisk() bool { return onDisk(s.Type) }

func onDisk(instanceType string) bool {
	return instanceType != v1beta2.InstanceTypeEngine && instanceType != v1beta2.InstanceTypeEngineFrontend
}

// NodeDisk is a block disk as its Node records it.
type NodeDisk struct {
	// Name is the key in Node.spec.disks, Path the device, Driver the exact driver or "".
	Name, Path, Driver string
	// UUID is that of the lvstore; "" is not recorded yet.
	UUID string
}

// required are the disks that must be loaded before a list proves that a replica is absent: its own one, or all where its disk is not
// known. A disk without a recorded UUID may be the one. A disk that the node does not have any more is not waited for.
func required(disks []NodeDisk, uuid string) []NodeDisk {
	if uuid == "" {
		return disks
	}
	var unrecorded []NodeDisk
	for _, d := range disks {
		switch d.UUID {
		case uuid:
			return []NodeDisk{d}
		case "":
			unrecorded = append(unrecorded, d)
		}
	}
	return unrecorded
}
