package machinecontroller

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// removedByForce deletes the volume without its finalizer, as the API server does by itself where a finalizer is added during a deletion.
func (w *world) removedByForce(v *v1beta2.Volume) {
	w.t.Helper()
	w.delete(v)
	drop := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	require.NoError(w.t, client.IgnoreNotFound(w.admin.Patch(w.t.Context(), v, drop)))
	testkit.WaitGone(w.t, w.admin, v)
}

// removedMeanwhile attaches a volume, and removes it by force while the controller does not run.
func (w *world) removedMeanwhile() {
	w.t.Helper()
	w.start()
	v := w.attached(v1beta2.DataEngineV2, "node-3")
	w.stop()
	w.removedByForce(v)
}

// objects are the Engines, EngineFrontends and Replicas that there are.
func (w *world) objects() (out []client.Object) {
	w.t.Helper()
	for _, list := range []client.ObjectList{&v1beta2.EngineList{}, &v1beta2.EngineFrontendList{}, &v1beta2.ReplicaList{}} {
		require.NoError(w.t, w.admin.List(w.t.Context(), list, clientIn(w)))
		require.NoError(w.t, apimeta.EachListItem(list, func(o runtime.Object) error {
			out = append(out, o.(client.Object))
			return nil
		}))
	}
	return out
}

// collectGarbage deletes all of them, as the garbage collector deletes what belongs to a volume that does not exist, until nothing is left.
func (w *world) collectGarbage() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return w.deleteAll() == 0
	}, patience, poll, "engines, frontends or replicas stay")
}

func (w *world) deleteAll() (found int) {
	w.t.Helper()
	all := w.objects()
	for _, o := range all {
		require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(w.t.Context(), o)))
	}
	return len(all)
}

// A16: no finalizer stays because the volume went without its own.
func TestWhatIsDeletedAfterItsVolumeEndsInOrder(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.attached(dataEngine, "node-3")
		w.removedByForce(v)
		w.collectGarbage()
		w.neverLost()
	})
}

// The process that ends it may be another one than the one that saw the volume.
func TestWhatIsDeletedAfterItsVolumeEndsAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.removedMeanwhile()
	w.deleteAll()
	w.start()
	w.collectGarbage()
}

// X1: a volume that a restored backup lacks is no reason to end what nobody deleted.
func TestWhatNobodyDeletedOutlivesItsVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.removedMeanwhile()
	before := w.generations(w.objects()...)
	p := w.start()
	w.quiet(p)
	require.Equal(t, before, w.generations(w.objects()...))
	r := &v1beta2.Replica{ObjectMeta: w.meta("r-1")}
	w.delete(r)
	w.quiet(p)
	w.theReplica("r-1", "running, since an engine that nobody deleted uses it", func(r *v1beta2.Replica) bool {
		return r.Spec.DesireState == v1beta2.InstanceStateRunning && r.DeletionTimestamp != nil
	})
}

// blind is a client whose cache does not show some volumes.
type blind struct {
	client.Client
	volumes []string
}

func (b blind) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if _, is := into.(*v1beta2.Volume); is && slices.Contains(b.volumes, key.Name) {
		return apierrors.NewNotFound(v1beta2.GroupVersion.WithResource("volumes").GroupResource(), key.Name)
	}
	return b.Client.Get(ctx, key, into, options...)
}

// The cache may show a volume later than its objects.
func TestAVolumeThatTheCacheDoesNotShowExists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.attached(v1beta2.DataEngineV1, "node-3")
	w.stop()
	w.delete(&v1beta2.Replica{ObjectMeta: w.meta("r-1")})
	w.delete(&v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0")})
	before := w.generations(w.objects()...)
	w.unseen = []string{vol}
	p := w.start()
	w.quiet(p)
	require.Empty(t, p.Client.Writes())
	require.Equal(t, before, w.generations(w.objects()...))
	w.stop()
	w.unseen = nil
	w.removedByForce(w.theVolume())
	w.start()
	w.collectGarbage()
}

// ORP-5.
func TestAnEngineWithoutItsVolumeThatMayStillRunIsRecordedAsAbandoned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.attachedOn(t)
	w.down("node-1")
	w.removedByForce(v)
	w.collectGarbage()
	w.gaveUp("node-1", vol+"-e-0", "uuid-of-the-engine")
}
