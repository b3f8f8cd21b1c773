package orphans

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func text(r interface{ Text(*terminal.Printer) }) string {
	var out bytes.Buffer
	r.Text(terminal.New(&out))
	return out.String()
}

func TestTheTableShowsTheNewestOfWhatWasDecidedAndDone(t *testing.T) {
	withdrawn, failed, decided := Condition{Reason: "InstanceGone"}, Condition{Reason: "Unreachable"}, Condition{Reason: "Flood"}
	for name, test := range map[string]struct {
		orphan Orphan
		want   string
		style  terminal.Style
	}{
		"withdrawn": {Orphan{Withdrawn: withdrawn, Failed: failed, Decision: decided, DeletedSince: "x"}, "withdrawn: InstanceGone",
			terminal.Plain},
		"failed":   {Orphan{Failed: failed, Decision: decided, DeletedSince: "x"}, "failed: Unreachable", terminal.Bad},
		"decided":  {Orphan{Decision: decided, DeletedSince: "x"}, "Flood", terminal.Plain},
		"deleted":  {Orphan{DeletedSince: "x"}, "deleted", terminal.Plain},
		"as found": {Orphan{}, "", terminal.Plain},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, test.orphan.standing())
			require.Equal(t, test.style, test.orphan.style())
		})
	}
}

// What is destroyed already is no warning before a deletion.
func TestTheTableWarnsOfDataThatADeletionWouldDestroy(t *testing.T) {
	table := Table{Now: time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC), Orphans: []Orphan{
		{Instance: "vol-1-r-1", Node: "node-1", Type: "replica-data", DataEngine: "v2", State: "stopped", Object: "orphan-1",
			Orphaned: Condition{Reason: "DataOnly"}, DestroysData: true, Created: "2026-08-01T11:00:00Z"},
		{Instance: "vol-1-r-2", Node: "node-1", Type: "replica-data", DataEngine: "v2", Object: "orphan-2", DestroysData: true,
			DeletedSince: "2026-08-01T11:00:00Z"},
		{Instance: "vol-1-r-3", Node: "node-1", Type: "replica-data", DataEngine: "v2", Object: "orphan-3", DestroysData: true,
			DeletedSince: "2026-08-01T11:00:00Z", Releasable: true}}}
	require.Equal(t, `INSTANCE    NODE     TYPE           ENGINE   STATE     WHY        DECISION   DELETING IT     SINCE
vol-1-r-1   node-1   replica-data   v2       stopped   DataOnly              destroys data   1h ago
vol-1-r-2   node-1   replica-data   v2                            deleted
vol-1-r-3   node-1   replica-data   v2                            deleted    destroys data
`, text(table))
	require.Equal(t, []string{"orphan.longhorn.io/orphan-1", "orphan.longhorn.io/orphan-2", "orphan.longhorn.io/orphan-3"}, table.Names())
}

func TestWithoutOrphansAPersonSeesThatAndWhatCouldNotBeRead(t *testing.T) {
	require.Equal(t, "no orphans\n\nNot shown: Nodes are not allowed.\n",
		text(Table{Unread: []world.Unread{{Reason: "Nodes are not allowed."}}}))
}

func TestTheNextCommandDeletesOnlyWhatADeletionChanges(t *testing.T) {
	w := worldWith(v1beta2.OrphanTypeReplicaInstance, v1beta2.DataEngineV2, "vol-1-r-1", v1beta2.ReasonNoOwnerCR, v1beta2.ReasonLastCopy)
	w.Orphans.Items[0].Spec.Parameters[v1beta2.OrphanParameterInstanceManager] = "im-1"
	explanation := func() Explanation { return Explanation{Orphan: List(w)[0], World: w} }
	require.Equal(t, `vol-1-r-1 on node node-1: v2 replica-instance, state unknown
Orphan orphan-1, on im-1

Orphaned   NoOwnerCR
Decision   LastCopy

Deleting it: Destroys the replica's data on node node-1.
  orphan-controller holds it back: this may be the last copy of volume vol-1.

Next
  kubectl drover orphans delete orphan-1 -n longhorn-system
      docs/orphans.md
`, text(explanation()))
	require.Equal(t, []string{"orphan.longhorn.io/orphan-1"}, explanation().Names())

	deleted(w, "AutoDeletion")
	require.Contains(t, text(explanation()), "\nDeleted    1h ago      by AutoDeletion\n")
	require.Contains(t, text(explanation()), "\n  kubectl drover orphans delete orphan-1 -n longhorn-system\n", "a person releases it")
	w.Orphans.Items[0].Status.Conditions = w.Orphans.Items[0].Status.Conditions[:2]
	require.Contains(t, text(explanation()), "\n  kubectl -n longhorn-system describe lho orphan-1\n", "a person deleted it")
}

// Why an orphan is held back is named once, before the command that deletes it nevertheless.
func TestACautionIsNamedOnce(t *testing.T) {
	held := Orphan{Held: "Policy holds it back: Flood.", Warnings: []string{"A warning."}}
	require.Equal(t, []string{"A warning.", "Policy holds it back: Flood."}, held.cautions())
	held.DeletedSince = "2026-08-01T11:00:00Z"
	require.Equal(t, []string{"A warning."}, held.cautions(), "it is deleted, and no command follows")
	require.Equal(t, []string{"A."}, (&Orphan{Held: "A.", Warnings: []string{"A."}}).cautions())
	require.Equal(t, []string{"A."}, (&Orphan{Warnings: []string{"A."}}).cautions())
}

func TestThePlanShowsWhatGoesAndWhatIsLeftAlone(t *testing.T) {
	goes := Orphan{Instance: "vol-1-r-1", Node: "node-1", Object: "orphan-1", Orphaned: Condition{Reason: "DataOnly"}, DestroysData: true,
		Effect: "Destroys the replica's data on node node-1.", Held: "Its data may be another cluster's."}
	stays := Left{Orphan{Instance: "vol-2-e-0", Node: "node-2", Orphaned: Condition{Reason: "NoOwnerCR"}}, "It is deleted already."}
	plan := Plan{Delete: []Orphan{goes}, Left: []Left{stays}}
	require.Equal(t, `DELETED     NODE     WHY        EFFECT
vol-1-r-1   node-1   DataOnly   Destroys the replica's data on node node-1.
                                  Its data may be another cluster's.

LEFT ALONE   NODE     WHY         REASON
vol-2-e-0    node-2   NoOwnerCR   It is deleted already.
`, text(plan))
	require.Equal(t, []string{"orphan.longhorn.io/orphan-1"}, plan.Names(), "what is left alone is not among them")
	require.Equal(t, "LEFT ALONE   NODE     WHY         REASON\nvol-2-e-0    node-2   NoOwnerCR   It is deleted already.\n",
		text(Plan{Left: plan.Left}))
}
