package orphan

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// after is the world once the verdict's step is done and nothing else has changed.
func after(w World, v Verdict) World {
	w.Orphan = w.Orphan.DeepCopy()
	switch v.Step {
	case StepConditions:
		others := slices.DeleteFunc(slices.Clone(w.Orphan.Status.Conditions),
			func(c v1beta2.Condition) bool { return slices.Contains(ownTypes, c.Type) })
		w.Orphan.Status.Conditions = append(others, v.Conditions...)
	case StepDelete:
		at := metav1.NewTime(w.Now)
		w.Orphan.DeletionTimestamp, w.DeletionSeen = &at, w.Now
	case StepDropFinalizer:
		w.Orphan.Finalizers = nil
	}
	return w
}

// checkVerdict holds for every world.
func checkVerdict(t require.TestingT, w World, v Verdict) {
	stored := ownConditions(w)
	require.NotEmpty(t, v.Outcome)
	require.True(t, slices.IsSortedFunc(v.Conditions, func(a, b v1beta2.Condition) int {
		if a.Type < b.Type {
			return -1
		}
		return 1
	}), "the set is ordered by type")
	require.Equal(t, v.Step == StepConditions, !conditions.Equal(stored, v.Conditions),
		"conditions are written when they differ, and only then")
	if deleting(w) {
		require.NotEqual(t, StepDelete, v.Step)
		require.Equal(t, conditions.Get(stored, v1beta2.OrphanDeletionReason), conditions.Get(v.Conditions, v1beta2.OrphanDeletionReason),
			"the reason of a deletion never changes afterwards")
	} else {
		require.NotEqual(t, StepDropFinalizer, v.Step)
	}
	approvedWanted := conditions.IsTrue(v.Conditions, v1beta2.OrphanCleanupApproved)
	if v.Step == StepConditions && approvedWanted {
		require.False(t, Claims(w), "ORP-1: what is claimed is not approved")
		require.False(t, conditions.IsTrue(w.Orphan.Status.Conditions, v1beta2.OrphanWithdrawn), "what is withdrawn is not approved")
		require.NotEmpty(t, evaluation(w), "an orphan without evaluation is not approved")
		require.True(t, isInstance(w) || isData(w) && conditions.IsTrue(w.Orphan.Status.Conditions, v1beta2.OrphanDataCleanable))
		byPolicy := conditions.Get(v.Conditions, v1beta2.OrphanDeletionReason) != nil
		require.True(t, byPolicy || deleting(w), "a standing orphan is approved only together with the reason of policy")
		if byPolicy {
			require.True(t, v.Confirm, "policy decides on uncached reads before it approves")
		}
		if released := deleting(w) && v1beta2.DeletedByHand(w.Orphan); byPolicy && !released { // policy alone
			last, _ := lastCopy(w)
			require.False(t, last, "UPG-1: policy approves no last copy")
			require.NotEqual(t, v1beta2.ReasonForeignData, evaluation(w), "policy does not delete data that came with its disk")
			require.False(t, w.Limits.DryRun)
		}
	}
	if v.Step == StepDelete {
		require.True(t, v.Confirm)
		if conditions.IsTrue(stored, v1beta2.OrphanCleanupApproved) && v.Outcome == v1beta2.ReasonApproved {
			require.NotNil(t, conditions.Get(stored, v1beta2.OrphanDeletionReason), "the reason is stored before the deletion")
			require.True(t, approvedWanted)
		}
	}
	if v.Step == StepDropFinalizer {
		checkEnd(t, w)
	}
	if !v.RequeueAt.IsZero() {
		require.True(t, v.RequeueAt.After(w.Now), "it requeues only in the future")
	}
}

// checkEnd: ORP-4, every orphan ends with its instance gone, its evaluation withdrawn, or a reason of its own that is
// stored.
func checkEnd(t require.TestingT, w World) {
	list := w.Orphan.Status.Conditions
	gone := conditions.IsFalse(list, v1beta2.OrphanInstanceState) &&
		conditions.Reason(list, v1beta2.OrphanInstanceState) == v1beta2.InstanceStateTerminated
	taken := conditions.IsTrue(list, v1beta2.OrphanWithdrawn) &&
		slices.Contains(withdrawals, conditions.Reason(list, v1beta2.OrphanWithdrawn))
	ended := conditions.IsFalse(list, v1beta2.OrphanCleanupApproved) &&
		slices.Contains(append([]string{v1beta2.ReasonNotJudged}, ends...), conditions.Reason(list, v1beta2.OrphanCleanupApproved))
	require.True(t, gone || taken || ended, "ORP-4: the finalizer stays until the end is known")
}

func TestDecideHoldsItsInvariantsInEveryWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		checkVerdict(t, w, Decide(w))
	})
}

func TestDecideDoesNotDependOnTheOrderOfLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		first := Decide(w)
		shuffled := w
		shuffled.Orphan = w.Orphan.DeepCopy()
		shuffled.Copies, shuffled.Siblings = slices.Clone(w.Copies), slices.Clone(w.Siblings)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		list := shuffled.Orphan.Status.Conditions
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		r.Shuffle(len(shuffled.Copies), func(i, j int) {
			shuffled.Copies[i], shuffled.Copies[j] = shuffled.Copies[j], shuffled.Copies[i]
		})
		r.Shuffle(len(shuffled.Siblings), func(i, j int) {
			shuffled.Siblings[i], shuffled.Siblings[j] = shuffled.Siblings[j], shuffled.Siblings[i]
		})
		require.Equal(t, first, Decide(shuffled))
	})
}

func TestDecideReachesAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		// At most: conditions, deletion, conditions for the deleted one, finalizer.
		for range 5 {
			v := Decide(w)
			checkVerdict(t, w, v)
			if v.Step == StepNone {
				require.Equal(t, v, Decide(w))
				return
			}
			next := after(w, v)
			if v.Step == StepConditions {
				require.NotEqual(t, StepConditions, Decide(next).Step, "deciding again on what was stored stores nothing")
			}
			w = next
		}
		t.Fatalf("no fixed point: %+v", Decide(w))
	})
}

func TestDecideDoesNotChangeItsWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		before := w.Orphan.DeepCopy()
		Decide(w)
		require.Equal(t, before, w.Orphan)
	})
}

func anyWorld(t *rapid.T) World {
	bit := func(name string) bool { return rapid.Bool().Draw(t, name) }
	w := quiet(aged(time.Duration(rapid.IntRange(0, 600).Draw(t, "age")) * time.Second))
	w.Orphan.Spec.OrphanType = rapid.SampledFrom([]string{
		v1beta2.OrphanTypeEngineInstance, v1beta2.OrphanTypeReplicaInstance, v1beta2.OrphanTypeReplicaData, "strange",
	}).Draw(t, "type")
	cleanable := false
	if bit("on a block disk") && w.Orphan.Spec.OrphanType == v1beta2.OrphanTypeReplicaData {
		onBlockDisk(&w)
		cleanable = bit("cleanable")
	}
	w.Orphan.Status.Conditions = anyConditions(t)
	if cleanable {
		set(&w, v1beta2.OrphanDataCleanable, v1beta2.ConditionTrue, "")
	}
	if bit("deleting") {
		ago := time.Duration(rapid.IntRange(0, 1200).Draw(t, "deleted")) * time.Second
		deletedBefore(ago)(&w)
	}
	if bit("by hand") {
		w.Orphan.Annotations = map[string]string{v1beta2.AnnotationDeleteByHand: string(w.Orphan.UID)}
	}
	if bit("released") {
		w.Orphan.Finalizers = nil
	}
	w.Node = anyNode(t, "node")
	if bit("no instance manager") {
		w.InstanceManager = nil
	}
	w.Settings.Instance = rapid.SampledFrom([]AutoDeletion{Off, On, Unreadable}).Draw(t, "instance")
	w.Settings.ReplicaData = rapid.SampledFrom([]AutoDeletion{Off, On, Unreadable}).Draw(t, "replica-data")
	w.InFlight = rapid.IntRange(0, 12).Draw(t, "in flight")
	w.Limits.DryRun = rapid.IntRange(0, 9).Draw(t, "dry run") == 0
	anyOwners(t, &w)
	for range rapid.IntRange(0, 12).Draw(t, "siblings") {
		siblings(1, anyOf(t, "rule", evaluations...), anyOf(t, "approval", "", v1beta2.ReasonAcknowledged, v1beta2.ReasonApproved),
			time.Duration(rapid.IntRange(-90, 90).Draw(t, "after"))*time.Second)(&w)
	}
	w.NodeInstances = rapid.IntRange(0, 60).Draw(t, "instances")
	return w
}

func anyOwners(t *rapid.T, w *World) {
	states := []string{v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped}
	if rapid.Bool().Draw(t, "replica exists") {
		claim(anyOf(t, "desire", states...), anyOf(t, "im", "", "im-1", "im-2"), anyOf(t, "on", "", "node-1", "node-2"))(w)
	}
	if rapid.Bool().Draw(t, "engine exists") {
		w.Engine = &v1beta2.Engine{}
		w.Engine.Spec.DesireState, w.Engine.Spec.NodeID = anyOf(t, "engine desire", states...), anyOf(t, "engine on", "node-1", "node-2")
	}
	if rapid.Bool().Draw(t, "volume exists") {
		w.Volume = &v1beta2.Volume{Status: v1beta2.VolumeStatus{State: anyOf(t, "volume", "attached", "detached", "")}}
	}
	w.PersistentVolume = rapid.Bool().Draw(t, "pv")
	w.UsesUnnamed = anyOf(t, "uses unnamed", "", "vol-1-e-0")
	for range rapid.IntRange(0, 3).Draw(t, "copies") {
		another(func(c *Copy) {
			c.Replica.Name = anyOf(t, "copy", replica1, "vol-1-r-2", "vol-1-r-3")
			c.Replica.Spec.FailedAt = anyOf(t, "failed", "", "2026-08-01T11:00:00Z")
			c.Replica.Status.CurrentState = anyOf(t, "copy state", states...)
			c.Node = anyNode(t, "copy node")
		})(w)
	}
}

func anyNode(t *rapid.T, name string) *v1beta2.Node {
	n := node(name)
	switch rapid.IntRange(0, 9).Draw(t, name) {
	case 0:
		return nil
	case 1:
		notReady(v1beta2.ReasonKubernetesNodeNotReady)(n)
	case 2:
		notReady(v1beta2.ReasonManagerPodDown)(n)
	case 3:
		n.Spec.EvictionRequested = true
	}
	return n
}

// anyConditions draws each condition absent, or with a status and a reason out of its list, or out of no list.
func anyConditions(t *rapid.T) []v1beta2.Condition {
	var list []v1beta2.Condition
	for _, c := range []struct {
		name    string
		reasons []string
	}{
		{v1beta2.OrphanOrphaned, append([]string{"Strange"}, evaluations...)},
		{v1beta2.OrphanInstanceState, []string{v1beta2.InstanceStateRunning, v1beta2.InstanceStateTerminated, "strange"}},
		{v1beta2.OrphanWithdrawn, append([]string{"Strange"}, withdrawals...)},
		{v1beta2.OrphanDeletionReason, []string{v1beta2.ReasonAutoDeletion, v1beta2.ReasonEviction}},
		{v1beta2.OrphanCleanupApproved, []string{
			v1beta2.ReasonApproved, v1beta2.ReasonGracePeriod, v1beta2.ReasonLastCopy, v1beta2.ReasonFlood, v1beta2.ReasonRateLimited,
			v1beta2.ReasonAcknowledged, v1beta2.ReasonClaimed, v1beta2.ReasonNodeGone, v1beta2.ReasonInstanceManagerGone,
			v1beta2.ReasonNotJudged, v1beta2.ReasonNoDataPath, v1beta2.ReasonDryRun, "Strange",
		}},
		{v1beta2.OrphanCleanupFailed, []string{v1beta2.ReasonUnreachable, "Strange"}},
	} {
		if rapid.Bool().Draw(t, c.name) {
			status := rapid.SampledFrom([]v1beta2.ConditionStatus{v1beta2.ConditionTrue, v1beta2.ConditionFalse,
				v1beta2.ConditionUnknown}).Draw(t, c.name+" status")
			list = append(list, v1beta2.Condition{Type: c.name, Status: status, Reason: anyOf(t, c.name+" reason", c.reasons...),
				Message: "As found."})
		}
	}
	return list
}

func anyOf(t *rapid.T, name string, values ...string) string {
	return rapid.SampledFrom(values).Draw(t, name)
}
