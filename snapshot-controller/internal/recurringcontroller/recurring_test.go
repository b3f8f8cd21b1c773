package recurringcontroller

import (
	"context"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshotcontroller"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
)

// period is how often the job of the tests runs.
const period = 5 * time.Minute

// shifted is the real clock, shifted by the test.
type shifted struct {
	clock.RealClock
	ahead atomic.Int64
}

func (c *shifted) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// jump puts the clock just before the next run.
func (c *shifted) jump() {
	now := c.Now()
	c.ahead.Add(int64(now.Truncate(period).Add(period - 300*time.Millisecond).Sub(now)))
}

// world is a namespace of a real API server with the controller in it, as snapshot-controller's ServiceAccount with its
// generated roles. The test plays people, and the controller of snapshots.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	clock     *shifted
	running   atomic.Pointer[shell.Process]
}

// newWorld has two volumes that name the job and one that does not.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), clock: &shifted{}}
	w.identity = testkit.BinaryIdentity(t, w.namespace, owner)
	named := map[string]string{v1beta2.LabelRecurringJobPrefix + "often": v1beta2.RecurringEnabled}
	w.volume("vol-1", named)
	w.volume("vol-2", named)
	w.volume("vol-3", nil)
	t.Cleanup(func() {
		if p := w.running.Swap(nil); p != nil {
			p.Stop()
			require.NoError(t, p.Wait())
		}
	})
	return w
}

func (w *world) volume(name string, labels map[string]string) {
	v := &v1beta2.Volume{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: labels},
		Spec:       v1beta2.VolumeSpec{Size: 1000, NumberOfReplicas: 1, AccessMode: v1beta2.AccessModeReadWriteOnce},
	}
	require.NoError(w.t, w.admin.Create(w.t.Context(), v))
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, v, map[string]any{"state": v1beta2.VolumeStateAttached}))
}

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	cached := snapshotcontroller.Cached()
	maps.Copy(cached, Cached())
	p := shell.Start(w.t, shell.Options{
		Identity: w.identity, Namespace: w.namespace, Owner: owner, Cache: cached, At: at, OnCut: onCut, Clock: w.clock,
	}, func(ctx context.Context, rt *runkit.Runtime) error {
		return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, w.namespace, setting.Catalogue))
	})
	w.running.Store(p)
	return p
}

func (w *world) job() *v1beta2.RecurringJob {
	job := &v1beta2.RecurringJob{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "often"}, job))
	return job
}

// snapshots are there, by the volume that they are of.
func (w *world) snapshots() map[string][]*v1beta2.Snapshot {
	var list v1beta2.SnapshotList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	out := map[string][]*v1beta2.Snapshot{}
	for i := range list.Items {
		out[list.Items[i].Spec.Volume] = append(out[list.Items[i].Spec.Volume], &list.Items[i])
	}
	return out
}

// take plays the controller of snapshots: what is asked for is taken, what is deleted ends.
func (w *world) take() { w.takeOnly("") }

// takeOnly does that for the snapshots of one volume; an empty name stands for all.
func (w *world) takeOnly(volume string) {
	for of, list := range w.snapshots() {
		if volume != "" && of != volume {
			continue
		}
		for _, s := range list {
			if s.DeletionTimestamp != nil {
				require.NoError(w.t, status.DropFinalizer(w.t.Context(), w.admin, s, v1beta2.Finalizer))
				continue
			}
			if s.Status.CreationTime == "" {
				now := w.clock.Now().UTC().Format(time.RFC3339)
				ready := v1beta2.Condition{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady}
				require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, s, map[string]any{
					"creationTime": now, "readyToUse": true, "conditions": status.ConditionsField([]v1beta2.Condition{ready}),
				}))
			}
		}
	}
}

// ran waits until the job has run so often and each of its volumes has this many snapshots.
func (w *world) ran(times, each int) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		w.take()
		assert.Equal(c, times, w.job().Status.ExecutionCount)
		have := w.snapshots()
		assert.Len(c, have, 2)
		for volume, list := range have {
			assert.Len(c, list, each, volume)
		}
	}, patience, poll)
}

// jump puts the clock just before the next run. The process counts in real time to the run that it knows; a change of the
// job makes the controller read the clock. A job begins when it is first seen.
func (w *world) jump() {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.job().Status.ScheduledSince != "" }, patience, poll)
	w.clock.jump()
	poll := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"look":"`+w.clock.Now().String()+`"}}}`))
	require.NoError(w.t, w.admin.Patch(w.t.Context(), w.job(), poll))
}

// S13: one snapshot of each volume at each time of the cron, none twice, as many as must be kept; whichever write of the
// controller is its last, before it is sent or after it was answered, the next process comes to the same end.
func TestAJobByTheClockWhereverTheControllerDies(t *testing.T) {
	writes := runs(t, cut.Point{})
	require.Positive(t, writes)
	for _, point := range cut.Points(writes) {
		t.Run(point.String(), func(t *testing.T) {
			t.Parallel()
			runs(t, point)
		})
	}
}

// createJobThatKeepsOne creates a job that keeps one snapshot of each volume, and whose next run is next year.
func (w *world) createJobThatKeepsOne(job string) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), &v1beta2.RecurringJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: job},
		Spec:       v1beta2.RecurringJobSpec{Task: v1beta2.RecurringTaskSnapshot, Cron: "0 0 1 1 *", Retain: 1},
	}))
}

// A snapshot that an earlier Longhorn's job took, whose object was made after it, counts among what the job keeps.
func TestWhatAnEarlierLonghornsJobTookIsRetained(t *testing.T) {
	w := newWorld(t)
	for name, hours := range map[string]int{"older": 2, "newer": 1} {
		w.stored(name, "vol-1", hours, false)
		s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
		require.NoError(t, status.MergeStatus(t.Context(), w.admin, s,
			map[string]any{"userCreated": true, "labels": map[string]any{v1beta2.LabelRecurringJob: "often"}}))
	}
	w.startCut(cut.Point{}, nil)
	w.createJobThatKeepsOne("often")
	require.Eventually(t, func() bool {
		w.take()
		list := w.snapshots()["vol-1"]
		return len(list) == 1 && list[0].Name == "newer"
	}, patience, poll)
}

// runs plays two runs, restarting the controller when it is cut, and returns how many writes the first process sent.
func runs(t *testing.T, point cut.Point) int {
	w := newWorld(t)
	next := cut.NewSuccession()
	p := w.startCut(point, next.Cut)
	next.Follow(func() {
		<-p.Ended()
		w.startCut(cut.Point{}, nil)
	})
	require.NoError(t, w.admin.Create(t.Context(), &v1beta2.RecurringJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "often"},
		Spec: v1beta2.RecurringJobSpec{Task: v1beta2.RecurringTaskSnapshot, Cron: "*/5 * * * *", Retain: 1,
			Labels: map[string]string{"why": "test"}},
	}))
	w.jump()
	w.ran(1, 1)
	first := w.snapshots()["vol-1"][0]
	require.Equal(t, map[string]string{"why": "test", v1beta2.LabelRecurringJob: "often"}, first.Spec.Labels)
	require.Equal(t, []string{v1beta2.Finalizer}, first.Finalizers)
	w.jump()
	w.ran(2, 1)
	require.NotEqual(t, first.Name, w.snapshots()["vol-1"][0].Name, "the older one went")
	require.Equal(t, v1beta2.ReasonScheduled, conditions.Reason(w.job().Status.Conditions, v1beta2.RecurringJobReady))
	if point.Write > 0 {
		next.Wait(p.Stop)
	}
	return len(p.Client.Writes())
}
