package orphan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// The tests build a world out of one that is quiet (a replica's instance of volume vol-1 on node-1, found orphaned an
// hour ago and recorded as given up, auto deletion off) and changes with names.

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const replica1 = "vol-1-r-aabbccdd"

type change func(*World)

func quiet(changes ...change) World {
	w := World{
		Now: noon,
		Orphan: &v1beta2.Orphan{
			ObjectMeta: metav1.ObjectMeta{
				Name: "orphan-1", UID: "uid-1", ResourceVersion: "7", Finalizers: []string{v1beta2.Finalizer},
				CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)),
			},
			Spec: v1beta2.OrphanSpec{
				DataEngine: v1beta2.DataEngineV2, NodeID: "node-1", OrphanType: v1beta2.OrphanTypeReplicaInstance,
				Parameters: map[string]string{
					v1beta2.OrphanParameterInstanceName: replica1, v1beta2.OrphanParameterInstanceUUID: "uuid-1",
					v1beta2.OrphanParameterInstanceManager: "im-1",
				},
			},
		},
		Node:            node("node-1"),
		InstanceManager: &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: "im-1"}},
		NodeInstances:   100,
		Settings:        Settings{Instance: Off, ReplicaData: Off, GracePeriod: 5 * time.Minute},
		Limits:          DefaultLimits(),
	}
	set(&w, v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonNoOwnerCR)
	set(&w, v1beta2.OrphanInstanceState, v1beta2.ConditionTrue, v1beta2.InstanceStateRunning)
	for _, c := range changes {
		c(&w)
	}
	if w.Node != nil && w.Node.Status.AbandonedInstances == nil {
		givenUp("uuid-1", w.Orphan.Spec.DataEngine)(&w)
	}
	return w
}

// givenUp is attach-controller's record that it abandoned the instance of the orphan's name.
func givenUp(uuid, dataEngine string) change {
	return func(w *World) {
		w.Node.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{NameOf(w.Orphan): {UUID: uuid, DataEngine: dataEngine}}
	}
}

// acceptedAs is a person's record that an orphan of this UID is given up.
func acceptedAs(uid string) change {
	return func(w *World) {
		w.Orphan.Annotations = map[string]string{v1beta2.AnnotationGivenUp: uid, v1beta2.AnnotationGivenUpBy: "jane 2026-08-01T11:55:00Z"}
	}
}

// recordedBy is the part of a person's record that names the person and the time.
func recordedBy(by string) change {
	return func(w *World) { w.Orphan.Annotations[v1beta2.AnnotationGivenUpBy] = by }
}

func neverGivenUp(w *World) {
	w.Node.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{}
}

func set(w *World, conditionType string, status v1beta2.ConditionStatus, reason string) {
	w.Orphan.Status.Conditions = conditions.Set(w.Orphan.Status.Conditions, v1beta2.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: "As found.",
	}, noon.Add(-time.Minute))
}

func with(conditionType string, status v1beta2.ConditionStatus, reason string) change {
	return func(w *World) { set(w, conditionType, status, reason) }
}

func without(conditionType string) change {
	return func(w *World) {
		w.Orphan.Status.Conditions = conditions.Remove(w.Orphan.Status.Conditions, conditionType)
	}
}

func evaluatedBy(rule string) change {
	return with(v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, rule)
}

func withdrawnFor(reason string) change {
	return with(v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, reason)
}

func heldBackFor(reason string) change {
	return with(v1beta2.OrphanCleanupApproved, v1beta2.ConditionFalse, reason)
}

// A person deleted the orphan ten seconds ago.
func deletedByPerson(w *World) {
	deletedBefore(10 * time.Second)(w)
}

// deletedBefore is a deletion that was seen at once.
func deletedBefore(ago time.Duration) func(*World) {
	return func(w *World) {
		at := metav1.NewTime(noon.Add(-ago))
		w.Orphan.DeletionTimestamp, w.DeletionSeen = &at, at.Time
	}
}

// The policy stored its reason and its approval, and has not deleted yet.
func approvedByPolicy(w *World) {
	set(w, v1beta2.OrphanDeletionReason, v1beta2.ConditionTrue, v1beta2.ReasonAutoDeletion)
	set(w, v1beta2.OrphanCleanupApproved, v1beta2.ConditionTrue, v1beta2.ReasonApproved)
}

func autoDeletionOn(w *World) { w.Settings.Instance = On }
func autoDeletionUnreadable(w *World) {
	w.Settings.Instance, w.Settings.ReplicaData = Unreadable, Unreadable
}
func replicaDataOn(w *World)         { w.Settings.ReplicaData = On }
func evicting(w *World)              { w.Node.Spec.EvictionRequested = true }
func nodeAbsent(w *World)            { w.Node = nil }
func instanceManagerAbsent(w *World) { w.InstanceManager = nil }
func dryRunOn(w *World)              { w.Limits.DryRun = true }
func released1(w *World)             { w.Orphan.Finalizers = []string{"someone/else"} }
func volumeExists(w *World) {
	w.Volume = &v1beta2.Volume{Status: v1beta2.VolumeStatus{State: "attached"}}
}
func volumeDetached(w *World) {
	w.Volume = &v1beta2.Volume{Status: v1beta2.VolumeStatus{State: "detached"}}
}
func persistentVolumeExists(w *World) { w.PersistentVolume = true }

func aged(age time.Duration) change {
	return func(w *World) { w.Orphan.CreationTimestamp = metav1.NewTime(noon.Add(-age)) }
}

func ofType(orphanType string) change {
	return func(w *World) { w.Orphan.Spec.OrphanType = orphanType }
}

// onBlockDisk makes it an orphan of the data of the same replica on a v2 disk.
func onBlockDisk(w *World) {
	w.Orphan.Spec.OrphanType, w.InstanceManager = v1beta2.OrphanTypeReplicaData, nil
	w.Orphan.Spec.Parameters = map[string]string{v1beta2.OrphanParameterDataName: replica1, v1beta2.OrphanParameterDiskName: "disk-1",
		v1beta2.OrphanParameterDiskUUID: "uuid-a", v1beta2.OrphanParameterDiskPath: "/dev/a",
		v1beta2.OrphanParameterDiskType: v1beta2.DiskTypeBlock}
	set(w, v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonDataOnly)
	set(w, v1beta2.OrphanDataCleanable, v1beta2.ConditionTrue, "")
}

func instanceNamed(name string) change {
	return func(w *World) { w.Orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceName] = name }
}

func inFlight(n int) change { return func(w *World) { w.InFlight = n } }

func nodeNotReady(reason string) change {
	return func(w *World) { w.Node = node("node-1", notReady(reason)) }
}

// siblings adds n orphans of the same node, created so long after this one.
func siblings(n int, rule, approval string, after time.Duration) change {
	return func(w *World) {
		for range n {
			w.Siblings = append(w.Siblings, Sibling{
				UID: types.UID(rune('a' + len(w.Siblings))), Created: w.Orphan.CreationTimestamp.Add(after), Rule: rule, Approval: approval,
			})
		}
	}
}

func node(name string, changes ...func(*v1beta2.Node)) *v1beta2.Node {
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}
	for _, c := range changes {
		c(n)
	}
	return n
}

func notReady(reason string) func(*v1beta2.Node) {
	return func(n *v1beta2.Node) {
		n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse, Reason: reason}}
	}
}

// claim makes the Replica of the instance's name.
func claim(desireState, instanceManager, nodeID string) change {
	return func(w *World) {
		w.Replica = &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: replica1}}
		w.Replica.Spec.DesireState, w.Replica.Spec.NodeID = desireState, nodeID
		w.Replica.Status.InstanceManagerName = instanceManager
	}
}

// another adds a healthy running copy on node-2, and changes it.
func another(changes ...func(*Copy)) change {
	return func(w *World) {
		c := Copy{Replica: &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "vol-1-r-00000002"}}, Node: node("node-2"), Listed: true}
		c.Replica.Spec.HealthyAt = "2026-08-01T00:00:00Z"
		c.Replica.Status.CurrentState = v1beta2.InstanceStateRunning
		for _, change := range changes {
			change(&c)
		}
		w.Copies = append(w.Copies, c)
	}
}
