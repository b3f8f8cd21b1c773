package recurringcontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit/cut"
)

// The removals of vol-1 are blocked: the job passes it over and says so, and goes on with vol-2.
func TestAJobPassesAVolumeOverWhoseRemovalsAreBlocked(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.storedFor("often", name, "vol-1", 2, true)
		require.NoError(t, w.admin.Delete(t.Context(), &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}))
	}
	w.clock.ahead.Store(int64(20 * time.Minute))
	w.startCut(cut.Point{}, nil)
	require.NoError(t, w.admin.Create(t.Context(), &v1beta2.RecurringJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "often"},
		Spec:       v1beta2.RecurringJobSpec{Task: v1beta2.RecurringTaskSnapshot, Cron: "*/5 * * * *", Retain: 1},
	}))
	w.jump()
	blocked := func(c *assert.CollectT) {
		job := w.job()
		assert.NotZero(c, job.Status.ExecutionCount)
		assert.Equal(c, v1beta2.ReasonRetentionBlocked, conditions.Reason(job.Status.Conditions, v1beta2.RecurringJobRetained))
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		w.takeOnly("vol-2")
		blocked(c)
	}, patience, poll)
	have := w.snapshots()
	require.Len(t, have["vol-1"], 5, "none is added")
	require.NotEmpty(t, have["vol-2"])

	w.take() // the removals end
	w.jump()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		w.take()
		assert.Nil(c, conditions.Get(w.job().Status.Conditions, v1beta2.RecurringJobRetained))
		assert.Len(c, w.snapshots()["vol-1"], 1)
	}, patience, poll)
}
