package replica

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// copyOf shares nothing with the World that a later step changes.
func copyOf(w World) World {
	out := w
	if w.Volume != nil {
		out.Volume = w.Volume.DeepCopy()
	}
	if w.Engine != nil {
		out.Engine = w.Engine.DeepCopy()
	}
	out.Replicas = nil
	for _, r := range w.Replicas {
		out.Replicas = append(out.Replicas, r.DeepCopy())
	}
	return out
}

func TestEveryWorldHasOneVerdictAndStaysAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		if w.Volume != nil {
			w.Candidates = candidates(w)
		}
		before, promised := copyOf(w), w.Candidates
		v := Decide(w)
		require.Equal(t, v, Decide(w))
		require.Equal(t, before.Replicas, w.Replicas)
		require.Equal(t, before.Volume, w.Volume)
		if w.Volume != nil {
			require.Equal(t, candidates(w), promised)
		}
		once := map[string]bool{}
		for _, p := range v.Patches {
			require.False(t, once[p.Replica.Name], "one patch for each replica")
			once[p.Replica.Name] = true
		}
		require.LessOrEqual(t, len(v.Deletes), 1)
	})
}

// inUse is another replica that a running engine reads from and writes to, and that stays.
func inUse(w World, except *v1beta2.Replica) bool {
	return slices.ContainsFunc(w.Replicas, func(r *v1beta2.Replica) bool {
		_, mapped := w.Engine.Spec.ReplicaAddressMap[r.Name]
		return r != except && r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && !v1beta2.IsNodeDown(w.Nodes[r.Spec.NodeID]) &&
			mapped && w.Engine.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW
	})
}

// UPG-1: the last healthy replica is neither deleted nor marked as failed, and the end of its data is not approved.
func TestTheLastHealthyReplicaStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := decide(w)
		for _, d := range v.Deletes {
			if w.unplaced(d.Replica) {
				continue // it has no data
			}
			require.NotNil(t, w.Engine)
			require.True(t, inUse(w, d.Replica), "%s is deleted", d.Replica.Name)
			require.Nil(t, d.Replica.DeletionTimestamp)
		}
		count := 0
		for _, r := range w.Replicas {
			c := conditions.Get(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved)
			for _, a := range v.Approvals {
				if a.Replica == r {
					c = &a.Condition
				}
			}
			if r.DeletionTimestamp == nil || w.dataGone(r) || conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemoved) || c == nil ||
				c.Status != v1beta2.ConditionTrue || c.Reason != elsewhere {
				continue
			}
			count++
			require.True(t, inUse(w, r), "%s is approved", r.Name)
			require.NotEmpty(t, r.Status.LookRequestedAt, "by a poll that was requested for it")
			require.False(t, parse(w.Engine.Status.LookedAt).Before(parse(r.Status.LookRequestedAt)), "by a newer poll")
			require.True(t, approved(r) || w.Engine.Status.LookedAt == r.Status.LookRequestedAt, "by that very poll")
		}
		require.LessOrEqual(t, count, 1, "one at a time")
		for _, p := range v.Patches {
			if _, resets := p.Spec["healthyAt"]; resets {
				require.NotEmpty(t, p.Replica.Spec.FailedAt)
			}
		}
	})
}

// No data of a v2 replica is left behind, and none of any replica that is not deleted.
func TestAReplicaIsLetGoOnlyAtItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for _, r := range decide(w).Release {
			require.NotNil(t, r.DeletionTimestamp)
			if w.unplaced(r) {
				continue // it has no data
			}
			if r.Spec.DataEngine == v1beta2.DataEngineV2 {
				require.True(t, conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemoved))
			} else {
				require.True(t, conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved))
			}
		}
	})
}

// What is decided and done is not decided again: after a few steps nothing is left to do until somebody else moves.
func TestDoneIsDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := copyOf(anyWorld(t))
		total := len(w.Replicas)
		for range 12 {
			v := decide(w)
			if v.Scheduled == nil && len(v.Create)+len(v.Patches)+len(v.Deletes)+len(v.Approvals)+len(v.Release) == 0 && v.Poll == "" {
				return
			}
			if w.Volume != nil {
				require.LessOrEqual(t, len(v.Create), max(w.Volume.Spec.NumberOfReplicas, 1))
			}
			total += len(v.Create)
			done(&w, v)
		}
		t.Fatalf("it never comes to rest; %d replicas were created", total)
	})
}

// done applies a verdict.
func done(w *World, v Verdict) {
	for _, d := range v.Create {
		r := newReplica(d.Node)
		r.Name = vol + "-r-new-" + d.Node + string(rune('a'+len(w.Replicas)))
		r.Spec.HealthyAt, r.Spec.LastHealthyAt, r.Spec.Image = "", "", v.Image
		r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, ""
		w.Replicas = append(w.Replicas, r)
	}
	for _, a := range v.Approvals {
		a.Replica.Status.Conditions = conditions.Set(a.Replica.Status.Conditions, a.Condition, w.Now)
		a.Replica.Status.LookRequestedAt = a.LookRequestedAt
	}
	for _, p := range v.Patches {
		patched(p)
	}
	for _, d := range v.Deletes {
		d.Replica.DeletionTimestamp = &metav1.Time{Time: w.Now}
	}
	w.Replicas = slices.DeleteFunc(w.Replicas, func(r *v1beta2.Replica) bool { return slices.Contains(v.Release, r) })
	if v.Poll != "" {
		w.Engine.Spec.LookRequestedAt = v.Poll
	}
	if v.Scheduled != nil {
		w.Volume.Status.Conditions = conditions.Set(w.Volume.Status.Conditions, *v.Scheduled, w.Now)
	}
}

func patched(p Patch) {
	s := &p.Replica.Spec
	for key, value := range p.Spec {
		switch key {
		case "failedAt":
			s.FailedAt = value.(string)
		case "healthyAt":
			s.HealthyAt = value.(string)
		case "rebuildRetryCount":
			s.RebuildRetryCount = value.(int)
		case "evictionRequested":
			s.EvictionRequested = value.(bool)
		case "image":
			s.Image = value.(string)
		}
	}
}
