package nodeupgrade_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// scene is a world in which node-1 is being upgraded, with a volume attached there that has a replica on each node.
type scene struct {
	*model.World
	u     *v1beta2.NodeDataEngineUpgrade
	m     *v1beta2.DataEngineUpgradeManager
	other []*v1beta2.NodeDataEngineUpgrade
	now   time.Time
	stale bool
	clone map[string][]string
}

// at is the scene in a state that began a minute ago, everything before it done.
func at(state string, change func(*scene)) *scene {
	s := &scene{World: model.New(), now: now}
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		s.AddNode(name)
	}
	s.AddVolume("vol", "node-1", "node-1", "node-2", "node-3")
	s.m = &v1beta2.DataEngineUpgradeManager{ObjectMeta: s.Meta("upgrade")}
	s.u = &v1beta2.NodeDataEngineUpgrade{ObjectMeta: s.Meta("upgrade-node-1")}
	s.u.Finalizers = []string{v1beta2.Finalizer}
	s.u.Spec = v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1", DataEngine: v1beta2.DataEngineV2, InstanceManagerImage: model.NewImage,
		DataEngineUpgradeManager: "upgrade"}
	s.u.Status.State, s.u.Status.StartedAt = state, now.Add(-time.Hour).Format(time.RFC3339Nano)
	s.u.Status.StateSince = now.Add(-time.Minute).Format(time.RFC3339Nano)
	if state == v1beta2.UpgradeStateError || state == v1beta2.UpgradeStateRollingBack {
		s.u.Status.ErrorMessage = "It burned."
	}
	switch state {
	case "", v1beta2.UpgradeStateUndefined:
	case v1beta2.UpgradeStateRollingBack:
		s.reached(v1beta2.UpgradeStateDetachingReplicas)
	default:
		s.reached(state)
	}
	if change != nil {
		change(s)
	}
	return s
}

// steps are the states in their order.
var steps = []string{
	v1beta2.UpgradeStateUndefined, v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingOver,
	v1beta2.UpgradeStateDetachingReplicas, v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateSwitchingBack,
	v1beta2.UpgradeStateRebuildingReplica,
}

// reached makes true what the states before this one bring about.
func (s *scene) reached(state string) {
	for _, before := range steps {
		if before == state {
			return
		}
		switch before {
		case v1beta2.UpgradeStateUndefined:
			s.Nodes["node-1"].Spec.UpgradeRequested = true
		case v1beta2.UpgradeStateInitializing:
			s.Snapshots["snap"] = &v1beta2.Snapshot{ObjectMeta: s.Meta("snap"), Status: v1beta2.SnapshotStatus{ReadyToUse: true}}
			s.u.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"vol": {
				State: v1beta2.VolumeUpgradeReady, OriginalNodeID: "node-1", Snapshot: "snap"}}
		case v1beta2.UpgradeStateSwitchingOver:
			s.moveTo("node-2")
		case v1beta2.UpgradeStateDetachingReplicas:
			s.takeOut()
		case v1beta2.UpgradeStateUpgradingInstanceManager:
			s.replace()
		case v1beta2.UpgradeStateSwitchingBack:
			s.Volumes["vol"].Spec.TargetNodeID, s.Volumes["vol"].Status.CurrentTargetNodeID = "", ""
			s.Engines["vol-e-0"].Spec.NodeID = "node-1"
		}
	}
}

// set changes what the status reports about the volume.
func (s *scene) set(change func(*v1beta2.VolumeUpgradeStatus)) {
	x := s.u.Status.Volumes["vol"]
	change(&x)
	s.u.Status.Volumes["vol"] = x
}

func (s *scene) moveTo(node string) {
	s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.TemporaryNodeID, x.State = node, v1beta2.VolumeUpgradeAway })
	s.Volumes["vol"].Spec.TargetNodeID, s.Volumes["vol"].Status.CurrentTargetNodeID = node, node
	s.Engines["vol-e-0"].Spec.NodeID = node
}

func (s *scene) takeOut() {
	s.set(func(x *v1beta2.VolumeUpgradeStatus) {
		x.Replica, x.State = "vol-r-node-1", v1beta2.VolumeUpgradeDetached
	})
	r, e := s.Replicas["vol-r-node-1"], s.Engines["vol-e-0"]
	r.Spec.DesireState, r.Status.CurrentState, r.Spec.FailedAt = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped, "then"
	delete(e.Spec.ReplicaAddressMap, r.Name)
	delete(e.Status.ReplicaModeMap, r.Name)
	s.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessDegraded
	old := s.manager(model.OldImage)
	s.u.Status.OldInstanceManager = &v1beta2.InstanceManagerReference{Name: old.Name, UID: string(old.UID)}
}

func (s *scene) replace() {
	delete(s.Managers, s.manager(model.OldImage).Name)
	fresh := s.manager(model.NewImage)
	fresh.Status.CurrentState, fresh.Status.APIVersion = v1beta2.InstanceManagerStateRunning, 7
}

// disk gives node-1 a v2 disk whose UUID is recorded.
func (s *scene) disk(ready v1beta2.ConditionStatus, load *v1beta2.DiskLoad) {
	n := s.Nodes["node-1"]
	n.Spec.Disks = map[string]v1beta2.DiskSpec{"disk-1": {DiskType: "block", Path: "/dev/disk-1"}}
	n.Status.DiskStatus = map[string]v1beta2.DiskStatus{"disk-1": {DiskUUID: "uuid-1", Load: load,
		Conditions: []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: ready, Reason: v1beta2.ReasonNoDiskInfo}}}}
}

// loaded gives node-1 a v2 disk that its instance manager of an image reported ready, at a time of im-monitor's clock.
func (s *scene) loaded(image string, readyAt time.Time) {
	s.disk(v1beta2.ConditionTrue, &v1beta2.DiskLoad{Server: image, State: v1beta2.DiskLoadReady, ReadyAt: readyAt.Format(time.RFC3339)})
	d := s.Nodes["node-1"].Status.DiskStatus["disk-1"]
	d.InstanceManagerName = v1beta2.InstanceManagerName("node-1", image, v1beta2.DataEngineV2)
	s.Nodes["node-1"].Status.DiskStatus["disk-1"] = d
}

// manager is node-1's instance manager of an image.
func (s *scene) manager(image string) *v1beta2.InstanceManager {
	return s.Managers[v1beta2.InstanceManagerName("node-1", image, v1beta2.DataEngineV2)]
}

// keepFree lets a person keep the other nodes free.
func (s *scene) keepFree() {
	s.Nodes["node-2"].Spec.EvictionRequested, s.Nodes["node-3"].Spec.AllowScheduling = true, false
}

func (s *scene) down(node string) {
	if s.Nodes[node] == nil {
		return
	}
	s.Nodes[node].Status.Conditions[0] = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonKubernetesNodeNotReady}
}

// polled answers a poll that was requested now.
func (s *scene) polled() { s.Engines["vol-e-0"].Status.LookedAt = now.Format(time.RFC3339Nano) }

// rebuilding lets the volume's replica on the node be rebuilt so far, in per cent.
func (s *scene) rebuilding(node string, progress int) {
	r, e := s.Replicas["vol-r-"+node], s.Engines["vol-e-0"]
	e.Spec.ReplicaAddressMap[r.Name], e.Status.ReplicaModeMap[r.Name] = "10.0.0.9:1", v1beta2.ReplicaModeWO
	e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://10.0.0.9:1": {IsRebuilding: true, Progress: progress}}
}

func (s *scene) late() { s.u.Status.StateSince = now.Add(-time.Hour).Format(time.RFC3339Nano) }

func (s *scene) abort() { s.m.Spec.Abort = true }

func (s *scene) delete() { s.u.DeletionTimestamp = &metav1.Time{Time: now} }

func (s *scene) world() nodeupgrade.World {
	return nodeupgrade.World{Now: s.now, Upgrade: s.u, Manager: s.m, Others: s.other, Cluster: s.Cluster(), Snapshots: s.Snapshots,
		Clones: s.clone, Fresh: !s.stale}
}

func (s *scene) decide() nodeupgrade.Verdict { return nodeupgrade.Decide(s.world()) }

func reason(v nodeupgrade.Verdict) string {
	return conditions.Reason(v.Status.Conditions, v1beta2.UpgradeProgressing)
}

func stalled(v nodeupgrade.Verdict) bool {
	return conditions.IsTrue(v.Status.Conditions, v1beta2.UpgradeStalled)
}
