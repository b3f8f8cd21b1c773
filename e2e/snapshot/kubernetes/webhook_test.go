//go:build !fast

package kubernetes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const rotated = "drover_snapshot_controller_webhook_certificate_steps_total"

// asked lets the API server call the webhook of a process until the end of the test, and returns once it does.
func asked(t *testing.T, ctx context.Context, process *world.Process) {
	t.Helper()
	t.Cleanup(func() { require.NoError(t, here.RemoveWebhooks(context.Background())) })
	require.NoError(t, here.AskAboutSnapshots(ctx, process))
	answers(t, ctx)
}

// answers waits until a Snapshot of no volume is refused.
func answers(t *testing.T, ctx context.Context) {
	t.Helper()
	_, err := here.WaitSnapshotsRefused(ctx, patience)
	require.NoError(t, err)
}

func evaluated(err error) bool {
	return err != nil && strings.Contains(err.Error(), "there is no volume")
}

// create creates a Snapshot, and returns the API server's answer.
func create(t *testing.T, ctx context.Context, volume, name string) *v1beta2.Snapshot {
	t.Helper()
	s := &v1beta2.Snapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: here.Namespace, Name: name, Labels: map[string]string{"team": "a"}},
		Spec:       v1beta2.SnapshotSpec{Volume: volume, CreateSnapshot: true},
	}
	require.NoError(t, here.Admin.Create(ctx, s))
	return s
}

func label(value any) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{v1beta2.LabelVolume: value}}}
}

// whole returns which of the labels, owners and finalizers that bind a Snapshot to its volume are missing.
func whole(t *testing.T, ctx context.Context, s *v1beta2.Snapshot) {
	t.Helper()
	volume := &v1beta2.Volume{}
	require.NoError(t, here.Get(ctx, s.Spec.Volume, volume))
	require.Equal(t, map[string]string{"team": "a", v1beta2.LabelVolume: volume.Name}, s.Labels)
	require.Equal(t, []string{v1beta2.Finalizer}, s.Finalizers)
	require.Len(t, s.OwnerReferences, 1)
	require.Equal(t, volume.UID, s.OwnerReferences[0].UID)
}

// S10: a Snapshot is complete from its creation, and its identity cannot change.
func TestS10ASnapshotIsCompletedAndKeptAsItIs(t *testing.T) {
	ctx, w := fixture(t)
	vol := claimed(t, ctx, v1beta2.DataEngineV1, true)
	asked(t, ctx, w.Process(world.SnapshotController))
	s := create(t, ctx, vol, world.Unique("snap"))
	whole(t, ctx, s)
	require.NoError(t, w.WaitSnapshot(ctx, s.Name, v1beta2.SnapshotReady, v1beta2.ReasonReady, patience))

	for sentence, change := range map[string]map[string]any{
		"another label of the volume": label("other"), "none": label(nil),
		"another volume":    {"spec": map[string]any{"volume": "other"}},
		"another spec":      {"spec": map[string]any{"createSnapshot": false}},
		"labels afterwards": {"spec": map[string]any{"labels": map[string]any{"a": "b"}}},
	} {
		require.Error(t, w.Patch(ctx, s, change), sentence)
	}
	require.NoError(t, w.Patch(ctx, s, map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "b"}}}),
		"other labels belong to users")
}

// A snapshot that a linked clone needs cannot be deleted; afterwards it can.
func TestS10ASnapshotThatALinkedCloneNeeds(t *testing.T) {
	ctx, w := fixture(t)
	vol, snap, clone := claimed(t, ctx, v1beta2.DataEngineV2, true), world.Unique("snap"), world.Unique("clone")
	require.NoError(t, w.Snapshot(ctx, vol, snap))
	require.NoError(t, w.WaitSnapshot(ctx, snap, v1beta2.SnapshotReady, v1beta2.ReasonReady, patience))
	asked(t, ctx, w.Process(world.SnapshotController))
	require.NoError(t, w.Order(ctx, clone, v1beta2.DataEngineV2, 1, func(s *v1beta2.VolumeSpec) {
		s.CloneMode, s.DataSource = "linked-clone", "snap://"+vol+"/"+snap
	}))
	require.NoError(t, w.Wait(ctx, "the clone to count", patience, func(ctx context.Context) (string, error) {
		dry := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: snap}}
		if err := w.Admin.Delete(ctx, dry, client.DryRunAll); err != nil && strings.Contains(err.Error(), clone) {
			return "", nil
		}
		return "the Snapshot may be deleted", nil
	}))
	require.ErrorContains(t, w.DeleteSnapshot(ctx, snap), "clones share or copy the data")
	require.NoError(t, w.DeleteVolume(ctx, clone))
	require.NoError(t, w.WaitVolumeGone(ctx, clone, patience))
	require.NoError(t, w.Snapshot(ctx, vol, world.Unique("newer")))
	require.NoError(t, w.Wait(ctx, "the Snapshot to be deleted", patience, func(ctx context.Context) (string, error) {
		if err := w.DeleteSnapshot(ctx, snap); err != nil {
			return err.Error(), nil
		}
		return "", nil
	}))
	require.NoError(t, w.WaitSnapshotGone(ctx, snap, patience))
}

// Without a reachable webhook no Snapshot is blocked: the controller completes it once the controller runs again.
func TestS10TheWebhookIsNotReachable(t *testing.T) {
	ctx, w := fixture(t)
	vol := claimed(t, ctx, v1beta2.DataEngineV1, true)
	process := w.Process(world.SnapshotController)
	asked(t, ctx, process)
	require.NoError(t, process.Stop())
	s := create(t, ctx, vol, world.Unique("snap"))
	require.Empty(t, s.Finalizers, "the Snapshot was completed without the controller")
	require.NoError(t, process.Restart())
	require.NoError(t, w.WaitSnapshot(ctx, s.Name, v1beta2.SnapshotReady, v1beta2.ReasonReady, patience))
	require.NoError(t, w.Get(ctx, s.Name, s))
	whole(t, ctx, s)
	answers(t, ctx)
}

// The webhook of a standby answers, too.
func TestS10AStandbyAnswers(t *testing.T) {
	ctx, w := fixture(t)
	standby, err := w.StartController(ctx, world.SnapshotController, "-standby")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Remove(standby)) })
	asked(t, ctx, standby)
}

// Certificates are rotated while requests are answered: no request fails because of a certificate.
func TestS10TheCertificateChanges(t *testing.T) {
	ctx, w := fixture(t)
	process := w.Process(world.SnapshotController)
	asked(t, ctx, process)
	before, err := w.Unasked()
	require.NoError(t, err)
	first, changes, evaluations := expiry(t, ctx), promoted(t, ctx), 0
	require.NoError(t, w.WaitSlowly(ctx, "another certificate", 50*time.Millisecond, patience, func(ctx context.Context) (string, error) {
		if evaluated(w.Snapshot(ctx, "nothing", world.Unique("stray"))) {
			evaluations++
		}
		return unlessMore(promoted(t, ctx), changes), nil
	}))
	for range 20 {
		if evaluated(w.Snapshot(ctx, "nothing", world.Unique("stray"))) {
			evaluations++
		}
	}
	require.Greater(t, evaluations, 20)
	require.NoError(t, w.Wait(ctx, "the metric to have the expiry of the served certificate", patience,
		func(ctx context.Context) (string, error) {
			return unlessMore(expiry(t, ctx), first), nil
		}))
	after, err := w.Unasked()
	require.NoError(t, err)
	for _, line := range after[len(before):] {
		require.NotContains(t, line, "certificate")
		require.NotContains(t, line, "tls")
	}
}

func unlessMore(now, than float64) string {
	if now > than {
		return ""
	}
	return fmt.Sprintf("it is %v", now)
}

func promoted(t *testing.T, ctx context.Context) float64 {
	t.Helper()
	return metric(t, ctx, rotated+`{step="Promote"}`)
}

func expiry(t *testing.T, ctx context.Context) float64 {
	t.Helper()
	return metric(t, ctx, "drover_snapshot_controller_webhook_certificate_expiry_timestamp_seconds")
}

// metric is the value of a metric of snapshot-controller; 0 where it has no metric of that name.
func metric(t *testing.T, ctx context.Context, name string) float64 {
	t.Helper()
	lines, err := here.Metrics(ctx, world.SnapshotController)
	require.NoError(t, err)
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			var value float64
			_, err := fmt.Sscan(rest, &value)
			require.NoError(t, err)
			return value
		}
	}
	return 0
}
