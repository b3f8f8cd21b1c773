package orphans

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func some(n int) []Orphan {
	var out []Orphan
	for i := range n {
		out = append(out, Orphan{Instance: "vol-1-e-0", Object: fmt.Sprintf("orphan-%d", i), Node: fmt.Sprintf("node-%d", i),
			Type: "engine-instance"})
	}
	return out
}

// A name that is not complete is enough to look at an orphan, and not to delete it.
func TestAnOrphanIsFoundByItsName(t *testing.T) {
	w := &world.World{Namespace: "longhorn-system"}
	all := append(some(1), Orphan{Instance: "vol-1-e-01", Object: "orphan-x", Type: "engine-instance", Node: "node-1"},
		Orphan{Instance: "vol-2-r-1", Object: "orphan-y"})
	const list = "; list all with: kubectl drover orphans -n longhorn-system"
	for name, want := range map[string]string{"vol-1-e-0": "orphan-0", "orphan-x": "orphan-x", "vol-2": "orphan-y", "orphan-y": "orphan-y"} {
		found, err := Named(w, all, name)
		require.NoError(t, err)
		require.Equal(t, want, found.Object, name)
	}
	_, err := Named(w, all, "vol-3")
	require.EqualError(t, err, "no orphan is called vol-3, or begins so"+list)
	_, err = Named(w, all, "")
	require.EqualError(t, err, "the name of the orphan is empty"+list)
	_, err = Named(w, all[:2], "vol-1")
	require.EqualError(t, err, "vol-1 names 2 orphans: orphan-0 (engine-instance vol-1-e-0 on node node-0), "+
		"orphan-x (engine-instance vol-1-e-01 on node node-1); name one by its object, or add --node")

	_, err = Complete(w, all, "vol-2")
	require.EqualError(t, err, "no orphan is called vol-2"+list)
	plan, err := Choose(w, all, Selection{Names: []string{"vol-2-r-1", "vol-2"}})
	require.EqualError(t, err, "no orphan is called vol-2"+list)
	require.Empty(t, plan.Delete, "of several that are named all are deleted, or none")
}

func TestANameOfSeveralOrphansIsRefusedWithAsManyAsThereIsRoomFor(t *testing.T) {
	w := &world.World{}
	_, err := Complete(w, some(8), "vol-1-e-0")
	require.ErrorContains(t, err, "orphan-7 (engine-instance vol-1-e-0 on node node-7); name one")
	_, err = Complete(w, some(10), "vol-1-e-0")
	require.ErrorContains(t, err, "vol-1-e-0 names 10 orphans: orphan-0 (")
	require.ErrorContains(t, err, "orphan-7 (engine-instance vol-1-e-0 on node node-7), 2 more; name one by its object, or add --node")
}

func TestASelectorNarrows(t *testing.T) {
	w := &world.World{}
	all := []Orphan{{Object: "a", Node: "node-1"}, {Object: "b", Node: "node-2", Decision: Condition{Reason: v1beta2.ReasonGracePeriod}},
		{Object: "c", Node: "node-2", Decision: Condition{Reason: "Flood"}},
		{Object: "d", Node: "node-2", Decision: Condition{Reason: v1beta2.ReasonDryRun}, DestroysData: true}}
	for name, test := range map[string]struct {
		selection    Selection
		deletes      []string
		left, reason string
	}{
		"a node":             {Selection{Node: "node-1"}, []string{"a"}, "", ""},
		"what policy allows": {Selection{Approved: true}, []string{"b"}, "d", "Its data would be destroyed: add --include-data, or name it."},
		"with data":          {Selection{Approved: true, Data: true}, []string{"b", "d"}, "", ""},
		"a name twice":       {Selection{Names: []string{"d", "d"}}, []string{"d"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := Choose(w, all, test.selection)
			require.NoError(t, err)
			var deletes []string
			for _, o := range plan.Delete {
				deletes = append(deletes, o.Object)
			}
			require.Equal(t, test.deletes, deletes)
			if test.left == "" {
				require.Empty(t, plan.Left)
				return
			}
			require.Len(t, plan.Left, 1)
			require.Equal(t, test.left, plan.Left[0].Object)
			require.Equal(t, test.reason, plan.Left[0].Reason)
		})
	}
	_, err := Choose(w, all, Selection{Names: []string{"a"}, Node: "node-2"})
	require.ErrorContains(t, err, "no orphan is called a", "it is on another node")
}
