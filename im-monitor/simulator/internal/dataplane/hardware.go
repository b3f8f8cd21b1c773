package dataplane

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Kinds of devices: a block device, a file that somebody took for one, and what the kernel reports of a PCI address.
const (
	KindBlock      = "block"
	KindFile       = "file"
	KindNVMe       = "nvme"
	KindVirtioBlk  = "virtio-blk"
	KindVirtioSCSI = "virtio-scsi"
)

// hardware is a device of a node. It outlives servers.
type hardware struct {
	node              *node
	path, kind        string
	number            string // major-minor of a block device
	total             int64
	absent            bool
	bound             bool   // taken from its kernel driver by a server, until DiskDelete or a reboot
	filesystem, bytes string // what blkid shows, and the content beside an lvstore
	lvstore           *lvstore
}

// lvstore is what makes a device a v2 disk, with the replicas' data on it.
type lvstore struct {
	name, uuid string
	lvols      map[string]*Lvol
}

// Lvstore is an lvstore as tests and people put it on a device, and as they read it.
type Lvstore struct {
	Name string `json:"name"`
	UUID string `json:"uuid"`
	// Replicas are the sizes in bytes of the replicas on it, by name.
	Replicas map[string]uint64 `json:"replicas,omitempty"`
}

// Device is a device of a node with its content.
type Device struct {
	Node string `json:"node"`
	// Path is a device path or a PCI address.
	Path string `json:"path"`
	// Kind is block, file, nvme, virtio-blk or virtio-scsi; empty means block.
	Kind  string `json:"kind,omitempty"`
	Total int64  `json:"total,omitempty"`
	// Absent devices have not appeared, or are pulled out; their content stays.
	Absent bool `json:"absent,omitempty"`
	// Filesystem is what blkid finds, such as ext4 or gpt.
	Filesystem string   `json:"filesystem,omitempty"`
	Lvstore    *Lvstore `json:"lvstore,omitempty"`
	// Digest is that of all bytes of the device; it is only read.
	Digest string `json:"digest,omitempty"`
}

// DefaultDeviceBytes is the size of a device that no one gave a size.
const DefaultDeviceBytes = int64(1) << 40

// AddDevice puts a device into a node, in the place of one that has the same path.
func (p *Plane) AddDevice(d Device) (Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.Node == "" || d.Path == "" {
		return Device{}, refuse(InvalidArgument, "a device needs a node and a path")
	}
	if d.Filesystem != "" && d.Lvstore != nil {
		return Device{}, refuse(InvalidArgument, "a device holds a filesystem or an lvstore, not both")
	}
	n := p.nodeOf(d.Node)
	if old := n.devices[d.Path]; old != nil {
		p.pullOut(old)
	}
	h := n.addBlank(d.Path)
	h.absent, h.filesystem = d.Absent, d.Filesystem
	if d.Kind != "" {
		h.kind = d.Kind
	}
	if d.Total != 0 {
		h.total = d.Total
	}
	if d.Filesystem != "" {
		h.bytes = "files of " + p.newUUID()
	}
	if d.Lvstore != nil {
		h.lvstore = p.lvstoreOf(h, *d.Lvstore)
	}
	return h.info(), nil
}

// EnsureDevice puts a blank block device into a node that has no device of that path.
func (p *Plane) EnsureDevice(nodeName, path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.nodeOf(nodeName); n.devices[path] == nil {
		n.addBlank(path)
	}
}

// addBlank puts a blank block device into a node; the lock is held.
func (n *node) addBlank(path string) *hardware {
	n.numbers++
	h := &hardware{node: n, path: path, kind: KindBlock, number: fmt.Sprintf("8-%d", n.numbers*16), total: DefaultDeviceBytes}
	n.devices[path] = h
	return h
}

// lvstoreOf makes an lvstore with replicas that have some content.
func (p *Plane) lvstoreOf(h *hardware, l Lvstore) *lvstore {
	if l.UUID == "" {
		l.UUID = p.newUUID()
	}
	out := &lvstore{name: l.Name, uuid: l.UUID, lvols: map[string]*Lvol{}}
	for _, name := range slices.Sorted(maps.Keys(l.Replicas)) {
		lvol := &Lvol{Name: name, UUID: p.newUUID(), DiskName: l.Name, DiskUUID: l.UUID, Size: l.Replicas[name], Created: p.clock.Now(),
			data: p.newData(h.node, name, "")}
		lvol.data.Write(0, "content of "+name, 1)
		out.lvols[name] = lvol
	}
	return out
}

// SetDevicePresent lets a device appear, or pulls it out.
func (p *Plane) SetDevicePresent(nodeName, path string, present bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.nodeOf(nodeName).devices[path]
	if h == nil {
		return refuse(NotFound, "node %s has no device %s", nodeName, path)
	}
	if !present {
		p.pullOut(h)
	}
	h.absent = !present
	return nil
}

// RemoveDevice takes a device out for good, with its content.
func (p *Plane) RemoveDevice(nodeName, path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.nodeOf(nodeName)
	h := n.devices[path]
	if h == nil {
		return refuse(NotFound, "node %s has no device %s", nodeName, path)
	}
	p.pullOut(h)
	h.absent = true
	delete(n.devices, path)
	return nil
}

// SwapDevices puts each of two devices into the place of the other one.
func (p *Plane) SwapDevices(nodeA, pathA, nodeB, pathB string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	na, nb := p.nodeOf(nodeA), p.nodeOf(nodeB)
	a, b := na.devices[pathA], nb.devices[pathB]
	if a == nil || b == nil {
		return refuse(NotFound, "node %s has no device %s, or node %s has no device %s", nodeA, pathA, nodeB, pathB)
	}
	p.pullOut(a)
	p.pullOut(b)
	a.move(nb, pathB)
	b.move(na, pathA)
	return nil
}

func (h *hardware) move(n *node, path string) {
	h.node, h.path, h.bound = n, path, false
	n.devices[path] = h
	if h.lvstore == nil {
		return
	}
	for _, l := range h.lvstore.lvols {
		l.data.node = n
	}
}

// pullOut fails the replicas on a device: their I/O has no answer any more. The servers that loaded the device continue to list them.
func (p *Plane) pullOut(h *hardware) {
	for _, s := range h.node.servers {
		for _, d := range s.disks {
			if d.on != h {
				continue
			}
			d.on = &hardware{node: h.node, absent: true, lvstore: h.lvstore}
			for _, i := range s.instances {
				if i.Type == TypeReplica && i.DiskUUID == h.uuid() && i.State != Stopped {
					p.ceased(i)
					i.fail("the device of disk " + d.name + " is gone")
				}
			}
		}
	}
}

func (h *hardware) uuid() string {
	if h.lvstore == nil {
		return ""
	}
	return h.lvstore.uuid
}

// Devices are those of a node, or of all nodes, by node and path.
func (p *Plane) Devices(nodeName string) []Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []Device{}
	for _, name := range slices.Sorted(maps.Keys(p.nodes)) {
		if nodeName != "" && name != nodeName {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(p.nodes[name].devices)) {
			out = append(out, p.nodes[name].devices[path].info())
		}
	}
	return out
}

func (h *hardware) info() Device {
	d := Device{Node: h.node.name, Path: h.path, Kind: h.kind, Total: h.total, Absent: h.absent, Filesystem: h.filesystem,
		Digest: h.digest()}
	if h.lvstore != nil {
		d.Lvstore = &Lvstore{Name: h.lvstore.name, UUID: h.lvstore.uuid, Replicas: map[string]uint64{}}
		for name, l := range h.lvstore.lvols {
			d.Lvstore.Replicas[name] = l.Size
		}
	}
	return d
}

// digest is that of everything that is written on the device.
func (h *hardware) digest() string {
	sum := sha256.New()
	text := func(parts ...string) { _, _ = io.WriteString(sum, strings.Join(parts, "\x00")+"\n") }
	text(h.filesystem, h.bytes)
	if h.lvstore != nil {
		text("lvstore", h.lvstore.name, h.lvstore.uuid)
		for _, name := range slices.Sorted(maps.Keys(h.lvstore.lvols)) {
			l := h.lvstore.lvols[name]
			text(name, l.UUID, fmt.Sprint(l.Size), chain.Text(l.data.Sum()), fmt.Sprint(len(l.data.List())))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
