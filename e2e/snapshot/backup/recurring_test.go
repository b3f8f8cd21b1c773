//go:build !fast

package backup

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// S13: a job that backs up takes a snapshot of its volume and copies it, by the clock; then the volume is detached.
func TestS13AJobBacksUp(t *testing.T) {
	ctx, w := fixture(t)
	directory := target(t, ctx)
	vol, _ := written(t, ctx, v1beta2.DataEngineV1)
	detach(t, ctx, vol)
	job := runOnce(t, ctx, v1beta2.RecurringJobSpec{Task: v1beta2.RecurringTaskBackup, Retain: 1})
	var list v1beta2.BackupList
	require.NoError(t, w.List(ctx, &list))
	require.Len(t, list.Items, 1)
	b := list.Items[0]
	require.Equal(t, v1beta2.BackupCompleted, b.Status.State)
	require.Equal(t, vol, b.Status.VolumeName)
	require.Equal(t, job, b.Spec.Labels[v1beta2.LabelRecurringJob])
	require.Equal(t, 1, calls(t, ctx, vol, copying))
	files, err := world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, w.WaitDetached(ctx, vol, patience))
}

// runOnce creates a job for all volumes whose run is due, and deletes it once that run has ended.
func runOnce(t *testing.T, ctx context.Context, spec v1beta2.RecurringJobSpec) (name string) {
	t.Helper()
	w := here
	job := &v1beta2.RecurringJob{Spec: spec}
	job.Name, job.Namespace = world.Unique("job"), w.Namespace
	job.Spec.Cron, job.Spec.Groups = "0 0 1 1 *", []string{v1beta2.RecurringGroupDefault}
	require.NoError(t, w.Admin.Create(ctx, job))
	// Its last run was long ago: the missed run starts at once.
	long := fmt.Appendf(nil, `{"status":{"lastRun":%q}}`, time.Now().AddDate(-2, 0, 0).UTC().Format(time.RFC3339))
	require.NoError(t, w.Admin.Status().Patch(ctx, job.DeepCopy(), client.RawPatch(types.MergePatchType, long)))
	require.NoError(t, w.Wait(ctx, "a run of job "+job.Name, patience, func(ctx context.Context) (string, error) {
		is := &v1beta2.RecurringJob{}
		if err := w.Get(ctx, job.Name, is); err != nil || is.Status.ExecutionCount == 0 {
			return fmt.Sprintf("its status is %+v", is.Status), err
		}
		return "", nil
	}))
	require.NoError(t, w.Admin.Delete(ctx, job))
	return job.Name
}
