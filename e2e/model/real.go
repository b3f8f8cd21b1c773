package model

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	evaluate "drover.dev/drover/im-monitor/model"
	policy "drover.dev/drover/orphan-controller/model"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	instanceName = "vol-r-00000001"
	firstManager = "im-1"
	diskHere     = "disk-1"
)

var (
	noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

	rules = []string{"", v1beta2.ReasonNoOwnerCR, v1beta2.ReasonOwnedByOtherInstanceManager, v1beta2.ReasonStoppedButPresent,
		v1beta2.ReasonDataOnly}
	states      = []string{"", v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped, v1beta2.InstanceStateTerminated}
	withdrawals = []string{"", v1beta2.ReasonInstanceGone, v1beta2.ReasonUUIDMismatch, v1beta2.ReasonClaimed, v1beta2.ReasonRenamed}
	failures    = []string{"", v1beta2.ReasonUnreachable, v1beta2.ReasonRefused, v1beta2.ReasonStillPresent, v1beta2.ReasonMappedByEngine,
		v1beta2.ReasonLastCopy}
	approvals = []string{"", v1beta2.ReasonApproved, v1beta2.ReasonNotAbandoned, v1beta2.ReasonLastCopy, v1beta2.ReasonClaimed,
		v1beta2.ReasonAcknowledged, v1beta2.ReasonNotJudged,
		v1beta2.ReasonGracePeriod, v1beta2.ReasonFlood, v1beta2.ReasonRateLimited, v1beta2.ReasonNodeGone,
		v1beta2.ReasonInstanceManagerGone}
)

const (
	stateTerminated = 3
	approved        = 1
)

func uuidOf(u uint8) string {
	if u == 0 {
		return ""
	}
	return fmt.Sprintf("00000000-0000-0000-0000-%012d", u)
}

// index finds a reason; an unknown one is an error in the model.
func index(list []string, reason string) uint8 {
	i := slices.Index(list, reason)
	if i < 0 {
		panic(fmt.Sprintf("the model knows no reason %q", reason))
	}
	return uint8(i)
}

// conditions returns the conditions of an orphan as the product reads them; a False Orphaned is not distinguished, since Withdrawn
// reports it.
func (o orphan) conditions() []v1beta2.Condition {
	var out []v1beta2.Condition
	add := func(kind string, list []string, at uint8, status v1beta2.ConditionStatus) {
		if at != 0 {
			out = append(out, v1beta2.Condition{Type: kind, Status: status, Reason: list[at]})
		}
	}
	status := func(yes bool) v1beta2.ConditionStatus {
		if yes {
			return v1beta2.ConditionTrue
		}
		return v1beta2.ConditionFalse
	}
	add(v1beta2.OrphanOrphaned, rules, o.orphaned, status(o.withdrawn == 0))
	add(v1beta2.OrphanInstanceState, states, o.instanceState, status(o.instanceState != stateTerminated))
	add(v1beta2.OrphanWithdrawn, withdrawals, o.withdrawn, v1beta2.ConditionTrue)
	add(v1beta2.OrphanCleanupFailed, failures, o.failed, v1beta2.ConditionTrue)
	add(v1beta2.OrphanCleanupApproved, approvals, o.approval, status(o.approval == approved))
	if o.byPolicy {
		out = append(out, v1beta2.Condition{Type: v1beta2.OrphanDeletionReason, Status: v1beta2.ConditionTrue,
			Reason: v1beta2.ReasonAutoDeletion})
	}
	return out
}

// withConditions copies the full set of conditions of one of the two writers.
func (o orphan) withConditions(list []v1beta2.Condition, policySide bool) orphan {
	if policySide {
		o.approval = index(approvals, conditions.Reason(list, v1beta2.OrphanCleanupApproved))
		o.byPolicy = conditions.Get(list, v1beta2.OrphanDeletionReason) != nil
		return o
	}
	o.orphaned = index(rules, conditions.Reason(list, v1beta2.OrphanOrphaned))
	o.instanceState = index(states, conditions.Reason(list, v1beta2.OrphanInstanceState))
	o.withdrawn = index(withdrawals, conditions.Reason(list, v1beta2.OrphanWithdrawn))
	o.failed = index(failures, conditions.Reason(list, v1beta2.OrphanCleanupFailed))
	return o
}

func (r replica) claim() *evaluate.Claim {
	if !r.exists {
		return nil
	}
	node := fmt.Sprintf("node-%d", r.node)
	c := &evaluate.Claim{
		Deleting: r.deleting, DesireState: desired(r.wanted), CurrentState: desired(r.running), NodeID: node,
		DiskID: fmt.Sprintf("disk-%d", r.node), VolumeName: "vol",
	}
	if r.running {
		c.OwnerID, c.InstanceManager = node, fmt.Sprintf("im-%d", r.manager)
	}
	return c
}

func desired(running bool) string {
	if running {
		return v1beta2.InstanceStateRunning
	}
	return v1beta2.InstanceStateStopped
}

// observation is the input of one evaluation, the key of its cache.
type observation struct {
	replica      replica
	runtime      runtimeState
	uuid         uint8
	window       bool
	orphans      [2]orphan
	fencingDelay bool
}

// world is the evaluator's view of a poll. list distinguishes a known list from an unknown one.
func (m *machine) world(l observation) evaluate.World {
	w := evaluate.World{
		Now: noon, Key: evaluate.Key{InstanceManager: firstManager, Name: instanceName},
		Manager: &evaluate.Manager{Node: "node-1", DataEngine: m.dataEngine()},
		// im-monitor created its data here; the disk is not ready, so that the data has no orphan of its own.
		Node:    &evaluate.Node{Disks: []evaluate.Disk{{Name: "disk-1", UUID: diskHere, Path: "/dev/a"}}},
		Replica: l.replica.claim(), Rules: evaluate.Rules{AbsenceGap: 5 * time.Second, V2Settle: 30 * time.Second},
	}
	list := evaluate.Inventory{Began: noon, EpochSince: noon.Add(-time.Hour)}
	if l.runtime != absent && !l.window {
		list.Instance = &evaluate.Instance{Type: v1beta2.InstanceTypeReplica, State: runtimeWord(l.runtime), UUID: uuidOf(l.uuid),
			UUIDSource: evaluate.SourceInstanceStatus, DiskUUID: diskHere}
	}
	if !l.window || m.fault == unknownTakenForEmpty {
		w.Inventory = &list
	}
	for k, o := range l.orphans {
		if o.exists {
			w.Orphans = append(w.Orphans, m.orphanOf(o, uint8(k+1), list.Instance, w.Inventory != nil, l.fencingDelay))
		}
	}
	return w
}

func runtimeWord(r runtimeState) string {
	if r == alive {
		return v1beta2.InstanceStateRunning
	}
	return v1beta2.InstanceStateStopped
}

func (m *machine) orphanOf(o orphan, uuid uint8, instance *evaluate.Instance, known, fencingDelay bool) evaluate.Orphan {
	out := evaluate.Orphan{
		Name:       v1beta2.OrphanName(instanceName, uuidOf(uuid), firstManager, m.dataEngine()),
		OrphanType: v1beta2.OrphanTypeReplicaInstance, DataEngine: m.dataEngine(), Node: "node-1",
		InstanceName: instanceName, InstanceManager: firstManager, UUID: uuidOf(uuid), OwnerID: "node-1",
		Deleting: o.deleting, Conditions: o.conditions(), FencingDelayed: fencingDelay && o.deleting,
		Absent: known && (instance == nil || instance.UUID != uuidOf(uuid)),
	}
	if o.deleting {
		out.DeletionSeen = noon.Add(-10 * time.Second)
	}
	return out
}

// policyWorld is the policy's view of one orphan.
func (m *machine) policyWorld(o orphan, uuid uint8, r replica, s state) policy.World {
	w := policy.World{
		Now: noon, Limits: policy.DefaultLimits(), NodeInstances: 100,
		Settings: policy.Settings{Instance: policy.Off, ReplicaData: policy.Off, GracePeriod: 300 * time.Second},
		Node:     readyNode("node-1"), InstanceManager: &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: firstManager}},
		Orphan: &v1beta2.Orphan{
			ObjectMeta: metav1.ObjectMeta{Name: v1beta2.OrphanName(instanceName, uuidOf(uuid), firstManager, m.dataEngine()),
				CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)), Finalizers: []string{v1beta2.Finalizer}},
			Spec: v1beta2.OrphanSpec{OrphanType: v1beta2.OrphanTypeReplicaInstance, DataEngine: m.dataEngine(), NodeID: "node-1",
				Parameters: map[string]string{
					v1beta2.OrphanParameterInstanceName: instanceName, v1beta2.OrphanParameterInstanceUUID: uuidOf(uuid),
					v1beta2.OrphanParameterInstanceManager: firstManager}},
			Status: v1beta2.OrphanStatus{Conditions: o.conditions()},
		},
		Replica: r.object(m.dataEngine()),
	}
	if s.abandoned == uuid || m.fault == absenceTakenForEvidence {
		w.Node.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{instanceName: {UUID: uuidOf(uuid),
			DataEngine: m.dataEngine()}}
	}
	if o.deleting {
		at := metav1.NewTime(noon.Add(-10 * time.Second))
		w.Orphan.DeletionTimestamp, w.DeletionSeen = &at, at.Time
	}
	if s.auto {
		w.Settings.Instance = policy.On
	}
	if s.volume {
		w.Volume = &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol"}}
	}
	if s.otherCopy {
		w.Copies = []policy.Copy{{Listed: true, Node: readyNode("node-3"),
			Replica: &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "vol-r-00000002"},
				Spec:   v1beta2.ReplicaSpec{NodeID: "node-3", HealthyAt: "2026-08-01T00:00:00Z"},
				Status: v1beta2.ReplicaStatus{CurrentState: v1beta2.InstanceStateRunning}}}}
	}
	return w
}

func readyNode(name string) *v1beta2.Node {
	return &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1beta2.NodeStatus{
		Conditions: []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}}}
}

func (r replica) object(dataEngine string) *v1beta2.Replica {
	c := r.claim()
	if c == nil {
		return nil
	}
	out := &v1beta2.Replica{
		ObjectMeta: metav1.ObjectMeta{Name: instanceName},
		Spec: v1beta2.ReplicaSpec{DataEngine: dataEngine, VolumeName: c.VolumeName, NodeID: c.NodeID, DiskID: c.DiskID,
			DesireState: c.DesireState},
		Status: v1beta2.ReplicaStatus{CurrentState: c.CurrentState, OwnerID: c.OwnerID, InstanceManagerName: c.InstanceManager},
	}
	if c.Deleting {
		at := metav1.NewTime(noon)
		out.DeletionTimestamp = &at
	}
	return out
}
