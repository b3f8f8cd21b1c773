package model

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

// The images of before and after the upgrade.
const (
	OldImage = "registry/instance-manager:v1"
	NewImage = "registry/instance-manager:v2"
)

// World is every object, by name. The simulated controllers modify the objects in place.
type World struct {
	Nodes     map[string]*v1beta2.Node
	Managers  map[string]*v1beta2.InstanceManager
	Volumes   map[string]*v1beta2.Volume
	Engines   map[string]*v1beta2.Engine
	Replicas  map[string]*v1beta2.Replica
	Snapshots map[string]*v1beta2.Snapshot
	Upgrades  map[string]*v1beta2.NodeDataEngineUpgrade
	Plans     map[string]*v1beta2.DataEngineUpgradeManager
	// Broken are the nodes on which the new instance manager never starts.
	Broken map[string]bool

	serial int
}

// New returns a world without objects.
func New() *World {
	return &World{
		Nodes: map[string]*v1beta2.Node{}, Managers: map[string]*v1beta2.InstanceManager{}, Volumes: map[string]*v1beta2.Volume{},
		Engines: map[string]*v1beta2.Engine{}, Replicas: map[string]*v1beta2.Replica{}, Snapshots: map[string]*v1beta2.Snapshot{},
		Upgrades: map[string]*v1beta2.NodeDataEngineUpgrade{}, Plans: map[string]*v1beta2.DataEngineUpgradeManager{},
		Broken: map[string]bool{},
	}
}

// Meta is the metadata of a new object.
func (w *World) Meta(name string) metav1.ObjectMeta {
	w.serial++
	return metav1.ObjectMeta{Name: name, UID: types.UID(fmt.Sprintf("uid-%d", w.serial)), Generation: 1}
}

// AddNode adds a node with a running instance manager of the old image.
func (w *World) AddNode(name string) {
	node := &v1beta2.Node{ObjectMeta: w.Meta(name), Spec: v1beta2.NodeSpec{AllowScheduling: true}}
	node.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady}}
	w.Nodes[name] = node
	w.addManager(name, OldImage, v1beta2.InstanceManagerStateRunning)
	w.addManager(name, NewImage, v1beta2.InstanceManagerStateStopped)
}

func (w *World) addManager(node, image, state string) {
	m := &v1beta2.InstanceManager{ObjectMeta: w.Meta(v1beta2.InstanceManagerName(node, image, v1beta2.DataEngineV2))}
	m.Spec = v1beta2.InstanceManagerSpec{NodeID: node, Image: image, DataEngine: v1beta2.DataEngineV2, Type: v1beta2.InstanceManagerTypeAIO}
	m.Status.CurrentState = state
	m.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerFrontendRecords, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonOnHost}}
	if state == v1beta2.InstanceManagerStateRunning {
		m.Status.APIVersion = 7
	}
	w.Managers[m.Name] = m
}

// AddVolume adds a volume with a replica on each of the nodes, attached to a node, or detached where that is "".
func (w *World) AddVolume(name, attached string, replicas ...string) {
	v := &v1beta2.Volume{ObjectMeta: w.Meta(name)}
	v.Spec = v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2, NumberOfReplicas: len(replicas), Size: 1 << 30, Frontend: "blockdev"}
	v.Status.State, v.Status.Robustness = v1beta2.VolumeStateDetached, v1beta2.VolumeRobustnessUnknown
	w.Volumes[name] = v
	for _, node := range replicas {
		r := &v1beta2.Replica{ObjectMeta: w.Meta(name + "-r-" + node)}
		r.Spec = v1beta2.ReplicaSpec{VolumeName: name, NodeID: node, DataEngine: v1beta2.DataEngineV2,
			DesireState: v1beta2.InstanceStateStopped}
		r.Status.CurrentState = v1beta2.InstanceStateStopped
		w.Replicas[r.Name] = r
	}
	if attached != "" {
		w.AttachVolume(name, attached)
	}
}

// AttachVolume attaches a volume at once, over those of its replicas that can be used; it reports whether there was one.
func (w *World) AttachVolume(name, node string) bool {
	v := w.Volumes[name]
	engine := &v1beta2.Engine{ObjectMeta: w.Meta(w.engineName(name))}
	engine.Spec = v1beta2.EngineSpec{VolumeName: name, NodeID: node, Active: true, DataEngine: v1beta2.DataEngineV2,
		DesireState: v1beta2.InstanceStateRunning, ReplicaAddressMap: map[string]string{}, VolumeSize: v.Spec.Size}
	for _, r := range w.replicasOf(name) {
		if r.Spec.FailedAt == "" && w.serves(r.Spec.NodeID) && !w.Nodes[r.Spec.NodeID].Spec.UpgradeRequested {
			w.use(engine, r)
		} else {
			r.Spec.FailedAt = "2026-08-01T08:00:00Z"
		}
	}
	if len(engine.Spec.ReplicaAddressMap) == 0 {
		return false
	}
	engine.Status.CurrentState = v1beta2.InstanceStateRunning
	w.Engines[engine.Name] = engine
	v.Spec.NodeID, v.Status.CurrentNodeID, v.Status.State = node, node, v1beta2.VolumeStateAttached
	w.evaluate(v)
	return true
}

// DetachVolume detaches a volume at once, as its user wants it.
func (w *World) DetachVolume(name string) {
	v := w.Volumes[name]
	v.Spec.NodeID, v.Status.CurrentNodeID, v.Status.CurrentTargetNodeID = "", "", ""
	v.Status.State, v.Status.Robustness = v1beta2.VolumeStateDetached, v1beta2.VolumeRobustnessUnknown
	for _, e := range w.enginesOf(name) {
		delete(w.Engines, e.Name)
	}
	for _, r := range w.replicasOf(name) {
		r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	}
}

// use puts a running replica into an engine, read and written.
func (w *World) use(e *v1beta2.Engine, r *v1beta2.Replica) {
	r.Spec.FailedAt, r.Spec.DesireState, r.Status.CurrentState = "", v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
	e.Spec.ReplicaAddressMap[r.Name] = "10.0.0.1:1"
	if e.Status.ReplicaModeMap == nil {
		e.Status.ReplicaModeMap = map[string]string{}
	}
	e.Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeRW
}

func (w *World) engineName(volume string) string {
	for n := 0; ; n++ {
		if name := fmt.Sprintf("%s-e-%d", volume, n); w.Engines[name] == nil {
			return name
		}
	}
}

func (w *World) enginesOf(volume string) []*v1beta2.Engine {
	return of(w.Engines, func(e *v1beta2.Engine) bool { return e.Spec.VolumeName == volume })
}

func (w *World) replicasOf(volume string) []*v1beta2.Replica {
	return of(w.Replicas, func(r *v1beta2.Replica) bool { return r.Spec.VolumeName == volume })
}

func (w *World) managersOf(node string) []*v1beta2.InstanceManager {
	return of(w.Managers, func(m *v1beta2.InstanceManager) bool { return m.Spec.NodeID == node })
}

// of returns the objects that match, in the order of their names.
func of[T any](objects map[string]*T, matches func(*T) bool) []*T {
	names := make([]string, 0, 4)
	for name, object := range objects {
		if matches(object) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := make([]*T, 0, len(names))
	for _, name := range names {
		out = append(out, objects[name])
	}
	return out
}

func all[T any](*T) bool { return true }

// Cluster is the world as upgrade-controller sees it.
func (w *World) Cluster() cluster.Cluster {
	out := cluster.Cluster{Nodes: map[string]cluster.Node{}, Volumes: map[string]cluster.Volume{}}
	for name, node := range w.Nodes {
		out.Nodes[name] = cluster.Node{Object: node, Managers: w.managersOf(name)}
	}
	for name, v := range w.Volumes {
		out.Volumes[name] = cluster.Volume{Object: v, Engines: w.enginesOf(name), Replicas: w.replicasOf(name)}
	}
	return out
}

func (w *World) serves(node string) bool {
	if v1beta2.IsNodeDown(w.Nodes[node]) {
		return false
	}
	for _, m := range w.Managers {
		if m.Spec.NodeID == node && m.Status.CurrentState == v1beta2.InstanceManagerStateRunning {
			return true
		}
	}
	return false
}

// AnswerRehearsals lets binaries answer that the API server accepts each of their requests.
func (w *World) AnswerRehearsals(binaries ...string) {
	for _, m := range w.Plans {
		Answer(m, binaries...)
	}
}

// Answer writes the answers of binaries to the present request of an upgrade: nothing is refused.
func Answer(m *v1beta2.DataEngineUpgradeManager, binaries ...string) {
	for _, binary := range binaries {
		if m.Status.RehearsalRequestedAt == "" || m.Status.Rehearsals[binary].RequestedAt == m.Status.RehearsalRequestedAt {
			continue
		}
		if m.Status.Rehearsals == nil {
			m.Status.Rehearsals = map[string]v1beta2.UpgradeRehearsal{}
		}
		m.Status.Rehearsals[binary] = v1beta2.UpgradeRehearsal{RequestedAt: m.Status.RehearsalRequestedAt, Tried: 1}
	}
}
