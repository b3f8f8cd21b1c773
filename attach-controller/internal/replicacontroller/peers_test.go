package replicacontroller

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// The peer controllers: the writes of im-monitor and the volume machine.

var isReady = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady}

// node creates a node that is ready, with the disk "disk-of-<node>" and an instance manager.
func (w *world) node(name string) {
	w.t.Helper()
	n := &v1beta2.Node{ObjectMeta: w.meta(name)}
	n.Spec.AllowScheduling = true
	n.Spec.Disks = map[string]v1beta2.DiskSpec{"disk": {DiskType: "block", AllowScheduling: true, Path: "/dev/sda"}}
	w.create(n)
	w.nodeIs(name, isReady)
	w.status(n, map[string]any{"zone": "zone-of-" + name, "diskStatus": map[string]any{"disk": map[string]any{
		"diskUUID": "disk-of-" + name, "storageMaximum": 100 * gib, "storageAvailable": 100 * gib,
		"conditions": status.ConditionsField([]v1beta2.Condition{
			{Type: v1beta2.DiskReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonDiskReady},
			{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable},
		}),
	}}})
	im := &v1beta2.InstanceManager{ObjectMeta: w.meta("im-" + name)}
	im.Spec.NodeID, im.Spec.DataEngine = name, v1beta2.DataEngineV2
	w.create(im)
	w.status(im, map[string]any{"currentState": v1beta2.InstanceStateRunning})
}

// secondDisk adds the disk "second-of-<node>" to a node.
func (w *world) secondDisk(name string) {
	w.t.Helper()
	n := &v1beta2.Node{ObjectMeta: w.meta(name)}
	w.spec(n, map[string]any{"disks": map[string]any{"second": map[string]any{"diskType": "block", "allowScheduling": true,
		"path": "/dev/sdb"}}})
	w.status(n, map[string]any{"diskStatus": map[string]any{"second": map[string]any{
		"diskUUID": "second-of-" + name, "storageMaximum": 100 * gib, "storageAvailable": 100 * gib,
		"conditions": status.ConditionsField([]v1beta2.Condition{
			{Type: v1beta2.DiskReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonDiskReady},
			{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable},
		}),
	}}})
}

func (w *world) nodeIs(name string, list ...v1beta2.Condition) {
	w.t.Helper()
	w.status(&v1beta2.Node{ObjectMeta: w.meta(name)}, map[string]any{"conditions": status.ConditionsField(list)})
}

func (w *world) down(name string) {
	w.nodeIs(name, v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonKubernetesNodeGone})
}

// only lets new replicas come to these nodes alone.
func (w *world) only(nodes ...string) {
	w.t.Helper()
	allowed := map[string]bool{}
	for _, name := range nodes {
		allowed[name] = true
	}
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		w.spec(&v1beta2.Node{ObjectMeta: w.meta(name)}, map[string]any{"allowScheduling": allowed[name]})
	}
}

// volume creates a volume of 10 GiB that the machine has prepared: detached, with an engine, never attached.
func (w *world) volume(name string, replicas int, changes ...func(*v1beta2.VolumeSpec)) *v1beta2.Volume {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta(name)}
	v.Finalizers = []string{v1beta2.Finalizer}
	v.Spec = v1beta2.VolumeSpec{Size: 10 * gib, NumberOfReplicas: replicas, AccessMode: "rwo", DataEngine: v1beta2.DataEngineV2,
		Image: "image"}
	for _, change := range changes {
		change(&v.Spec)
	}
	w.create(v)
	e := &v1beta2.Engine{ObjectMeta: w.meta(name + "-e-0")}
	e.Spec.VolumeName, e.Spec.VolumeSize, e.Spec.Active = name, v.Spec.Size, true
	e.Spec.DesireState = v1beta2.InstanceStateStopped
	w.create(e)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "robustness": v1beta2.VolumeRobustnessUnknown})
	return v
}

func (w *world) engine(volume string) *v1beta2.Engine {
	return &v1beta2.Engine{ObjectMeta: w.meta(volume + "-e-0")}
}

// attached plays the machine and im-monitor: the volume runs on the node over all replicas that did not fail.
func (w *world) attached(volume, node string) {
	w.t.Helper()
	addresses, modes := map[string]any{}, map[string]any{}
	for _, r := range w.replicas(volume) {
		if r.Spec.FailedAt == "" && r.DeletionTimestamp == nil {
			w.healthy(&r)
			addresses[r.Name], modes[r.Name] = "10.0.0.1:20000", v1beta2.ReplicaModeRW
		}
	}
	w.spec(w.engine(volume), map[string]any{"nodeID": node, "desireState": v1beta2.InstanceStateRunning, "replicaAddressMap": addresses})
	w.status(w.engine(volume), map[string]any{"currentState": v1beta2.InstanceStateRunning, "replicaModeMap": modes})
	v := &v1beta2.Volume{ObjectMeta: w.meta(volume)}
	w.spec(v, map[string]any{"nodeID": node})
	w.status(v, map[string]any{"state": v1beta2.VolumeStateAttached, "currentNodeID": node, "robustness": v1beta2.VolumeRobustnessHealthy})
}

func (w *world) healthy(r *v1beta2.Replica) {
	w.t.Helper()
	w.status(r, map[string]any{"currentState": v1beta2.InstanceStateRunning})
	w.spec(r, map[string]any{"desireState": v1beta2.InstanceStateRunning, "healthyAt": stamp(time.Now()),
		"lastHealthyAt": stamp(time.Now())})
}

// runs starts a replica that is to be rebuilt.
func (w *world) runs(r *v1beta2.Replica) {
	w.t.Helper()
	w.spec(r, map[string]any{"desireState": v1beta2.InstanceStateRunning})
	w.status(r, map[string]any{"currentState": v1beta2.InstanceStateRunning})
}

// rebuilt is the end of a rebuild.
func (w *world) rebuilt(volume string, r *v1beta2.Replica) {
	w.t.Helper()
	w.spec(w.engine(volume), map[string]any{"replicaAddressMap": map[string]any{r.Name: "10.0.0.1:20000"}})
	w.status(w.engine(volume), map[string]any{"replicaModeMap": map[string]any{r.Name: v1beta2.ReplicaModeRW}})
	w.healthy(r)
}

// failed takes a replica out of its engine, as after an error.
func (w *world) failed(volume string, r *v1beta2.Replica, at time.Time) {
	w.t.Helper()
	w.out(volume, r)
	w.spec(r, map[string]any{"failedAt": stamp(at), "lastFailedAt": stamp(at)})
}

// out stops a replica that its engine has no use for.
func (w *world) out(volume string, r *v1beta2.Replica) {
	w.t.Helper()
	w.spec(w.engine(volume), map[string]any{"replicaAddressMap": map[string]any{r.Name: nil}})
	w.status(w.engine(volume), map[string]any{"replicaModeMap": map[string]any{r.Name: nil}})
	w.spec(r, map[string]any{"desireState": v1beta2.InstanceStateStopped})
	w.status(r, map[string]any{"currentState": v1beta2.InstanceStateStopped})
}

// polls simulates the requested poll.
func (w *world) polls(volume string) {
	w.t.Helper()
	e := w.engine(volume)
	w.eventually(func() bool {
		return w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(e), e) == nil && e.Spec.LookRequestedAt != ""
	}, "no poll was requested")
	w.status(e, map[string]any{"lookedAt": e.Spec.LookRequestedAt})
}

// removed plays the end of a replica's data.
func (w *world) removed(r *v1beta2.Replica) {
	w.t.Helper()
	list := []v1beta2.Condition{{Type: v1beta2.ReplicaDataRemoved, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonRemoved,
		LastTransitionTime: stamp(time.Now())}}
	err := status.Apply(w.t.Context(), w.admin, r, "im-monitor.removal", map[string]any{"conditions": status.ConditionsField(list)})
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
}
