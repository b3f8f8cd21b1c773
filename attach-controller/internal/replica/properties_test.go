package replica

import (
	"slices"
	"testing"
	"time"

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

// No data is left behind where it can be removed, and none is removed of a replica that is not deleted.
func TestAReplicaIsLetGoOnlyAtItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for _, r := range decide(w).Release {
			require.NotNil(t, r.DeletionTimestamp)
			if w.unplaced(r) {
				continue // it has no data
			}
			if conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemoved) {
				continue
			}
			require.NotEqual(t, v1beta2.DataEngineV2, r.Spec.DataEngine)
			require.True(t, conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved))
			require.True(t, r.Spec.DataDirectoryName == "" || w.Nodes[r.Spec.NodeID] == nil)
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

// A volume that lacks replicas over a running engine acts, has a time, or its condition says what it waits for. Three waits are not its
// own: its engine is busy, a rebuild or a deletion is under way, or replicas on nodes that are down count until the engine drops them.
func TestNoRebuildWaitsWithoutAReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := decide(w)
		if w.Volume == nil || !ready(&w) || w.heldBack() || !w.everHealthy() || !w.attached() || w.busy() {
			return
		}
		g := w.groups()
		away := slices.ContainsFunc(g.healthy, w.down)
		if len(g.staying) >= w.Volume.Spec.NumberOfReplicas || len(g.coming) > 0 || away || len(w.sources(g)) == 0 {
			return
		}
		acts := len(v.Create)+len(v.Patches)+len(v.Deletes)+len(v.Approvals)+len(v.Release) > 0 || v.Poll != ""
		explained := v.Scheduled != nil && v.Scheduled.Status == v1beta2.ConditionFalse ||
			v.Scheduled == nil && conditions.IsFalse(w.Volume.Status.Conditions, v1beta2.VolumeScheduled)
		require.True(t, acts || explained || v.RequeueAt.After(w.Now), "it waits for nothing that it names")
	})
}

// Any replica may fail at any time: the attempts of a day are few, although a replica that failed too often gets a successor.
func TestEveryRetryHasAPauseThatOutlivesItsReplica(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := attached("a b", wants(3))
		attempts := 0
		for range 400 {
			if !w.Now.Before(now.Add(23 * time.Hour)) {
				break
			}
			w = copyOf(w)
			v := decide(w)
			for _, p := range v.Patches {
				if p.Spec["failedAt"] == "" {
					attempts++
				}
			}
			attempts += len(v.Create)
			done(&w, v)
			w.Replicas = slices.DeleteFunc(w.Replicas, func(r *v1beta2.Replica) bool { return r.DeletionTimestamp != nil })
			next := w.Now.Add(time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds")) * time.Second)
			if reported(v) == "" && v.RequeueAt.After(next) {
				next = v.RequeueAt
			}
			w.Now = next
			for _, r := range w.Replicas {
				if (r.Spec.NodeID == "c" || r.Spec.NodeID == "d") && r.Spec.FailedAt == "" {
					r.Spec.FailedAt, r.Spec.LastFailedAt, r.Spec.HealthyAt = stamp(w.Now), stamp(w.Now), ""
					r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
				}
			}
		}
		require.LessOrEqual(t, attempts, 40)
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
	if w.Volume != nil {
		w.Volume.Status.RebuildFailures = v.Failures
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
