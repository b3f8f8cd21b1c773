package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	oldImage = "image:old"
	newImage = "image:new"
)

var going = &metav1.Time{}

func changed[T any](object *T, changes []func(*T)) *T {
	for _, change := range changes {
		change(object)
	}
	return object
}

// manager is a running v2 instance manager of the old image, which answers.
func manager(name, node string, changes ...func(*v1beta2.InstanceManager)) *v1beta2.InstanceManager {
	m := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid")}}
	m.Spec = v1beta2.InstanceManagerSpec{NodeID: node, Image: oldImage, DataEngine: v1beta2.DataEngineV2, Type: v1beta2.InstanceManagerTypeAIO}
	m.Status.CurrentState, m.Status.APIVersion = v1beta2.InstanceManagerStateRunning, 4
	return changed(m, changes)
}

func ofImage(image string) func(*v1beta2.InstanceManager) {
	return func(m *v1beta2.InstanceManager) { m.Spec.Image = image }
}

func inState(state string) func(*v1beta2.InstanceManager) {
	return func(m *v1beta2.InstanceManager) { m.Status.CurrentState = state }
}

func deleted(m *v1beta2.InstanceManager) { m.DeletionTimestamp = going }

// node is a node in service whose instance manager runs, and that takes targets of others.
func node(name string, changes ...func(*Node)) Node {
	object := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	object.Spec.AllowScheduling = true
	object.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}
	return *changed(&Node{Object: object, Managers: []*v1beta2.InstanceManager{manager("im-"+name, name)}}, changes)
}

func down(n *Node) {
	n.Object.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonKubernetesNodeNotReady}}
}

func evicted(n *Node) { n.Object.Spec.EvictionRequested = true }

func schedulingOff(n *Node) { n.Object.Spec.AllowScheduling = false }

func cordoned(n *Node) { n.Object.Spec.UpgradeRequested = true }

func with(managers ...*v1beta2.InstanceManager) func(*Node) {
	return func(n *Node) { n.Managers = managers }
}

// engine is the running engine that serves vol, and reads and writes the replicas r-a and r-b.
func engine(name, node string, changes ...func(*v1beta2.Engine)) *v1beta2.Engine {
	e := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	e.Spec = v1beta2.EngineSpec{VolumeName: "vol", NodeID: node, Active: true, DesireState: v1beta2.InstanceStateRunning,
		ReplicaAddressMap: map[string]string{"r-a": "10.0.0.1:20000", "r-b": "10.0.0.2:20000"}}
	e.Status.CurrentState = v1beta2.InstanceStateRunning
	e.Status.ReplicaModeMap = map[string]string{"r-a": v1beta2.ReplicaModeRW, "r-b": v1beta2.ReplicaModeRW}
	return changed(e, changes)
}

func states(desired, current string) func(*v1beta2.Engine) {
	return func(e *v1beta2.Engine) { e.Spec.DesireState, e.Status.CurrentState = desired, current }
}

func inactive(e *v1beta2.Engine) { e.Spec.Active = false }

func stopped(e *v1beta2.Engine) {
	states(v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped)(e)
}

// replica is a running replica of vol.
func replica(name, node string, changes ...func(*v1beta2.Replica)) *v1beta2.Replica {
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name}}
	r.Spec = v1beta2.ReplicaSpec{VolumeName: "vol", NodeID: node, DesireState: v1beta2.InstanceStateRunning}
	r.Status.CurrentState = v1beta2.InstanceStateRunning
	return changed(r, changes)
}

// volume is a healthy one that is attached to node a, with its engine there and replicas on a and b.
func volume(changes ...func(*Volume)) Volume {
	object := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol"}}
	object.Spec.NodeID, object.Spec.DataEngine, object.Spec.NumberOfReplicas = "a", v1beta2.DataEngineV2, 2
	object.Status.State, object.Status.CurrentNodeID = v1beta2.VolumeStateAttached, "a"
	object.Status.Robustness = v1beta2.VolumeRobustnessHealthy
	return *changed(&Volume{Object: object, Engines: []*v1beta2.Engine{engine("e-0", "a")},
		Replicas: []*v1beta2.Replica{replica("r-a", "a"), replica("r-b", "b")}}, changes)
}

func volumeState(state string) func(*Volume) {
	return func(v *Volume) { v.Object.Status.State = state }
}

func engines(list ...*v1beta2.Engine) func(*Volume) {
	return func(v *Volume) { v.Engines = list }
}

// cluster is the nodes a, b and c that serve, and vol on a.
func cluster(changes ...func(*Cluster)) Cluster {
	return *changed(&Cluster{Nodes: map[string]Node{"a": node("a"), "b": node("b"), "c": node("c")},
		Volumes: map[string]Volume{"vol": volume()}}, changes)
}

// on applies the changes to a node of the cluster.
func on(name string, changes ...func(*Node)) func(*Cluster) {
	return func(c *Cluster) { c.Nodes[name] = node(name, changes...) }
}

// put is the cluster with that volume under the name vol.
func put(changes ...func(*Volume)) func(*Cluster) {
	return func(c *Cluster) { c.Volumes["vol"] = volume(changes...) }
}
