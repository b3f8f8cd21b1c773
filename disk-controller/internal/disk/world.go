// Package disk decides what Node.status.diskStatus reports about the v1 disks of one node, and which directories become disks. A v1 disk
// is a directory with a configuration file that holds the disk's UUID. The UUID is recorded once; from then on the directory counts as the
// disk only while it has that file. v2 disks (type block) belong to im-monitor and are never touched.
package disk

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/diskspace"
)

// World is everything that the decision about one node's disks is made from.
type World struct {
	Now  time.Time
	Node string
	// NodeNotReady is why the condition Ready of the Node is False; empty if it is not.
	NodeNotReady string
	// Specs and Status are Node.spec.disks and Node.status.diskStatus.
	Specs  map[string]v1beta2.DiskSpec
	Status map[string]v1beta2.DiskStatus
	// Sights describe the directories of the v1 disks, by key.
	Sights map[string]Sight
	// Replicas are the replicas of the node, Images the backing images of the cluster.
	Replicas []Replica
	Images   []Image
	// Elsewhere are the disks of other nodes, by UUID, each as "disk a of node b". It is nil until it was read: a UUID that no status of this
	// node has is recorded only if it is known that no other node has it.
	Elsewhere map[string]string
	Pressure  diskspace.Limits
}

// Sight describes the directory of one disk.
type Sight struct {
	// Problem is why the directory could not be looked at; "" if it could.
	Problem string
	// UUID is the UUID in its configuration file; "" if it has none. Unreadable is why its file cannot be used.
	UUID, Unreadable string
	// HasReplicas reports whether it holds directories of replicas.
	HasReplicas bool
	// ReadOnly reports whether its file system is mounted read-only.
	ReadOnly bool
	// Filesystem identifies the file system, Type is its type.
	Filesystem, Type string
	// Maximum and Available are bytes.
	Maximum, Available int64
}

// Replica is the part of a Replica that counts for the disks of its node.
type Replica struct {
	Name, DiskID string
	// Bytes is spec.volumeSize.
	Bytes int64
}

// Image is the part of a BackingImage that counts: its size, and the UUIDs of the disks that it is to be on.
type Image struct {
	Name  string
	Disks []string
	Bytes int64
}

// Verdict has the changes and the preparations for one node.
type Verdict struct {
	// Changes are the entries of diskStatus that differ; a nil entry is to be removed.
	Changes map[string]*v1beta2.DiskStatus
	// Prepare are the keys of the disks whose directory is to get a configuration file.
	Prepare []string
	// AskElsewhere asks for World.Elsewhere.
	AskElsewhere bool
}
