package recurringcontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

// stored makes a snapshot of a volume that was taken some hours ago, for a person or by the system.
func (w *world) stored(name, volume string, hours int, user bool) {
	w.t.Helper()
	w.storedFor("", name, volume, hours, user)
}

// storedFor makes one that the job asked for, or, without a job, somebody else.
func (w *world) storedFor(job, name, volume string, hours int, user bool) {
	w.t.Helper()
	v := &v1beta2.Volume{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: volume}, v))
	s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.namespace, Name: name, Finalizers: []string{v1beta2.Finalizer},
		OwnerReferences: []metav1.OwnerReference{v1beta2.OwnedBy(v)},
	}, Spec: v1beta2.SnapshotSpec{Volume: volume, CreateSnapshot: user}}
	if job != "" {
		s.Spec.Labels = map[string]string{v1beta2.LabelRecurringJob: job}
	}
	require.NoError(w.t, w.admin.Create(w.t.Context(), s))
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, s, map[string]any{
		"creationTime": w.clock.Now().UTC().Add(-time.Duration(hours) * time.Hour).Format(time.RFC3339), "readyToUse": true,
		"userCreated": user, "children": map[string]any{"other": true},
		"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionTrue,
			Reason: v1beta2.ReasonReady}}),
	}))
}

// has waits until the job has run once and exactly these snapshots are there.
func (w *world) has(names ...string) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		w.take()
		assert.Equal(c, 1, w.job().Status.ExecutionCount)
		var have []string
		for _, list := range w.snapshots() {
			for _, s := range list {
				have = append(have, s.Name)
			}
		}
		assert.ElementsMatch(c, names, have)
	}, patience, poll)
}

// S13: a job whose task is to remove does so for its volumes, one after the other, and for no others.
func TestJobsThatRemove(t *testing.T) {
	for task, left := range map[string][]string{
		v1beta2.RecurringTaskSnapshotDelete:  {"a-new", "a-system", "b-new", "b-system", "other-new", "other-old", "other-system"},
		v1beta2.RecurringTaskSnapshotCleanup: {"a-new", "a-old", "b-new", "b-old", "other-new", "other-old", "other-system"},
	} {
		t.Run(task, func(t *testing.T) {
			w := newWorld(t)
			for name, volume := range map[string]string{"a": "vol-1", "b": "vol-2", "other": "vol-3"} {
				w.stored(name+"-old", volume, 2, true)
				w.stored(name+"-new", volume, 1, true)
				w.stored(name+"-system", volume, 3, false)
			}
			w.startCut(cut.Point{}, nil)
			require.NoError(t, w.admin.Create(t.Context(), &v1beta2.RecurringJob{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "often"},
				Spec:       v1beta2.RecurringJobSpec{Task: task, Cron: "*/5 * * * *", Retain: 1},
			}))
			w.jump()
			w.has(left...)
		})
	}
}
