package controller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit/cut"
)

// crashScenario must reach the same end state wherever the controller crashes.
type crashScenario struct {
	prepare func(*world)
	// drive acts as the peer controllers until the end is reached; the controller may crash at any time meanwhile.
	drive func(*world)
	check func(*testing.T, *world)
}

var crashScenarios = map[string]crashScenario{
	"O9 a person deletes": {
		prepare: func(w *world) { w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR) },
		drive: func(w *world) {
			o := w.only()
			w.personDeletes(o)
			w.reaches(o, v1beta2.ReasonApproved, true)
			w.executed(o)
			w.gone(o)
		},
	},
	"O10 claimed and withdrawn": {
		prepare: func(w *world) {
			w.orphan("vol-1-r-aabbccdd", v1beta2.ReasonNoOwnerCR)
			w.create(&v1beta2.Replica{ObjectMeta: w.meta("vol-1-r-aabbccdd"),
				Spec: v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DesireState: "running"}})
		},
		drive: func(w *world) {
			o := w.only()
			w.personDeletes(o)
			w.reaches(o, v1beta2.ReasonClaimed, true)
			w.report(o, present(v1beta2.ReasonNoOwnerCR, withdrawnAs(v1beta2.ReasonClaimed))...)
			w.gone(o)
		},
	},
	"O12 the node goes down, and comes back as soon as the deletion is under way": {
		prepare: func(w *world) {
			w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
			w.nodeCondition("node-1", v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeGone)
		},
		drive: func(w *world) {
			o := w.only()
			w.until("never deleted", func() bool { found := w.now(o); return found == nil || found.DeletionTimestamp != nil })
			w.nodeReady("node-1")
			w.gone(o)
		},
	},
	"O13 auto deletion": {
		prepare: func(w *world) {
			w.autoDeletion("instance", "0")
			w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
		},
		drive: func(w *world) {
			o := w.only()
			deleted := w.reaches(o, v1beta2.ReasonApproved, true)
			require.Equal(w.t, v1beta2.ReasonAutoDeletion, conditions.Reason(deleted.Status.Conditions, v1beta2.OrphanDeletionReason),
				"a deletion by policy is never handled as a person's")
			w.executed(o)
			w.gone(o)
		},
	},
	"O15 the old switch": {
		prepare: func(w *world) {
			w.setting(setting.OldAutoDeletion, "true")
			w.setting(setting.AutoDeletion, "instance")
			w.setting(setting.GracePeriod, "3600")
		},
		drive: func(w *world) {
			w.until("the old setting stays", func() bool { return w.value(setting.OldAutoDeletion) == nil })
		},
		check: func(t *testing.T, w *world) {
			require.Equal(t, "replica-data;instance", *w.value(setting.AutoDeletion))
		},
	},
	"O17b withdrawn": {
		prepare: func(w *world) {
			w.report(w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR),
				present(v1beta2.ReasonNoOwnerCR, withdrawnAs(v1beta2.ReasonRenamed))...)
		},
		drive: func(w *world) { w.until("the orphan was not removed", func() bool { return len(w.all()) == 0 }) },
	},
}

// ALL-2: whichever write of the controller is its last, before the request or after the answer, the next process
// reaches the same end state.
func TestTheEndIsTheSameWhereverTheControllerDies(t *testing.T) {
	for name, scenario := range crashScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writes := runCrash(t, scenario, cut.Point{})
			require.Positive(t, writes)
			points := cut.Points(writes)
			for _, point := range points {
				t.Run(point.String(), func(t *testing.T) {
					t.Parallel()
					runCrash(t, scenario, point)
				})
			}
			t.Logf("%d writes, %d points", writes, len(points))
		})
	}
}

// runCrash runs the scenario, restarting the controller when it is cut, and returns how many writes the first process sent.
func runCrash(t *testing.T, scenario crashScenario, point cut.Point) int {
	w := newWorld(t)
	scenario.prepare(w)
	next := cut.NewSuccession()
	p := w.startCut(point, next.Cut)
	next.Follow(func() {
		<-p.Ended()
		w.start()
	})
	scenario.drive(w)
	if point.Write > 0 {
		next.Wait(p.Stop)
	}
	if scenario.check != nil {
		scenario.check(t, w)
	}
	return len(p.Client.Writes())
}

func (w *world) all() []v1beta2.Orphan {
	w.t.Helper()
	var list v1beta2.OrphanList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	return list.Items
}

func (w *world) only() *v1beta2.Orphan {
	w.t.Helper()
	list := w.all()
	require.Len(w.t, list, 1)
	return &list[0]
}
