package backuptargetcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

// A BackupVolume that a person deletes takes all of its volume along, and nothing of another.
func TestADeletedBackupVolumeTakesAllOfItsVolumeAlong(t *testing.T) {
	w := listedWorld(t, "db/b-1", "db/b-2", "web/b-3")
	w.delete(w.volume("db"))
	w.has([]string{"web"}, []string{"b-3"})
	require.Empty(t, w.inTarget("db"))
	require.Equal(t, []string{"b-3"}, w.inTarget("web"))
}

// The label keeps its deletion off the target, and so does Kubernetes deleting what it owned.
func TestADeletedBackupVolumeWithTheLabelLeavesTheTargetAlone(t *testing.T) {
	w := listedWorld(t, "db/b-1")
	v := w.volume("db")
	require.NoError(t, status.MergeMetadata(t.Context(), w.admin, v, map[string]any{"labels": map[string]string{v1beta2.LabelObjectOnly: ""}}))
	w.delete(v)
	w.has(nil, nil)
	require.Equal(t, []string{"b-1"}, w.inTarget("db"))
}

// ALL-2: whichever write is the last of a process, the next one comes to the same end: read, one gone elsewhere, one deleted here, all of
// a volume deleted here.
func TestTheEndIsTheSameWhereverTheControllerDies(t *testing.T) {
	writes := runCrash(t, cut.Point{})
	require.Positive(t, writes)
	for _, point := range cut.Share(cut.Points(writes), share) {
		t.Run(point.String(), func(t *testing.T) {
			t.Parallel()
			runCrash(t, point)
		})
	}
}

// share is which part of the points is cut: each third, before and after a write in turn.
const share = 3

func runCrash(t *testing.T, point cut.Point) int {
	w := newWorld(t)
	w.put("db", "b-1")
	w.put("db", "b-2")
	w.put("web", "b-3")
	next := cut.NewSuccession()
	p := w.start(point, next.Cut)
	next.Follow(func() {
		<-p.Ended()
		w.start(cut.Point{}, nil)
	})
	w.watched()
	w.has([]string{"db", "web"}, []string{"b-1", "b-2", "b-3"})
	w.shows(v1beta2.ReasonListed)
	w.delete(w.backup("b-1"))
	w.has([]string{"db", "web"}, []string{"b-2", "b-3"})
	require.Equal(t, []string{"b-2"}, w.inTarget("db"))
	w.delete(w.volume("web"))
	w.has([]string{"db"}, []string{"b-2"})
	require.Empty(t, w.inTarget("web"))
	if point.Write > 0 {
		next.Wait(p.Stop)
	}
	return len(p.Client.Writes())
}
