package placement

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

const gib = int64(1) << 30

// node is ready, in a zone of its own, runs a manager, and has the disks that are given.
func node(name string, disks ...func(*Node)) Node {
	n := Node{Node: &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, HasManager: true, Scheduled: map[string]int64{}}
	n.Spec.AllowScheduling, n.Spec.Disks = true, map[string]v1beta2.DiskSpec{}
	n.Status.Zone, n.Status.DiskStatus = "zone-of-"+name, map[string]v1beta2.DiskStatus{}
	n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}
	for _, add := range disks {
		add(&n)
	}
	return n
}

// disk is a filesystem disk of 100 GiB, all of it free; its UUID is "<node>-<key>".
func disk(key string, changes ...func(*v1beta2.DiskSpec, *v1beta2.DiskStatus)) func(*Node) {
	return func(n *Node) {
		spec := v1beta2.DiskSpec{DiskType: diskFilesystem, AllowScheduling: true, Path: "/disks/" + key}
		status := v1beta2.DiskStatus{
			DiskUUID: n.Name + "-" + key, StorageMaximum: 100 * gib, StorageAvailable: 100 * gib,
			Conditions: []v1beta2.Condition{{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue}},
		}
		for _, change := range changes {
			change(&spec, &status)
		}
		n.Spec.Disks[key], n.Status.DiskStatus[key] = spec, status
	}
}

// block makes a disk a v2 disk.
func block(spec *v1beta2.DiskSpec, _ *v1beta2.DiskStatus) { spec.DiskType = diskBlock }

func sized(maximum, available, reserved int64) func(*v1beta2.DiskSpec, *v1beta2.DiskStatus) {
	return func(spec *v1beta2.DiskSpec, status *v1beta2.DiskStatus) {
		status.StorageMaximum, status.StorageAvailable, spec.StorageReserved = maximum*gib, available*gib, reserved*gib
	}
}

func tagged(tags ...string) func(*v1beta2.DiskSpec, *v1beta2.DiskStatus) {
	return func(spec *v1beta2.DiskSpec, _ *v1beta2.DiskStatus) { spec.Tags = tags }
}

func with(n Node, changes ...func(*Node)) Node {
	for _, change := range changes {
		change(&n)
	}
	return n
}

// promised is what replicas were promised on a disk already, in GiB.
func promised(key string, n int64) func(*Node) {
	return func(of *Node) { of.Scheduled[of.Name+"-"+key] = n * gib }
}

func zone(name string) func(*Node) { return func(n *Node) { n.Status.Zone = name } }

func cordoned(n *Node) {
	n.Status.Conditions = append(n.Status.Conditions, v1beta2.Condition{Type: v1beta2.NodeSchedulable, Status: v1beta2.ConditionFalse})
}

// asks is a request of 10 GiB for v1 with every anti-affinity hard.
func asks(changes ...func(*Request)) Request {
	r := Request{DataEngine: v1beta2.DataEngineV1, Size: 10 * gib, OverProvisioning: 100, MinimalAvailable: 25, HonourCordon: true}
	for _, change := range changes {
		change(&r)
	}
	return r
}

// taken is where another replica of the volume is: on a disk of a node created by node.
func taken(node, key string) func(*Request) {
	return func(r *Request) {
		r.Taken = append(r.Taken, Place{Node: node, Zone: "zone-of-" + node, DiskUUID: node + "-" + key})
	}
}

// leaving returns the place of a replica that is removed once another replica has its data.
func leaving(node, key string) func(*Request) {
	return func(r *Request) {
		taken(node, key)(r)
		r.Taken[len(r.Taken)-1].Leaves = true
	}
}

// onDisk returns the place of another replica: the disk with that UUID on a node without a zone.
func onDisk(node, uuid string) func(*Request) {
	return func(r *Request) { r.Taken = append(r.Taken, Place{Node: node, DiskUUID: uuid}) }
}

func takenInZone(node, zone, key string) func(*Request) {
	return func(r *Request) {
		r.Taken = append(r.Taken, Place{Node: node, Zone: zone, DiskUUID: fmt.Sprintf("%s-%s", node, key)})
	}
}

func soft(node, zone, disk bool) func(*Request) {
	return func(r *Request) { r.NodeSoft, r.ZoneSoft, r.DiskSoft = node, zone, disk }
}
