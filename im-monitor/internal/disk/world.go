// Package disk decides what Node.status.diskStatus reports about v2 disks, and which call loads a disk into the v2 instance manager of
// its node. v1 disks (type filesystem) belong to disk-controller and are never touched.
//
// A server keeps its disks in memory: after each start it knows none, and lists no replica on them. So each disk is loaded once in each
// run of the server. The UUID of a disk is that of its lvstore. It is recorded once, and from then on only that lvstore is loaded. A
// device of which no UUID is recorded is changed only because a person requests it (spec.disks.<key>.initialize).
package disk

import (
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/diskspace"
)

// Pauses until a disk is polled again.
const (
	// SoonPause follows a call and a question without an answer while the server is young; a disk is usually ready within seconds.
	SoonPause = 2 * time.Second
	// LatePause is that of a question that continues without an answer.
	LatePause = 30 * time.Second
	// soon is how long after an attempt the short pauses last.
	soon = time.Minute
)

// World is everything that the decision about one node's disks is made from.
type World struct {
	Now  time.Time
	Node string
	// NodeNotReady is why the condition Ready of the Node is False; empty where it is not.
	NodeNotReady string
	// Specs and Status are Node.spec.disks and Node.status.diskStatus.
	Specs  map[string]v1beta2.DiskSpec
	Status map[string]v1beta2.DiskStatus
	// Server is the node's running v2 instance manager; nil where there is none that answers.
	Server *Server
	// NoManager reports whether the node has no v2 instance manager at all.
	NoManager bool
	// Replicas are those of the node, as far as they name a disk or a path there.
	Replicas []Replica
	// Elsewhere are replicas of other nodes that name a disk of this node by its UUID.
	Elsewhere []Claim
	// Pressure are the settings that decide whether a disk is too full.
	Pressure diskspace.Limits
	// Settle is how long a disk must have been ready before a list of its replicas counts.
	Settle time.Duration
	// CallTimeout is how long a server may work on a call whose caller is gone, and so how long an attempt without an answer is waited for.
	CallTimeout time.Duration
	// RetryMin and RetryMax bound the time between two attempts to load a disk that the server reports in error.
	RetryMin, RetryMax time.Duration
}

// Server is one run of an instance manager's server.
type Server struct {
	// Name is that of the InstanceManager, Run what DiskLoad.Server is for it.
	Name, Run string
	// Answers are what it reported about the disks, by key. A disk that is missing here was not asked about.
	Answers map[string]Answer
	// InUse are the UUIDs of disks that have running replicas in the server's latest list; nil is unknown.
	InUse map[string]bool
	// Listed is when the server's latest whole list began; zero is never.
	Listed time.Time
	// Contents are the replicas that were listed on a disk, by key, once that list is complete.
	Contents map[string][]string
}

// Answer is what a server reported about a disk.
type Answer struct {
	// Failed is why there is no answer; empty where there is one.
	Failed string
	// Vanished reports that Failed reports that the device vanished while it was loaded.
	Vanished bool
	// Unknown is true where the server's map lacks the disk.
	Unknown bool
	// State, UUID, Name, Driver and Path are the server's words; Name is that of the lvstore, Path that of the device, or "".
	State, UUID, Name, Driver, Path string
	TotalBytes, FreeBytes           int64
}

// Replica is what counts of a Replica for the disks of its node.
type Replica struct {
	Name, DiskID, DiskPath string
	// Bytes is spec.volumeSize.
	Bytes int64
}

// Claim is a Replica of another node that names the UUID of a disk of this node.
type Claim struct{ Name, Node, DiskID string }

// Op is a call about a disk.
type Op string

// The calls.
const (
	OpCreate Op = "DiskCreate"
	OpDelete Op = "DiskDelete"
	// OpReload is DiskDelete and then DiskCreate.
	OpReload Op = "Reload"
)

// Call is what is due for one disk, after its status was written.
type Call struct {
	Key string
	Op  Op
	// Path, UUID and Driver are sent; DeleteDriver in the DiskDelete of a reload.
	Path, UUID, Driver, DeleteDriver string
}

// Verdict is what is written and called for one node.
type Verdict struct {
	// Changes are the entries of diskStatus that differ; a nil one is to be removed, after the call about it.
	Changes map[string]*v1beta2.DiskStatus
	Calls   []Call
	// List are the keys of disks whose replicas are to be listed.
	List []string
	// Relist asks for a whole list of the server: it sends no notice of the replicas that a disk brought.
	Relist bool
	// After is when to decide again; zero is at the next poll.
	After time.Duration
}

// isPCI reports whether a path is a PCI address.
func isPCI(path string) bool { return !strings.HasPrefix(path, "/") && strings.Count(path, ":") == 2 }

// exact reports whether a driver is one that DiskGet and DiskDelete accept.
func exact(driver string) bool { return driver != "" && driver != "auto" }

// CreateDriver is the driver that DiskCreate is called with: the recorded one, else what the path makes certain. Only the server can find
// out which driver fits a PCI address.
func CreateDriver(spec v1beta2.DiskSpec, status v1beta2.DiskStatus) string {
	switch {
	case exact(status.DiskDriver):
		return status.DiskDriver
	case exact(spec.DiskDriver):
		return spec.DiskDriver
	case isPCI(spec.Path):
		return "auto"
	}
	return "aio"
}

// QueryDriver is the driver that DiskGet is called with: an exact one, or none.
func QueryDriver(spec v1beta2.DiskSpec, status v1beta2.DiskStatus) string {
	if driver := CreateDriver(spec, status); exact(driver) {
		return driver
	}
	return ""
}

// deleteDriver is the driver that DiskDelete is called with. A disk whose driver the server did not even find needs one, too.
func deleteDriver(spec v1beta2.DiskSpec, status v1beta2.DiskStatus) string {
	if driver := QueryDriver(spec, status); driver != "" {
		return driver
	}
	return "nvme"
}
