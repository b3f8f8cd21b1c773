package orphans

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatAPersonMayGiveUp(t *testing.T) {
	const engine, replica, data = v1beta2.OrphanTypeEngineInstance, v1beta2.OrphanTypeReplicaInstance, v1beta2.OrphanTypeReplicaData
	recordedAs := func(uuid string) func(*world.World) {
		return func(w *world.World) {
			node := v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
			node.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{"vol-1-e-0": {UUID: uuid, DataEngine: v1beta2.DataEngineV2}}
			w.Nodes.Items = append(w.Nodes.Items, node)
		}
	}
	annotated := func(uid string) func(*world.World) {
		return func(w *world.World) {
			w.Orphans.Items[0].UID = "uid-1"
			w.Orphans.Items[0].Annotations = map[string]string{v1beta2.AnnotationGivenUp: uid,
				v1beta2.AnnotationGivenUpBy: "jane 2026-08-01T11:00:00Z"}
		}
	}
	volume := func(w *world.World) {
		w.Volumes.Items = append(w.Volumes.Items, v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}})
	}
	deleted := func(w *world.World) { w.Orphans.Items[0].DeletionTimestamp = &metav1.Time{Time: w.Now} }
	for name, c := range map[string]struct {
		kind, orphaned, decision string
		change                   func(*world.World)
		left                     string
	}{
		"an engine without an object":        {engine, v1beta2.ReasonNoOwnerCR, v1beta2.ReasonNotAbandoned, nil, ""},
		"while auto deletion is off":         {engine, v1beta2.ReasonNoOwnerCR, "", nil, ""},
		"one that attach-controller gave up": {engine, v1beta2.ReasonNoOwnerCR, "", recordedAs(uuid), "attach-controller recorded"},
		"another instance of the name was":   {engine, v1beta2.ReasonNoOwnerCR, "", recordedAs("other"), ""},
		"one that was given up already":      {engine, v1beta2.ReasonNoOwnerCR, "", annotated("uid-1"), "recorded already, by jane"},
		"an earlier one of the name was":     {engine, v1beta2.ReasonNoOwnerCR, "", annotated("uid-0"), ""},
		"one that was not evaluated":         {engine, "", "", nil, "has not found it orphaned"},
		"one whose object is elsewhere":      {engine, v1beta2.ReasonOwnedByOtherInstanceManager, "", nil, "without a record"},
		"one whose object is stopped":        {engine, v1beta2.ReasonStoppedButPresent, "", nil, "without a record"},
		"one that is deleted":                {engine, v1beta2.ReasonNoOwnerCR, "", deleted, "deleted already"},
		"data of a replica that runs":        {replica, v1beta2.ReasonNoOwnerCR, "", nil, "--include-data"},
		"data of another cluster":            {replica, v1beta2.ReasonForeignData, "", nil, "another cluster's"},
		"data on a disk":                     {data, v1beta2.ReasonDataOnly, "", nil, "--include-data"},
		"data of a volume that exists":       {data, v1beta2.ReasonDataOnly, "", volume, "Its volume exists"},
	} {
		t.Run(name, func(t *testing.T) {
			instance := map[string]string{engine: "vol-1-e-0", replica: "vol-1-r-1a2b", data: "vol-1-r-1a2b"}[c.kind]
			w := worldWith(c.kind, v1beta2.DataEngineV2, instance, c.orphaned, c.decision)
			if c.kind == data {
				w.Orphans.Items[0].Spec.Parameters = map[string]string{v1beta2.OrphanParameterDataName: instance,
					v1beta2.OrphanParameterDiskType: v1beta2.DiskTypeBlock}
			}
			if c.change != nil {
				c.change(w)
			}
			plan, err := Accept(w, List(w), Acceptance{All: true})
			require.NoError(t, err)
			require.Equal(t, c.left == "", len(plan.Accept) == 1)
			if c.left != "" {
				require.Contains(t, plan.Left[0].Reason, c.left)
			}
			if strings.Contains(c.left, "--include-data") {
				for _, s := range []Acceptance{{All: true, Data: true}, {Names: []string{instance, "orphan-1"}}} {
					plan, err := Accept(w, List(w), s)
					require.NoError(t, err)
					require.Len(t, plan.Accept, 1)
				}
			}
		})
	}
}

func TestWhatIsGivenUpIsSelectedByNodeAndAge(t *testing.T) {
	w := worldWith(v1beta2.OrphanTypeEngineInstance, v1beta2.DataEngineV2, "vol-1-e-0", v1beta2.ReasonNoOwnerCR, "")
	w.Orphans.Items[0].CreationTimestamp = metav1.NewTime(w.Now.Add(-time.Hour))
	for name, c := range map[string]struct {
		s    Acceptance
		want int
	}{
		"its node":       {Acceptance{Node: "node-1"}, 1},
		"another node":   {Acceptance{Node: "node-2"}, 0},
		"as old as that": {Acceptance{OlderThan: time.Hour}, 1},
		"younger":        {Acceptance{OlderThan: time.Hour + time.Second}, 0},
		"both":           {Acceptance{Node: "node-1", OlderThan: time.Minute}, 1},
	} {
		plan, err := Accept(w, List(w), c.s)
		require.NoError(t, err, name)
		require.Len(t, plan.Accept, c.want, name)
	}
	_, err := Accept(w, List(w), Acceptance{Names: []string{"vol-1-e-0"}, Node: "node-2"})
	require.ErrorContains(t, err, "no orphan is called vol-1-e-0")
	w.Orphans.Items[0].CreationTimestamp = metav1.Time{}
	plan, err := Accept(w, List(w), Acceptance{OlderThan: time.Minute})
	require.NoError(t, err)
	require.Empty(t, plan.Accept, "an age that is not known selects nothing")
}

// After etcd was restored, what runs without an object serves.
func TestGivingUpWhatRunsWarnsOfARestoreOfEtcd(t *testing.T) {
	for state, warned := range map[string]bool{v1beta2.InstanceStateRunning: true, v1beta2.InstanceStateError: false} {
		w := worldWith(v1beta2.OrphanTypeEngineInstance, v1beta2.DataEngineV2, "vol-1-e-0", v1beta2.ReasonNoOwnerCR, "")
		o := &w.Orphans.Items[0]
		o.Status.Conditions = append(o.Status.Conditions, v1beta2.Condition{Type: v1beta2.OrphanInstanceState,
			Status: v1beta2.ConditionTrue, Reason: state})
		plan, err := Accept(w, List(w), Acceptance{All: true})
		require.NoError(t, err)
		require.Len(t, plan.Accept, 1)
		require.Equal(t, warned, strings.HasPrefix(plan.Warning, "1 of these run without an object. If etcd was restored"), state)
	}
}
