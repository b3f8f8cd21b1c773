package replicacontroller

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"drover.dev/drover/attach-controller/internal/replica"
	"drover.dev/drover/shared/api/v1beta2"
)

// direct is a reconciler without a cache behind it: the test sets its reads.
func (w *world) direct() *reconciler {
	return &reconciler{observer: observer{namespace: w.namespace, reservations: newReservations(noVolumes{})},
		client: w.admin, uncached: w.admin,
		waiting: newWaitlist(), made: map[string][]string{}}
}

func (w *world) bareReplica(name string) *v1beta2.Replica {
	r := &v1beta2.Replica{ObjectMeta: w.meta(name)}
	r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DiskID, r.Spec.VolumeSize = vol, "node-1", "disk", 10
	w.create(r)
	return r
}

// A replica that this process created is not created again because the cache lags.
func TestACacheThatLacksOurReplicasIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.direct()
	one, two := w.bareReplica("one"), w.bareReplica("two")
	for _, made := range []*v1beta2.Replica{one, two} {
		r.remember(vol, made.Name)
		r.observer.reservations.see(made)
	}
	r.enqueued = make(chan event.GenericEvent, 1)
	r.observer.reservations.reserve(one)
	r.waiting.set("other", []string{"node-1"})
	stale, err := r.stale(t.Context(), vol, nil)
	require.NoError(t, err)
	require.True(t, stale, "none is seen")
	stale, err = r.stale(t.Context(), vol, []*v1beta2.Replica{two})
	require.NoError(t, err)
	require.True(t, stale, "one is not seen")
	require.NoError(t, w.admin.Delete(t.Context(), one))
	stale, err = r.stale(t.Context(), vol, []*v1beta2.Replica{two})
	require.NoError(t, err)
	require.False(t, stale, "what is gone is not waited for")
	require.EqualValues(t, 10, r.observer.reservations.bytes("node-1", "disk"), "nor is it counted")
	require.Equal(t, "other", (<-r.enqueued).Object.GetName(), "who waits for its slot")
	require.Empty(t, r.made)
	stale, err = r.stale(t.Context(), vol, nil)
	require.NoError(t, err)
	require.False(t, stale)
}

// ORP-2 for volumes: what the cache lacks may exist.
func TestAVolumeThatTheCacheLacksIsReadUncached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.direct()
	world := replica.World{Replicas: []*v1beta2.Replica{w.bareReplica("one")}}
	unsure, err := r.unsure(t.Context(), world)
	require.NoError(t, err)
	require.False(t, unsure, "it does not exist")
	v := w.volume(vol, 1)
	unsure, err = r.unsure(t.Context(), world)
	require.NoError(t, err)
	require.True(t, unsure, "it is only unseen")
	world.Volume = v
	unsure, err = r.unsure(t.Context(), world)
	require.NoError(t, err)
	require.False(t, unsure)
}

// ALL-1: what moves without concerning replicas costs no write, nor does a restart.
func TestAQuietClusterIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	for n := range 5 {
		name := fmt.Sprintf("v-%d", n)
		w.volume(name, 3)
		w.shows(name, "node-1/new node-2/new node-3/new")
		w.scheduled(name, v1beta2.ReasonPlaced)
		w.attached(name, "node-1")
	}
	writes := w.quiet(p)
	node := &v1beta2.Node{ObjectMeta: w.meta("node-1")}
	for n := range 5 {
		w.status(node, map[string]any{"diskStatus": map[string]any{"disk": map[string]any{"storageAvailable": 90*gib + int64(n),
			"storageScheduled": n}}})
		w.status(w.engine("v-0"), map[string]any{"currentSize": fmt.Sprint(n),
			"snapshots": map[string]any{"s": map[string]any{"name": "s", "size": fmt.Sprint(n)}}})
		w.status(w.on("v-0", "node-1"), map[string]any{"instanceManagerName": fmt.Sprint(n)})
	}
	require.Equal(t, writes, w.quiet(p))
	w.stop()
	again := w.start()
	w.spec(&v1beta2.Volume{ObjectMeta: w.meta("v-4")}, map[string]any{"numberOfReplicas": 2})
	w.eventually(func() bool {
		for _, r := range w.replicas("v-4") {
			if r.DeletionTimestamp != nil {
				return true
			}
		}
		return false
	}, "it works again")
	w.quiet(again)
	for _, write := range again.Client.Writes() {
		require.Contains(t, fmt.Sprint(write), "v-4")
	}
}
