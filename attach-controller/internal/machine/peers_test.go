package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// fixture is a World with the machine's peer controllers simulated in memory: it applies verdicts as the reconciler does, and does what
// im-monitor would do next.
type fixture struct {
	World
	writes int
	runs   int
	made   int
	// opened is the v1 engine that opened each replica process, by the process's UUID: a process serves one engine.
	opened map[string]string
}

func newFixture(dataEngine string, replicaNodes ...string) *fixture {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol", Namespace: "ns", UID: "vol-uid",
		Finalizers: []string{v1beta2.Finalizer},
		Labels:     map[string]string{v1beta2.LabelVolume: "vol"}}}
	v.Spec = v1beta2.VolumeSpec{DataEngine: dataEngine, Size: 1 << 30, NumberOfReplicas: len(replicaNodes), Frontend: "blockdev",
		AccessMode: v1beta2.AccessModeReadWriteOnce, DataLocality: "disabled", Image: "image"}
	s := &fixture{World: World{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Volume: v, Nodes: map[string]Node{},
		Settings: Settings{AutoSalvage: true, DefaultReplicas: 3}}}
	for _, node := range []string{"x", "y", "z"} {
		s.Nodes[node] = Node{Known: true}
	}
	for n, node := range replicaNodes {
		name := fmt.Sprintf("vol-r-%d", n)
		s.Replicas = append(s.Replicas, &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name),
			Finalizers: []string{v1beta2.Finalizer}},
			Spec: v1beta2.ReplicaSpec{DataEngine: dataEngine, VolumeName: "vol", NodeID: node, VolumeSize: 1 << 30, Active: true,
				DataDirectoryName: name + "-dir", DiskID: "disk-" + node, DesireState: v1beta2.InstanceStateStopped},
			Status: v1beta2.ReplicaStatus{CurrentState: v1beta2.InstanceStateStopped}})
	}
	return s
}

// step decides once, applies the verdict, and reports whether anything changed.
func (s *fixture) step() bool {
	verdict := Decide(s.World)
	for _, w := range verdict.Writes {
		s.write(w)
	}
	for key, value := range verdict.Status {
		s.status(key, value)
	}
	s.Volume.Status.Conditions = verdict.Conditions
	s.writes += len(verdict.Writes)
	if len(verdict.Status) > 0 {
		s.writes++
	}
	return len(verdict.Writes)+len(verdict.Status) > 0
}

func (s *fixture) write(w Write) {
	switch o := w.Object.(type) {
	case *v1beta2.Engine:
		if w.Kind == Create {
			s.made++
			o.UID = types.UID(fmt.Sprintf("%s-%d", o.Name, s.made))
			o.Status.CurrentState = v1beta2.InstanceStateStopped
			s.Engines = append(s.Engines, o)
		}
		s.Engines = gone(s.Engines, o, w.Kind)
		patchSpec(w.Spec, map[string]func(any){
			"desireState": func(v any) { o.Spec.DesireState = v.(string) }, "nodeID": func(v any) { o.Spec.NodeID = v.(string) },
			"active":            func(v any) { o.Spec.Active = v.(bool) },
			"snapshotMaxCount":  func(v any) { o.Spec.SnapshotMaxCount = v.(int) },
			"replicaAddressMap": func(v any) { o.Spec.ReplicaAddressMap = merge(o.Spec.ReplicaAddressMap, v) },
			"lookRequestedAt": func(v any) {
				if o.Spec.LookRequestedAt = v.(string); !s.nodeDown(o.Spec.NodeID) {
					o.Status.LookedAt = o.Spec.LookRequestedAt
				}
			},
			"volumeSize": func(v any) { fmt.Sscan(v.(string), &o.Spec.VolumeSize); o.Status.CurrentSize = o.Spec.VolumeSize },
		})
	case *v1beta2.EngineFrontend:
		if w.Kind == Create {
			o.UID = types.UID(o.Name)
			o.Status.CurrentState = v1beta2.InstanceStateStopped
			s.Frontends = append(s.Frontends, o)
		}
		s.Frontends = gone(s.Frontends, o, w.Kind)
		patchSpec(w.Spec, map[string]func(any){
			"desireState": func(v any) { o.Spec.DesireState = v.(string) }, "nodeID": func(v any) { o.Spec.NodeID = v.(string) },
			"engineName": func(v any) { o.Spec.EngineName = v.(string) }, "targetIP": func(v any) { o.Spec.TargetIP = v.(string) },
			"targetPort": func(v any) { o.Spec.TargetPort = v.(int) }, "active": func(v any) { o.Spec.Active = v.(bool) },
			"suspendRequestedAt": func(v any) { o.Spec.SuspendRequestedAt = v.(string) },
		})
	case *v1beta2.Replica:
		if w.Kind == Create && !slices.ContainsFunc(s.Replicas, func(r *v1beta2.Replica) bool { return r.Name == o.Name }) {
			o.UID, o.CreationTimestamp = types.UID(o.Name), metav1.NewTime(s.Now)
			o.Status = v1beta2.ReplicaStatus{CurrentState: v1beta2.InstanceStateStopped, Port: 20000}
			s.Replicas = append(s.Replicas, o)
		}
		if w.Kind == Delete {
			s.Replicas = gone(s.Replicas, o, DropFinalizer)
		}
		patchSpec(w.Spec, map[string]func(any){
			"desireState": func(v any) { o.Spec.DesireState = v.(string) }, "failedAt": func(v any) { o.Spec.FailedAt = v.(string) },
			"engineName":   func(v any) { o.Spec.EngineName = v.(string) },
			"active":       func(v any) { o.Spec.Active = v.(bool) },
			"lastFailedAt": func(v any) { o.Spec.LastFailedAt = v.(string) }, "healthyAt": func(v any) { o.Spec.HealthyAt = v.(string) },
			"lastHealthyAt":    func(v any) { o.Spec.LastHealthyAt = v.(string) },
			"salvageRequested": func(v any) { o.Spec.SalvageRequested = v.(bool) },
		})
	case *v1beta2.VolumeAttachment:
		s.Attachment = nil
	case *v1beta2.Volume:
		if w.Kind == DropFinalizer {
			o.Finalizers = nil
		}
		if w.Finalizer {
			o.Finalizers = append(o.Finalizers, v1beta2.Finalizer)
		}
		if w.Labels != nil {
			o.Labels = w.Labels
		}
		patchSpec(w.Spec, map[string]func(any){
			"image": func(v any) { o.Spec.Image = v.(string) }, "snapshotMaxCount": func(v any) { o.Spec.SnapshotMaxCount = v.(int) },
			"accessMode": func(v any) { o.Spec.AccessMode = v.(string) }, "dataEngine": func(v any) { o.Spec.DataEngine = v.(string) },
		})
	}
}

func patchSpec(spec map[string]any, set map[string]func(any)) {
	for key, value := range spec {
		if f := set[key]; f != nil {
			f(value)
		}
	}
}

// gone deletes an object at once unless another finalizer is left.
func gone[T metav1.Object](list []T, o T, kind Kind) []T {
	switch kind {
	case Delete:
		now := metav1.Now()
		o.SetDeletionTimestamp(&now)
	case DropFinalizer:
		return slices.DeleteFunc(list, func(other T) bool { return other.GetName() == o.GetName() })
	}
	return list
}

func merge(into map[string]string, patch any) map[string]string {
	out := maps.Clone(into)
	if out == nil {
		out = map[string]string{}
	}
	for k, v := range patch.(map[string]any) {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = v.(string)
		}
	}
	return out
}

func (s *fixture) status(key string, value any) {
	v := &s.Volume.Status
	switch key {
	case "state":
		v.State = value.(string)
	case "capacity":
		v.Capacity = value.(string)
	case "currentNodeID":
		v.CurrentNodeID = value.(string)
	case "currentMigrationNodeID":
		v.CurrentMigrationNodeID = value.(string)
	case "currentTargetNodeID":
		v.CurrentTargetNodeID = value.(string)
	case "faults":
		v.Faults = value.(*v1beta2.VolumeFaults)
	case "migrationFailure":
		v.MigrationFailure = value.(*v1beta2.MigrationFailure)
	case "currentImage":
		v.CurrentImage = value.(string)
	case "robustness":
		v.Robustness = value.(string)
	case "expansionRequired":
		v.ExpansionRequired = value.(bool)
	case "remountRequestedAt":
		v.RemountRequestedAt = value.(string)
	}
}

// settle lets everybody act until nothing changes any more, and returns false when that takes too long.
func (s *fixture) settle() bool {
	for range 60 {
		moved := s.step()
		moved = s.imMonitor() || moved
		s.Now = s.Now.Add(time.Second)
		if !moved {
			return true
		}
	}
	return false
}

func (s *fixture) String() string {
	var b strings.Builder
	v := s.Volume
	fmt.Fprintf(&b, "wanted %q on %q state %s %s; attached: %v\n", v.Spec.NodeID, v.Status.CurrentNodeID, v.Status.State,
		v.Status.Robustness, v.Status.Conditions)
	for _, e := range s.Engines {
		fmt.Fprintf(&b, "  %s active=%t on %q %s → %s map %v modes %v\n", e.Name, e.Spec.Active, e.Spec.NodeID, e.Status.CurrentState,
			e.Spec.DesireState, e.Spec.ReplicaAddressMap, e.Status.ReplicaModeMap)
	}
	for _, f := range s.Frontends {
		fmt.Fprintf(&b, "  %s on %q %s → %s to %s, asked to suspend %q, answered %q\n", f.Name, f.Spec.NodeID, f.Status.CurrentState,
			f.Spec.DesireState, f.Spec.EngineName, f.Spec.SuspendRequestedAt, f.Status.SuspendedAt)
	}
	for _, r := range s.Replicas {
		fmt.Fprintf(&b, "  %s of %s active=%t on %q %s → %s failed %q healthy %q\n", r.Name, r.Spec.EngineName, r.Spec.Active, r.Spec.NodeID,
			r.Status.CurrentState, r.Spec.DesireState, r.Spec.FailedAt, r.Spec.HealthyAt)
	}
	return b.String()
}
