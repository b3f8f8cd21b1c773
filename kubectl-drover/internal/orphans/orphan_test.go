package orphans

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// is adds a condition to the one orphan of the world.
func is(w *world.World, kind string, status v1beta2.ConditionStatus, reason string) {
	object := &w.Orphans.Items[0]
	object.Status.Conditions = append(object.Status.Conditions, v1beta2.Condition{Type: kind, Status: status, Reason: reason,
		Message: "A sentence."})
}

// deleted deletes it, for a reason that is empty where a person did.
func deleted(w *world.World, reason string) {
	w.Orphans.Items[0].DeletionTimestamp = &metav1.Time{Time: w.Now.Add(-time.Hour)}
	if reason != "" {
		is(w, v1beta2.OrphanDeletionReason, v1beta2.ConditionTrue, reason)
	}
}

func TestTheEffectOfADeletionIsNamedBeforeIt(t *testing.T) {
	const engine, replica, data = v1beta2.OrphanTypeEngineInstance, v1beta2.OrphanTypeReplicaInstance, v1beta2.OrphanTypeReplicaData
	const v1, v2 = v1beta2.DataEngineV1, v1beta2.DataEngineV2
	claimedOn := func(node string) func(*world.World) {
		return func(w *world.World) {
			w.Replicas.Items = []v1beta2.Replica{{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, {ObjectMeta: metav1.ObjectMeta{Name: "vol-1-r-1"},
				Spec: v1beta2.ReplicaSpec{NodeID: node}}}
		}
	}
	for name, test := range map[string]struct {
		kind, engine, orphaned string
		change                 func(*world.World)
		want                   string
		destroys               bool
	}{
		"an engine that its object does not want": {kind: engine, engine: v2, orphaned: v1beta2.ReasonStoppedButPresent,
			want: "Ends the engine on node node-1."},
		"an engine without an object": {kind: engine, engine: v2, orphaned: v1beta2.ReasonNoOwnerCR,
			want: "Ends the engine on node node-1; a volume without objects may still be using it."},
		"a process of v1": {kind: replica, engine: v1, want: "Ends the process on node node-1; the data stays on the disk."},
		"one of no data engine is of v1": {kind: replica, engine: "",
			want: "Ends the process on node node-1; the data stays on the disk."},
		"a directory of v1": {kind: data, engine: v1,
			want: "Only the Orphan goes: the directory stays on the disk, remove it there by hand."},
		"data of v2": {kind: data, engine: v2, want: "Destroys the replica's data on node node-1.", destroys: true},
		"data on a block disk is of v2": {kind: data, engine: "", change: func(w *world.World) {
			w.Orphans.Items[0].Spec.Parameters[v1beta2.OrphanParameterDiskType] = v1beta2.DiskTypeBlock
		}, want: "Destroys the replica's data on node node-1.", destroys: true},
		"an instance of v2 whose data its Replica claims": {kind: replica, engine: v2, change: claimedOn("node-1"),
			want: "Ends the instance on node node-1; its data stays, Replica vol-1-r-1 claims it."},
		"a Replica that names no node claims the data on any": {kind: replica, engine: v2, change: claimedOn(""),
			want: "Ends the instance on node node-1; its data stays, Replica vol-1-r-1 claims it."},
		"a Replica of another node claims nothing here": {kind: replica, engine: v2, change: claimedOn("node-2"),
			want: "Destroys the replica's data on node node-1.", destroys: true},
		"one that was withdrawn": {kind: replica, engine: v2, change: func(w *world.World) {
			is(w, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, "InstanceGone")
		}, want: "Only the Orphan goes: it was withdrawn."},
		"one that is no more withdrawn": {kind: replica, engine: v2, change: func(w *world.World) {
			is(w, v1beta2.OrphanWithdrawn, v1beta2.ConditionFalse, "InstanceGone")
		}, want: "Destroys the replica's data on node node-1.", destroys: true},
		"one that a person deleted": {kind: engine, engine: v2, change: func(w *world.World) { deleted(w, "") },
			want: "Nothing more: it is deleted already."},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldWith(test.kind, test.engine, "vol-1-r-1", test.orphaned, "")
			if test.change != nil {
				test.change(w)
			}
			o := List(w)[0]
			require.Equal(t, test.want, o.Effect)
			require.Equal(t, test.destroys, o.DestroysData)
			require.Equal(t, test.destroys, len(o.Warnings) > 0)
		})
	}
}

// Data of another cluster is no copy of a volume here, and may be the only one there.
func TestDataThatCameWithItsDiskHasAWarning(t *testing.T) {
	w := worldWith(v1beta2.OrphanTypeReplicaData, v1beta2.DataEngineV2, "vol-1-r-1", v1beta2.ReasonForeignData, "")
	require.Equal(t, []string{"Volume vol-1 does not exist: it was deleted, or its objects are missing, as after etcd was restored.",
		"The data came with its disk, and may be another cluster's."}, List(w)[0].Warnings)
}

// What a policy deleted and holds back waits for a person, who may release it; what a person deleted is under way.
func TestAPersonReleasesWhatAPolicyHoldsBack(t *testing.T) {
	for name, test := range map[string]struct {
		decision string
		change   func(*world.World)
		want     bool
		by       string
	}{
		"a policy, and it may be the last copy": {v1beta2.ReasonLastCopy, func(w *world.World) { deleted(w, "AutoDeletion") }, true,
			"AutoDeletion"},
		"a policy that goes on": {v1beta2.ReasonApproved, func(w *world.World) { deleted(w, "AutoDeletion") }, false, "AutoDeletion"},
		"a policy whose attempt was given up for the last copy": {v1beta2.ReasonApproved, func(w *world.World) {
			deleted(w, "Eviction")
			is(w, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonLastCopy)
		}, true, "Eviction"},
		"a policy whose attempt failed": {v1beta2.ReasonApproved, func(w *world.World) {
			deleted(w, "Eviction")
			is(w, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, "Unreachable")
		}, false, "Eviction"},
		"it was withdrawn": {v1beta2.ReasonLastCopy, func(w *world.World) {
			deleted(w, "AutoDeletion")
			is(w, v1beta2.OrphanWithdrawn, v1beta2.ConditionTrue, "InstanceGone")
		}, false, "AutoDeletion"},
		"a person gave the word already": {v1beta2.ReasonLastCopy, func(w *world.World) {
			deleted(w, "AutoDeletion")
			w.Orphans.Items[0].UID = "uid-1"
			w.Orphans.Items[0].Annotations = map[string]string{v1beta2.AnnotationDeleteByHand: "uid-1"}
		}, false, "AutoDeletion"},
		"a person deleted it": {v1beta2.ReasonLastCopy, func(w *world.World) { deleted(w, "") }, false, "person"},
		"no one deleted it":   {v1beta2.ReasonLastCopy, func(*world.World) {}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldWith(v1beta2.OrphanTypeReplicaInstance, v1beta2.DataEngineV2, "vol-1-r-1", v1beta2.ReasonNoOwnerCR, test.decision)
			test.change(w)
			o := List(w)[0]
			require.Equal(t, test.want, o.Releasable)
			require.Equal(t, test.by, o.DeletedBy)
			plan, err := Choose(w, List(w), Selection{Names: []string{"vol-1-r-1"}})
			require.NoError(t, err)
			require.Equal(t, test.want || test.by == "", len(plan.Delete) == 1)
			plan, err = Choose(w, List(w), Selection{Data: true})
			require.NoError(t, err)
			require.Empty(t, plan.Delete, "a selector releases nothing")
			if test.by != "" {
				require.Equal(t, "2026-08-01T11:00:00Z", o.DeletedSince)
				require.Equal(t, "It is deleted already.", plan.Left[0].Reason)
			}
		})
	}
}

func TestAnAttemptThatWasGivenUpHoldsTheOrphan(t *testing.T) {
	for reason, want := range map[string]string{
		v1beta2.ReasonMappedByEngine: "The last attempt was given up: MappedByEngine.",
		v1beta2.ReasonLastCopy:       "The last attempt was given up: LastCopy.",
		"Unreachable":                "",
	} {
		w := worldWith(v1beta2.OrphanTypeEngineInstance, v1beta2.DataEngineV2, "vol-1-e-0", v1beta2.ReasonStoppedButPresent, "")
		is(w, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, reason)
		require.Equal(t, want, List(w)[0].Held, reason)
	}
}

func TestAnOrphanIsShownByWhatItIsNotByItsHashedName(t *testing.T) {
	w := worldWith(v1beta2.OrphanTypeReplicaData, v1beta2.DataEngineV2, "", v1beta2.ReasonDataOnly, "")
	w.Orphans.Items[0].CreationTimestamp = metav1.NewTime(w.Now.Add(-time.Minute))
	w.Orphans.Items[0].Spec.Parameters[v1beta2.OrphanParameterDataName] = "vol-2-r-1"
	w.Orphans.Items[0].Spec.Parameters[v1beta2.OrphanParameterDiskName] = "block-1"
	o := List(w)[0]
	require.Equal(t, []string{"vol-2-r-1", "vol-2", "block-1", "2026-08-01T11:59:00Z"}, []string{o.Instance, o.Volume, o.Place, o.Created})

	w.Orphans.Items[0].Spec.Parameters = nil
	w.Orphans.Items[0].CreationTimestamp = metav1.Time{}
	o = List(w)[0]
	require.Equal(t, []string{"orphan-1", "", "", ""}, []string{o.Instance, o.Volume, o.Place, o.Created}, "nothing else is known")
}

func TestOrphansAreInOrderOfTheirInstancesAndNodes(t *testing.T) {
	w := worldWith(v1beta2.OrphanTypeEngineInstance, v1beta2.DataEngineV2, "b", v1beta2.ReasonNoOwnerCR, "")
	add := func(object, instance, node, kind string) {
		one := *w.Orphans.Items[0].DeepCopy()
		one.Name, one.Spec.NodeID, one.Spec.OrphanType = object, node, kind
		one.Spec.Parameters[v1beta2.OrphanParameterInstanceName] = instance
		w.Orphans.Items = append(w.Orphans.Items, one)
	}
	add("5", "b", "node-1", v1beta2.OrphanTypeReplicaInstance)
	add("4", "b", "node-0", v1beta2.OrphanTypeReplicaInstance)
	add("3", "a", "node-9", v1beta2.OrphanTypeReplicaInstance)
	add("2", "b", "node-1", v1beta2.OrphanTypeReplicaInstance)
	var objects []string
	for _, o := range List(w) {
		objects = append(objects, o.Object)
	}
	require.Equal(t, []string{"3", "4", "orphan-1", "2", "5"}, objects)
}
