package csicontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

// ALL-2: whichever write is the last of a process, before it is sent or after it was answered, the next process comes to
// the same end: A13, from the wish of Kubernetes to the deletion of the PersistentVolume.
func TestTheEndIsTheSameWhereverTheCSIControllerDies(t *testing.T) {
	t.Parallel()
	writes := runCrash(t, cut.Point{})
	require.Equal(t, 8, writes)
	for _, point := range cut.Points(writes) {
		t.Run(point.String(), func(t *testing.T) {
			t.Parallel()
			runCrash(t, point)
		})
	}
}

// runCrash restarts the controller when it is cut, and returns how many writes the first process sent.
func runCrash(t *testing.T, point cut.Point) int {
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	next := cut.NewSuccession()
	p := w.startCut(point, next.Cut)
	next.Follow(func() {
		<-p.Ended()
		w.start()
	})
	va := w.asks()
	w.serve(va.Name)
	w.reaches(va, "attached", isAttached)
	w.remove(w.persistentVolume())
	w.remove(va)
	w.vacate(va.Name)
	testkit.WaitGone(t, w.admin, va)
	testkit.WaitGone(t, w.admin, w.persistentVolume())
	if point.Write > 0 {
		next.Wait(p.Stop)
	}
	return len(p.Client.Writes())
}
