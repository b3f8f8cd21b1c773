package replica

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	vol = "vol-1"
	gib = int64(1) << 30
)

var now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func ago(d time.Duration) string { return stamp(now.Add(-d)) }

type change func(*World)

// attached is a v2 volume of 10 GiB that runs on node "a" of "a" to "d", healthy, with a replica on each of the given nodes:
// "vol-1-r-<node>". Every node has one disk of 100 GiB.
func attached(on string, changes ...change) World {
	w := World{Now: now, Nodes: map[string]*v1beta2.Node{}, Rebuilding: map[string]int{}, Settings: setting.Defaults()}
	for _, name := range []string{"a", "b", "c", "d"} {
		w.Nodes[name] = newNode(name)
	}
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: vol, UID: "uid-1", Finalizers: []string{v1beta2.Finalizer}}}
	v.Spec = v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2, Size: 10 * gib, NodeID: "a", Image: "image", DataLocality: "disabled"}
	v.Status = v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "a", Robustness: v1beta2.VolumeRobustnessHealthy}
	e := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: vol + "-e-0"}}
	e.Spec.NodeID, e.Spec.DesireState, e.Spec.Active, e.Spec.VolumeName = "a", v1beta2.InstanceStateRunning, true, vol
	e.Spec.ReplicaAddressMap, e.Status.ReplicaModeMap = map[string]string{}, map[string]string{}
	e.Status.CurrentState = v1beta2.InstanceStateRunning
	w.Volume, w.Engine = v, e
	for _, node := range strings.Fields(on) {
		w.Replicas = append(w.Replicas, newReplica(node))
		use(node, v1beta2.ReplicaModeRW)(&w)
	}
	v.Spec.NumberOfReplicas = len(w.Replicas)
	for _, c := range changes {
		c(&w)
	}
	slices.SortFunc(w.Replicas, func(a, b *v1beta2.Replica) int { return strings.Compare(a.Name, b.Name) })
	return w
}

// fresh is a volume that was never attached: it wants three replicas and has none.
func fresh(changes ...change) World {
	return attached("", slices.Concat([]change{detached, func(w *World) { w.Engine = nil }, wants(3)}, changes)...)
}

func newNode(name string) *v1beta2.Node {
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Spec.AllowScheduling = true
	n.Spec.Disks = map[string]v1beta2.DiskSpec{"disk": {DiskType: "block", AllowScheduling: true, Path: "/dev/" + name}}
	n.Status.Zone = "zone-" + name
	n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}
	n.Status.DiskStatus = map[string]v1beta2.DiskStatus{"disk": {
		DiskUUID: "disk-" + name, StorageMaximum: 100 * gib, StorageAvailable: 100 * gib,
		Conditions: []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: v1beta2.ConditionTrue},
			{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue}},
	}}
	return n
}

func newReplica(node string) *v1beta2.Replica {
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{
		Name: vol + "-r-" + node, Finalizers: []string{v1beta2.Finalizer},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Volume", Name: vol, UID: "uid-1"}},
	}}
	r.Spec = v1beta2.ReplicaSpec{
		VolumeName: vol, NodeID: node, DiskID: "disk-" + node, DataEngine: v1beta2.DataEngineV2, VolumeSize: 10 * gib, Image: "image",
		DesireState: v1beta2.InstanceStateRunning, HealthyAt: ago(time.Hour), LastHealthyAt: ago(time.Hour),
	}
	r.Status.CurrentState = v1beta2.InstanceStateRunning
	return r
}

func (w *World) the(node string) *v1beta2.Replica {
	for _, r := range w.Replicas {
		if r.Name == vol+"-r-"+node {
			return r
		}
	}
	return nil
}

// replica changes the one that is on the node.
func replica(node string, of func(*v1beta2.Replica)) change {
	return func(w *World) { of(w.the(node)) }
}

func volume(of func(*v1beta2.Volume)) change { return func(w *World) { of(w.Volume) } }

func engine(of func(*v1beta2.Engine)) change { return func(w *World) { of(w.Engine) } }

func wants(n int) change { return volume(func(v *v1beta2.Volume) { v.Spec.NumberOfReplicas = n }) }

func locality(s string) change { return volume(func(v *v1beta2.Volume) { v.Spec.DataLocality = s }) }

func settings(of func(*setting.Values)) change { return func(w *World) { of(&w.Settings) } }

// use gives a replica to the engine, which reports this mode of it.
func use(node, mode string) change {
	return func(w *World) {
		w.Engine.Spec.ReplicaAddressMap[vol+"-r-"+node] = node
		w.Engine.Status.ReplicaModeMap[vol+"-r-"+node] = mode
	}
}

func detached(w *World) {
	w.Volume.Spec.NodeID = ""
	w.Volume.Status.State, w.Volume.Status.CurrentNodeID = v1beta2.VolumeStateDetached, ""
	if w.Engine != nil {
		w.Engine.Spec.DesireState, w.Engine.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	}
}

// failed took a replica out of the engine some time ago; its instance is stopped.
func failed(node string, d time.Duration) change {
	return func(w *World) {
		r := w.the(node)
		r.Spec.FailedAt, r.Spec.LastFailedAt = ago(d), ago(d)
		r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
		delete(w.Engine.Spec.ReplicaAddressMap, r.Name)
		delete(w.Engine.Status.ReplicaModeMap, r.Name)
	}
}

// tried is how often a failed replica was taken back.
func tried(node string, n int) change {
	return replica(node, func(r *v1beta2.Replica) { r.Spec.RebuildRetryCount = n })
}

// coming adds a replica that has no data yet, and does not run.
func coming(node string) change {
	return func(w *World) {
		r := newReplica(node)
		r.Spec.HealthyAt, r.Spec.LastHealthyAt = "", ""
		r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
		w.Replicas = append(w.Replicas, r)
	}
}

// deleted deletes a replica some time ago.
func deleted(node string, d time.Duration) change {
	return replica(node, func(r *v1beta2.Replica) { r.DeletionTimestamp = &metav1.Time{Time: now.Add(-d)} })
}

func down(node string) change {
	return func(w *World) {
		w.Nodes[node].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonKubernetesNodeNotReady}}
	}
}

func gone(node string) change { return func(w *World) { delete(w.Nodes, node) } }

func evicted(node string) change {
	return func(w *World) { w.Nodes[node].Spec.EvictionRequested = true }
}

// secondDisk adds a second disk to a node.
func secondDisk(node string) change {
	return func(w *World) {
		n := w.Nodes[node]
		n.Spec.Disks["second"] = v1beta2.DiskSpec{DiskType: "block", AllowScheduling: true, Path: "/dev/second"}
		status := n.Status.DiskStatus["disk"]
		status.DiskUUID = "second-" + node
		n.Status.DiskStatus["second"] = status
	}
}

func hardZones(w *World) { w.Settings.ZoneSoftAntiAffinity = false }

func inZone(node, zone string) change { return func(w *World) { w.Nodes[node].Status.Zone = zone } }

// drained is cordoned, and im-monitor has replicas leave it.
func drained(node string) change {
	return func(w *World) {
		cordoned(node)(w)
		w.Nodes[node].Status.AutoEvicting = true
	}
}

func cordoned(node string) change {
	return func(w *World) {
		w.Nodes[node].Status.Conditions = append(w.Nodes[node].Status.Conditions, v1beta2.Condition{Type: v1beta2.NodeSchedulable,
			Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonKubernetesNodeCordoned})
	}
}

// closed takes no new replica, but keeps what it has.
func closed(nodes string) change {
	return func(w *World) {
		for _, node := range strings.Fields(nodes) {
			w.Nodes[node].Spec.AllowScheduling = false
		}
	}
}

// rebuilds is how many replicas are rebuilt on the node.
func rebuilds(node string, n int) change { return func(w *World) { w.Rebuilding[node] = n } }

func approvedFor(node, reason string) change {
	return says(node, v1beta2.ReplicaDataRemovalApproved, reason)
}

func dataRemoved(node string) change {
	return says(node, v1beta2.ReplicaDataRemoved, v1beta2.ReasonRemoved)
}

func says(node, condition, reason string) change {
	return replica(node, func(r *v1beta2.Replica) {
		r.Status.Conditions = append(r.Status.Conditions, v1beta2.Condition{Type: condition, Status: v1beta2.ConditionTrue, Reason: reason})
	})
}

// polled is an engine that answered the poll which was requested then for the replicas that are being deleted.
func polled(at time.Time) change {
	return func(w *World) {
		asked(at)(w)
		answers(at)(w)
		for _, r := range w.Replicas {
			if r.DeletionTimestamp != nil {
				r.Status.LookRequestedAt = stamp(at)
			}
		}
	}
}

// answers is the request that the engine answered last.
func answers(at time.Time) change {
	return engine(func(e *v1beta2.Engine) { e.Status.LookedAt = stamp(at) })
}

func isScheduled(reason string) change {
	return volume(func(v *v1beta2.Volume) {
		status := v1beta2.ConditionFalse
		if reason == v1beta2.ReasonPlaced {
			status = v1beta2.ConditionTrue
		}
		v.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeScheduled, Status: status, Reason: reason,
			Message: "Every replica has a place."}}
	})
}
