package preflight

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

const target = "image:new"

// world is three nodes and a healthy volume vol, which is attached to node a with its engine and has replicas on a and b: nothing blocks
// the upgrade of a; change what differs.
func world(changes ...func(*World)) World {
	w := World{Node: "a", Target: target, Cluster: cluster.Cluster{
		Nodes:   map[string]cluster.Node{"a": node("a"), "b": node("b"), "c": node("c")},
		Volumes: map[string]cluster.Volume{"vol": volume("vol")}}}
	for _, change := range changes {
		change(&w)
	}
	return w
}

// node is one in service whose instance manager of an older image runs.
func node(name string) cluster.Node {
	object := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	object.Spec.AllowScheduling = true
	m := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: "im-" + name}}
	m.Spec.NodeID, m.Spec.Image = name, "image:old"
	m.Status.CurrentState, m.Status.APIVersion = v1beta2.InstanceManagerStateRunning, 4
	m.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerFrontendRecords, Status: v1beta2.ConditionTrue}}
	return cluster.Node{Object: object, Managers: []*v1beta2.InstanceManager{m}}
}

func volume(name string) cluster.Volume {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec = v1beta2.VolumeSpec{NodeID: "a", DataEngine: v1beta2.DataEngineV2, NumberOfReplicas: 2, Size: 1000, Frontend: "blockdev"}
	v.Status.State, v.Status.CurrentNodeID = v1beta2.VolumeStateAttached, "a"
	v.Status.Robustness = v1beta2.VolumeRobustnessHealthy
	e := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: name + "-e"}}
	e.Spec = v1beta2.EngineSpec{VolumeName: name, NodeID: "a", Active: true, DataEngine: v1beta2.DataEngineV2, VolumeSize: 1000,
		DesireState: v1beta2.InstanceStateRunning, ReplicaAddressMap: map[string]string{}}
	e.Status.CurrentState = v1beta2.InstanceStateRunning
	e.Status.ReplicaModeMap = map[string]string{}
	e.Status.Snapshots = map[string]v1beta2.SnapshotInfo{v1beta2.VolumeHead: {}}
	out := cluster.Volume{Object: v, Engines: []*v1beta2.Engine{e}}
	addReplica(&out, name+"-r-a", "a")
	addReplica(&out, name+"-r-b", "b")
	return out
}

// addReplica adds a healthy replica.
func addReplica(v *cluster.Volume, name, node string) {
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name}}
	r.Spec.NodeID, r.Spec.DesireState = node, v1beta2.InstanceStateRunning
	r.Status.CurrentState = v1beta2.InstanceStateRunning
	v.Replicas = append(v.Replicas, r)
	v.Engines[0].Spec.ReplicaAddressMap[name] = "10.0.0.1:20000"
	v.Engines[0].Status.ReplicaModeMap[name] = v1beta2.ReplicaModeRW
}

func ofVolume(change func(*cluster.Volume)) func(*World) {
	return func(w *World) {
		v := w.Cluster.Volumes["vol"]
		change(&v)
		w.Cluster.Volumes["vol"] = v
	}
}

func ofObject(change func(*v1beta2.Volume)) func(*World) {
	return ofVolume(func(v *cluster.Volume) { change(v.Object) })
}

func ofEngine(change func(*v1beta2.Engine)) func(*World) {
	return ofVolume(func(v *cluster.Volume) { change(v.Engines[0]) })
}

func ofNode(name string, change func(*v1beta2.Node)) func(*World) {
	return func(w *World) { change(w.Cluster.Nodes[name].Object) }
}

func ofManager(name string, change func(*v1beta2.InstanceManager)) func(*World) {
	return func(w *World) { change(w.Cluster.Nodes[name].Managers[0]) }
}

// of is the upgrade of that node.
func of(name string) func(*World) { return func(w *World) { w.Node = name } }

// moved has the engine on another node than the volume's: its frontend stays where it is.
func moved(node string) func(*World) {
	return ofEngine(func(e *v1beta2.Engine) { e.Spec.NodeID = node })
}

// attachedTo has the volume with its engine on that node.
func attachedTo(node string) func(*World) {
	return func(w *World) {
		moved(node)(w)
		ofObject(func(v *v1beta2.Volume) { v.Spec.NodeID, v.Status.CurrentNodeID = node, node })(w)
	}
}

func down(name string) func(*World) {
	return ofNode(name, func(n *v1beta2.Node) {
		n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonKubernetesNodeGone}}
	})
}

func notRunning(name string) func(*World) {
	return ofManager(name, func(m *v1beta2.InstanceManager) { m.Status.CurrentState = v1beta2.InstanceManagerStateStopped })
}

func empty(w *World) { delete(w.Cluster.Volumes, "vol") }

// standbyVolume is filled for ever, without a frontend, and alone on its node.
func standbyVolume(w *World) {
	ofVolume(func(v *cluster.Volume) {
		v.Object.Spec.Standby, v.Object.Spec.DisableFrontend, v.Object.Status.RestoreRequired = true, true, true
		v.Replicas = v.Replicas[:1]
	})(w)
}

// kindsOf are the kinds of what blocks the upgrade.
func kindsOf(w World) []Kind {
	var out []Kind
	for _, b := range Blockers(w) {
		out = append(out, b.Kind)
	}
	return out
}
