package orphan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func maybe[T any](t *rapid.T, label string, draw func() T) *T {
	if !rapid.Bool().Draw(t, "has "+label) {
		return nil
	}
	v := draw()
	return &v
}

func drawClaim(t *rapid.T) orphan.Claim {
	states := []string{"running", "stopped", "starting", "stopping", "error", "unknown", "suspended", ""}
	return orphan.Claim{
		Deleting: rapid.Bool().Draw(t, "deleting"), DesireState: pick(t, "desired", "running", "stopped", ""),
		CurrentState: pick(t, "current", states...),
		NodeID:       pick(t, "node", "node-1", "node-2", ""), OwnerID: pick(t, "owner", "node-1", "node-2", ""),
		InstanceManager: pick(t, "im", here, there, ""), DiskID: pick(t, "disk", lvstore, "other", ""),
		Address: pick(t, "address", "10.0.0.2:1", ""),
	}
}

func drawOrphan(t *rapid.T) orphan.Orphan {
	o := orphan.Orphan{
		OrphanType: "replica-instance", DataEngine: pick(t, "orphan engine", "v1", "v2"),
		Node:         pick(t, "orphan node", "node-1", "node-1", "node-2"),
		InstanceName: replica, InstanceManager: here, UUID: pick(t, "orphan uuid", uuid1, uuid2, ""),
		Deleting: rapid.Bool().Draw(t, "orphan deleting"),
		Absent:   rapid.Bool().Draw(t, "absent"), FencingDelayed: rapid.Bool().Draw(t, "delayed"),
		DeletionSeen: now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "deleted")) * time.Second),
	}
	o.Name = v1beta2.OrphanName(replica, o.UUID, here, o.DataEngine)
	if rapid.Bool().Draw(t, "old name") {
		o.Name = v1beta2.LegacyOrphanName(replica, here, o.DataEngine)
	}
	for _, condition := range []string{v1beta2.OrphanCleanupApproved, v1beta2.OrphanWithdrawn, v1beta2.OrphanInstanceState,
		v1beta2.OrphanCleanupFailed} {
		if status := pick(t, condition, v1beta2.ConditionStatus(""), "True", "False"); status != "" {
			o.Conditions = append(o.Conditions, v1beta2.Condition{Type: condition, Status: status, Reason: v1beta2.ReasonApproved})
		}
	}
	o.Failure = maybe(t, "failure", func() orphan.Failure { return orphan.Failure{Reason: pick(t, "why", "", v1beta2.ReasonRefused)} })
	return o
}

func drawWorld(t *rapid.T) orphan.World {
	w := orphan.World{Now: now, Key: orphan.Key{InstanceManager: here, Name: replica},
		Rules: orphan.Rules{AbsenceGap: 5 * time.Second, V2Settle: 30 * time.Second}}
	w.Duplicate = pick(t, "duplicate", "", "", there)
	w.Manager = maybe(t, "manager", func() orphan.Manager {
		return orphan.Manager{Node: "node-1", DataEngine: pick(t, "engine", "v1", "v2", "")}
	})
	w.Node = maybe(t, "node", func() orphan.Node {
		return orphan.Node{Down: pick(t, "down", false, false, true), Deleting: pick(t, "node deleting", false, false, true)}
	})
	w.Inventory = maybe(t, "inventory", func() orphan.Inventory {
		return orphan.Inventory{
			Began:      now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "began")) * time.Second),
			EpochSince: now.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "epoch")) * time.Second),
			Instance: maybe(t, "instance", func() orphan.Instance {
				return orphan.Instance{
					Type:     pick(t, "type", "engine", "replica", "replica", "engine-frontend", "else"),
					State:    pick(t, "state", "running", "suspended", "error", "stopped", "pending", "starting", "terminating", ""),
					UUID:     pick(t, "uuid", uuid1, uuid2, ""),
					DiskUUID: pick(t, "disk uuid", lvstore, ""),
				}
			}),
		}
	})
	w.Engine = maybe(t, "engine object", func() orphan.Claim { return drawClaim(t) })
	w.Replica = maybe(t, "replica object", func() orphan.Claim { return drawClaim(t) })
	for range rapid.IntRange(0, 3).Draw(t, "orphans") {
		o := drawOrphan(t)
		if !slices.ContainsFunc(w.Orphans, func(p orphan.Orphan) bool { return p.Name == o.Name }) {
			w.Orphans = append(w.Orphans, o)
		}
	}
	return w
}

var nonDecisions = []string{
	v1beta2.ReasonNotLive, v1beta2.ReasonCRDeleting, v1beta2.ReasonStateChanging, v1beta2.ReasonTransientState,
	v1beta2.ReasonOwnerElsewhere,
	v1beta2.ReasonNoUUID, v1beta2.ReasonInventoryUnknown, v1beta2.ReasonNodeDown, v1beta2.ReasonFrontendNotJudged,
}

func TestEveryWorldHasAVerdictWithAReasonOfTheClosedList(t *testing.T) {
	rules := []string{
		v1beta2.ReasonNoOwnerCR, v1beta2.ReasonOwnedByOtherInstanceManager, v1beta2.ReasonStoppedButPresent, v1beta2.ReasonDataOnly,
		v1beta2.ReasonForeignData,
	}
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := orphan.Evaluate(w)
		require.Len(t, v.Orphans, len(w.Orphans))
		switch v.Evaluation.Decision {
		case orphan.Nothing:
			require.Empty(t, v.Evaluation.Reason)
		case orphan.Undecided:
			require.Contains(t, nonDecisions, v.Evaluation.Reason)
		case orphan.Claimed:
			require.Equal(t, v1beta2.ReasonClaimed, v.Evaluation.Reason)
		case orphan.Orphaned:
			require.Contains(t, rules, v.Evaluation.Reason)
		default:
			t.Fatalf("unknown decision %q", v.Evaluation.Decision)
		}
	})
}

func TestTheVerdictDoesNotDependOnTheOrderOfOrphans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := orphan.Evaluate(w)
		require.Equal(t, v, orphan.Evaluate(w))
		turned := w
		turned.Orphans = slices.Clone(w.Orphans)
		slices.Reverse(turned.Orphans)
		u := orphan.Evaluate(turned)
		slices.Reverse(u.Orphans)
		require.Equal(t, v, u)
	})
}

func TestEvaluatingTheResultChangesNothingMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		first := orphan.Evaluate(w)
		for i := range w.Orphans {
			o := &w.Orphans[i]
			for _, owned := range orphan.OwnedConditions() {
				o.Conditions = conditions.Remove(o.Conditions, owned)
			}
			o.Conditions = append(o.Conditions, first.Orphans[i].Conditions...)
			o.OwnerID = first.Orphans[i].OwnerID
		}
		for i, again := range orphan.Evaluate(w).Orphans {
			require.True(t, conditions.Equal(first.Orphans[i].Conditions, again.Conditions))
			require.Equal(t, first.Orphans[i].OwnerID, again.OwnerID)
			require.Empty(t, again.Withdrawn, "a withdrawal is written once")
			require.False(t, again.Terminated)
		}
	})
}

func TestAnUnknownListNeverCreatesEndsOrDeletesAnOrphan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.Inventory = nil
		v := orphan.Evaluate(w)
		require.Nil(t, v.Create)
		for _, o := range v.Orphans {
			require.False(t, o.Execute || o.Terminated)
			require.Contains(t, []string{"", v1beta2.ReasonRenamed}, o.Withdrawn, "only a wrong name withdraws an orphan without a list")
		}
	})
}

// ORP-1, ORP-3: only the instance that is found orphaned is deleted, and never a claimed one.
func TestOnlyTheEvaluatedInstanceIsDeleted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := orphan.Evaluate(w)
		for i, o := range v.Orphans {
			if !o.Execute {
				continue
			}
			require.Equal(t, orphan.Orphaned, v.Evaluation.Decision)
			require.Equal(t, w.Orphans[i].UUID, w.Inventory.Instance.UUID)
			require.NotEmpty(t, w.Orphans[i].UUID)
			require.True(t, w.Orphans[i].Deleting && conditions.IsTrue(w.Orphans[i].Conditions, v1beta2.OrphanCleanupApproved))
			require.False(t, conditions.IsTrue(w.Orphans[i].Conditions, v1beta2.OrphanWithdrawn))
			require.Empty(t, w.Duplicate)
		}
	})
}

// ORP-2.
func TestClaimedDataIsNeverDestroyed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for _, o := range w.Orphans {
			call := orphan.DecideCall(orphan.CallWorld{World: w, Orphan: o}, orphan.Evaluate(w))
			if !call.Allowed || !call.Cleanup || w.Inventory.Instance.Type != v1beta2.InstanceTypeReplica {
				continue
			}
			if r := w.Replica; r != nil {
				require.True(t, r.NodeID != "" && r.NodeID != w.Manager.Node && r.DiskID != "" && r.DiskID != w.Inventory.Instance.DiskUUID)
			}
		}
	})
}

func TestAWithdrawnOrEndedOrphanNeverChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for i, o := range orphan.Evaluate(w).Orphans {
			before := w.Orphans[i]
			if conditions.IsTrue(before.Conditions, v1beta2.OrphanWithdrawn) ||
				conditions.IsFalse(before.Conditions, v1beta2.OrphanInstanceState) {
				require.True(t, conditions.Equal(conditions.Owned(before.Conditions, orphan.OwnedConditions()...), o.Conditions))
				require.False(t, o.Execute)
			}
		}
	})
}
