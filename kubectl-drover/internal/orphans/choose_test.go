package orphans

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const uuid = "7c0ffee0-0000-4000-8000-000000000001"

// worldWith has one orphan on node-1 that is evaluated and decided so.
func worldWith(kind, dataEngine, instance, orphaned, decision string) *world.World {
	object := v1beta2.Orphan{ObjectMeta: metav1.ObjectMeta{Name: "orphan-1"}, Spec: v1beta2.OrphanSpec{OrphanType: kind,
		DataEngine: dataEngine,
		NodeID:     "node-1", Parameters: map[string]string{v1beta2.OrphanParameterInstanceName: instance,
			v1beta2.OrphanParameterInstanceUUID: uuid}}}
	object.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.OrphanOrphaned, Status: v1beta2.ConditionTrue, Reason: orphaned}}
	if decision != "" {
		object.Status.Conditions = append(object.Status.Conditions,
			v1beta2.Condition{Type: v1beta2.OrphanCleanupApproved, Status: v1beta2.ConditionFalse, Reason: decision})
	}
	w := &world.World{Namespace: "longhorn-system", Now: time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)}
	w.Orphans.Items = []v1beta2.Orphan{object}
	return w
}

// chosen returns the orphans that a selector deletes and leaves alone.
func chosen(t *testing.T, w *world.World) (deleted []Orphan, left []Left) {
	t.Helper()
	plan, err := Choose(w, List(w), Selection{Node: "node-1", Data: true})
	require.NoError(t, err)
	return plan.Delete, plan.Left
}

// After an earlier state of etcd was restored, instances that serve pods have no object: a selector ends none of them.
func TestASelectorLeavesAloneWhatPolicyHoldsOrThatMayBeInUse(t *testing.T) {
	const engine, replica = v1beta2.OrphanTypeEngineInstance, v1beta2.OrphanTypeReplicaInstance
	for name, c := range map[string]struct {
		kind, orphaned, decision string
		deleted                  bool
	}{
		"an engine without an object":        {engine, v1beta2.ReasonNoOwnerCR, "", false},
		"one that policy would delete":       {engine, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonGracePeriod, true},
		"one that its object does not want":  {engine, v1beta2.ReasonStoppedButPresent, "", true},
		"a flood":                            {engine, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonFlood, false},
		"a flood that was acknowledged":      {engine, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonAcknowledged, false},
		"not recorded as abandoned":          {engine, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonNotAbandoned, false},
		"a decision of a later version":      {engine, v1beta2.ReasonStoppedButPresent, "Later", false},
		"on a node that is gone":             {engine, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonNodeGone, true},
		"a replica that an engine may use":   {replica, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonMappedByEngine, false},
		"the last copy by the controller":    {replica, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonLastCopy, false},
		"data that nobody decided about":     {replica, v1beta2.ReasonDataOnly, "", false},
		"data of another cluster":            {replica, v1beta2.ReasonForeignData, v1beta2.ReasonApproved, false},
		"data of a volume that was deleted":  {replica, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonApproved, true},
		"a replica that runs without object": {replica, v1beta2.ReasonNoOwnerCR, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			instance := map[string]string{engine: "vol-1-e-0", replica: "vol-1-r-1"}[c.kind]
			w := worldWith(c.kind, v1beta2.DataEngineV2, instance, c.orphaned, c.decision)
			deleted, left := chosen(t, w)
			require.Equal(t, c.deleted, len(deleted) == 1)
			if !c.deleted {
				require.Contains(t, left[0].Reason, "name it to delete it.")
			}
			plan, err := Choose(w, List(w), Selection{Names: []string{instance}})
			require.NoError(t, err)
			require.Len(t, plan.Delete, 1, "a person who names it deletes it")
			require.NotContains(t, plan.Delete[0].Effect, "serves no volume")
		})
	}
	t.Run("an engine that is recorded as abandoned", func(t *testing.T) {
		w := worldWith(engine, v1beta2.DataEngineV2, "vol-1-e-0", v1beta2.ReasonNoOwnerCR, "")
		node := v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
		node.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{"vol-1-e-0": {UUID: uuid, DataEngine: v1beta2.DataEngineV2}}
		w.Nodes.Items = []v1beta2.Node{node}
		deleted, _ := chosen(t, w)
		require.Len(t, deleted, 1)
	})
}

// The rule is at least as strict as orphan-controller's: another copy counts only where an engine uses it now, on a node that is ready.
func TestDataIsTheLastCopyUnlessAnotherIsWholeAndInUse(t *testing.T) {
	whole := func() *world.World {
		w := worldWith(v1beta2.OrphanTypeReplicaInstance, v1beta2.DataEngineV2, "vol-1-r-1", v1beta2.ReasonNoOwnerCR, v1beta2.ReasonApproved)
		w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}}}
		w.Replicas.Items = []v1beta2.Replica{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1-r-2"}}}
		w.Replicas.Items[0].Spec.VolumeName, w.Replicas.Items[0].Spec.NodeID = "vol-1", "node-2"
		w.Replicas.Items[0].Spec.HealthyAt = "2026-08-01T11:00:00Z"
		w.Nodes.Items = []v1beta2.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node-2"}}}
		w.Nodes.Items[0].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}
		w.Engines.Items = []v1beta2.Engine{{}}
		w.Engines.Items[0].Spec.VolumeName = "vol-1"
		w.Engines.Items[0].Status.CurrentState = v1beta2.InstanceStateRunning
		w.Engines.Items[0].Status.ReplicaModeMap = map[string]string{"vol-1-r-2": v1beta2.ReplicaModeRW}
		return w
	}
	handle := corev1.PersistentVolume{}
	handle.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: v1beta2.CSIDriver, VolumeHandle: "vol-1"}
	for name, c := range map[string]struct {
		change func(*world.World)
		last   bool
	}{
		"another one is whole and in use": {func(*world.World) {}, false},
		"its node is not ready": {func(w *world.World) { w.Nodes.Items[0].Status.Conditions[0].Status = v1beta2.ConditionFalse },
			true},
		"its node does not exist": {func(w *world.World) { w.Nodes.Items = nil }, true},
		"it failed":               {func(w *world.World) { w.Replicas.Items[0].Spec.FailedAt = "2026-08-01T11:30:00Z" }, true},
		"no engine runs":          {func(w *world.World) { w.Engines.Items = nil }, true},
		"it is being rebuilt":     {func(w *world.World) { w.Engines.Items[0].Status.ReplicaModeMap["vol-1-r-2"] = v1beta2.ReplicaModeWO }, true},
		"the volume was deleted":  {func(w *world.World) { w.Volumes.Items, w.Replicas.Items = nil, nil }, false},
		"a PersistentVolume has it": {func(w *world.World) {
			w.Volumes.Items, w.Replicas.Items, w.PersistentVolumes.Items = nil, nil, []corev1.PersistentVolume{handle}
		}, true},
		"PersistentVolumes are not known": {func(w *world.World) {
			w.Volumes.Items, w.Unread = nil, []world.Unread{{Resource: "persistentvolumes"}}
		}, true},
		"its name shows no volume": {func(w *world.World) {
			w.Orphans.Items[0].Spec.Parameters[v1beta2.OrphanParameterInstanceName] = "spare"
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := whole()
			c.change(w)
			deleted, _ := chosen(t, w)
			require.Equal(t, !c.last, len(deleted) == 1)
			warnings := List(w)[0].Warnings
			require.Len(t, warnings, 1)
			require.Equal(t, c.last, warnings[0] == List(w)[0].Held)
		})
	}
}
