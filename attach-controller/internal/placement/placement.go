// Package placement finds a disk for a new replica: pure filters one after the other, and an order among the remaining disks. It has no
// client and no state.
//
//	usable node → node tags → usable disk → disk tags → space → apart from the volume's other replicas → the best
package placement

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Kinds of disks: filesystem disks serve v1 only, block disks v2 only.
const (
	diskFilesystem = "filesystem"
	diskBlock      = "block"
)

// Request is what a replica needs.
type Request struct {
	DataEngine string
	Size       int64
	// Data is how many bytes are copied to the new replica at once: the volume's snapshots and its head.
	Data         int64
	NodeSelector []string
	DiskSelector []string
	// OnlyNode is the only node allowed; empty is any.
	OnlyNode string
	// PreferNode wins over every other node, unless a replica of the volume is there already.
	PreferNode string
	// NodeSoft, ZoneSoft and DiskSoft let a replica share a node, zone or disk with another one of its volume if nothing better is left.
	NodeSoft, ZoneSoft, DiskSoft bool
	// Taken are where the volume's other replicas are.
	Taken []Place
	// OverProvisioning and MinimalAvailable are percentages of a disk.
	OverProvisioning, MinimalAvailable int
	// HonourCordon excludes cordoned nodes.
	HonourCordon bool
}

// Place is the node, zone and disk of a replica. Node and UUID together identify a disk: a copy of a device has the same UUID.
type Place struct {
	Node, Zone, DiskUUID string
	// Leaves reports whether the replica is removed once another replica has its data. Its node, zone and disk then count as free, though a
	// place on another node is preferred.
	Leaves bool
}

// Node is a candidate.
type Node struct {
	*v1beta2.Node
	// HasManager reports whether an instance manager of the data engine runs there.
	HasManager bool
	// LacksImage reports that the EngineImage of a v1 volume shows no ready pod there: its processes would not start.
	LacksImage bool
	// Scheduled is how many bytes replicas were promised, Copied how many are being copied to replicas that are rebuilt, by the UUID of the
	// disk.
	Scheduled, Copied map[string]int64
}

// Disk is the place that was found.
type Disk struct {
	Node, Zone, UUID, Path string
}

// Find returns the best disk, or nil and why there is none.
func Find(r Request, nodes []Node) (*Disk, Refusal) {
	s := &search{Request: r}
	var found []option
	for _, n := range nodes {
		found = append(found, s.disksOf(n)...)
	}
	if len(found) == 0 {
		return nil, s.refusal(len(nodes))
	}
	best := slices.MinFunc(found, s.order).Disk
	return &best, Refusal{}
}

// search is the state of one Find: it counts why candidates were refused.
type search struct {
	Request
	counts [stages]int
	names  [stages][]string
	lacks  int64
	copied bool // to a disk that lacks space
}

type option struct {
	Disk
	sharedNode, sharedZone, sharedDisk bool
	replicas                           int
	free                               int64
}

func (s *search) disksOf(n Node) []option {
	if s.OnlyNode != "" && n.Name != s.OnlyNode {
		s.refuse(stageOnlyNode, n.Name)
		return nil
	}
	if stage := s.nodeRefused(n); stage != fits {
		s.refuse(stage, n.Name)
		return nil
	}
	var out []option
	others := 0
	for _, key := range slices.Sorted(maps.Keys(n.Spec.Disks)) {
		switch o, stage := s.disk(n, key); stage {
		case fits:
			out = append(out, o)
		case stageOtherEngine:
			others++
		default:
			s.refuse(stage, n.Name+"/"+key)
		}
	}
	if others == len(n.Spec.Disks) {
		s.refuse(stageOtherEngine, n.Name)
	}
	return out
}

// nodeRefused returns why the node takes no replica.
func (s *search) nodeRefused(n Node) stage {
	switch ready := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); {
	case n.DeletionTimestamp != nil, ready == nil, ready.Status != v1beta2.ConditionTrue:
		return stageNotReady
	}
	switch {
	case !n.Spec.AllowScheduling:
		return stageNotAllowed
	case n.Spec.EvictionRequested || n.Status.AutoEvicting:
		return stageEvicting
	case n.Spec.UpgradeRequested:
		return stageUpgrading
	case s.HonourCordon && conditions.IsFalse(n.Status.Conditions, v1beta2.NodeSchedulable):
		return stageCordoned
	case !n.HasManager:
		return stageNoManager
	case n.LacksImage:
		return stageNoImage
	case !hasAll(n.Spec.Tags, s.NodeSelector):
		return stageNodeTags
	}
	return fits
}

// disk reports whether one disk of a usable node is suitable.
func (s *search) disk(n Node, key string) (option, stage) {
	spec, status := n.Spec.Disks[key], n.Status.DiskStatus[key]
	if stage := s.diskRefused(spec, status); stage != fits {
		return option{}, stage
	}
	scheduled, copied := n.Scheduled[status.DiskUUID], n.Copied[status.DiskUUID]
	if lacks := s.lacking(spec, status, scheduled, copied); lacks > 0 {
		s.copied = s.copied || copied > 0
		if s.lacks == 0 || lacks < s.lacks {
			s.lacks = lacks
		}
		return option{}, stageSpace
	}
	o := option{Disk: Disk{Node: n.Name, Zone: n.Status.Zone, UUID: status.DiskUUID, Path: cmp.Or(spec.Path, status.DiskPath)},
		free: status.StorageMaximum - spec.StorageReserved - scheduled}
	o.share(s.Taken)
	if o.sharedNode && !s.NodeSoft || o.sharedZone && !s.ZoneSoft || o.sharedDisk && !s.DiskSoft {
		return option{}, stageAffinity
	}
	return o, fits
}

// diskRefused returns why the disk takes no replica of the request, whatever its size and wherever the others are.
func (s *search) diskRefused(spec v1beta2.DiskSpec, status v1beta2.DiskStatus) stage {
	wanted := diskFilesystem
	if s.DataEngine == v1beta2.DataEngineV2 {
		wanted = diskBlock
	}
	switch kind := cmp.Or(spec.DiskType, diskFilesystem); {
	case kind != wanted:
		return stageOtherEngine
	case !spec.AllowScheduling || spec.EvictionRequested:
		return stageDiskNotAllowed
	case status.DiskUUID == "" || !conditions.IsTrue(status.Conditions, v1beta2.DiskSchedulable):
		return stageDiskNotReady
	case !hasAll(spec.Tags, s.DiskSelector):
		return stageDiskTags
	}
	return fits
}

// share records whether the disk, its node or its zone has another replica of the volume that stays, and counts the replicas on the node.
func (o *option) share(taken []Place) {
	for _, t := range taken {
		if t.Node == o.Node {
			o.replicas++
		}
		if t.Leaves {
			continue
		}
		o.sharedNode = o.sharedNode || t.Node == o.Node
		o.sharedZone = o.sharedZone || t.Zone == o.Zone && t.Zone != ""
		o.sharedDisk = o.sharedDisk || t.Node == o.Node && t.DiskUUID == o.UUID
	}
}

// Lacks is how many bytes the disk of that UUID has too few for the request, apart from all other filters. It is unknown for a disk that
// is not ready, or that the node does not have.
func Lacks(r Request, n Node, uuid string) (lacks int64, known bool) {
	s := &search{Request: r}
	for key, status := range n.Status.DiskStatus {
		if status.DiskUUID == uuid && uuid != "" && !conditions.IsFalse(status.Conditions, v1beta2.DiskReady) {
			return s.lacking(n.Spec.Disks[key], status, n.Scheduled[uuid], n.Copied[uuid]), true
		}
	}
	return 0, false
}

// lacking returns how many bytes the disk has too few. Data that is being copied to it counts until the copy ends, also the part that the
// disk has already: the last measurement does not show how much that is.
func (s *search) lacking(spec v1beta2.DiskSpec, status v1beta2.DiskStatus, scheduled, copied int64) int64 {
	floor := percent(status.StorageMaximum, s.MinimalAvailable)
	free := status.StorageAvailable - floor - copied - s.Data
	budget := percent(status.StorageMaximum-spec.StorageReserved, s.OverProvisioning) - scheduled - s.Size
	switch {
	case budget < 0:
		return -budget
	case free <= 0:
		return 1 - free
	}
	return 0
}

func percent(n int64, of int) int64 {
	return n/100*int64(of) + n%100*int64(of)/100
}

// order prefers what shares least with the volume's other replicas, then the preferred node, then the most room.
func (s *search) order(a, b option) int {
	prefers := func(o option) bool { return s.PreferNode != "" && o.Node == s.PreferNode && !o.sharedNode }
	return cmp.Or(
		no(prefers(b), prefers(a)),
		no(a.sharedNode, b.sharedNode), no(a.sharedZone, b.sharedZone), no(a.sharedDisk, b.sharedDisk),
		cmp.Compare(a.replicas, b.replicas), cmp.Compare(b.free, a.free),
		strings.Compare(a.Node, b.Node), strings.Compare(a.UUID, b.UUID),
	)
}

// no puts false before true.
func no(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func hasAll(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}
