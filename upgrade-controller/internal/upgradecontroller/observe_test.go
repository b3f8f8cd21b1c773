package upgradecontroller

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// observed is an observer over a cache with its indexes, beside a world of volumes: those of node-1 and those of others.
func observed(t testing.TB, w *world) observer {
	t.Helper()
	scheme, err := runkit.Scheme()
	require.NoError(t, err)
	manager, err := ctrl.NewManager(w.identity, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}, ByObject: Cached()}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, new(kube.Indexes).Add(ctx, manager.GetFieldIndexer(), indexes...))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	require.True(t, manager.GetCache().WaitForCacheSync(ctx))
	o := observer{cached: manager.GetClient(), live: manager.GetAPIReader(), namespace: w.namespace, clock: clock.RealClock{}}
	for _, kind := range []client.ObjectList{&v1beta2.NodeList{}, &v1beta2.InstanceManagerList{}, &v1beta2.VolumeList{},
		&v1beta2.EngineList{}, &v1beta2.ReplicaList{},
		&v1beta2.SnapshotList{}, &v1beta2.BackupList{}} {
		require.NoError(t, lookup.ListShared(ctx, o.cached, o.namespace, kind)) // it begins to watch
	}
	return o
}

// What the cache shows of a node's volumes by index is what a whole read shows, of those volumes.
func TestANodesVolumesAreReadByIndex(t *testing.T) {
	w := newWorld(t, func(m *model.World) {
		m.AddVolume("here", "node-1", "node-2", "node-3")
		m.AddVolume("replica", "node-2", "node-1", "node-2")
		m.AddVolume("elsewhere", "node-2", "node-2", "node-3")
		m.AddVolume("listed", "node-3", "node-2", "node-3")
		m.AddVolume("detached", "", "node-1", "node-2")
	})
	o := observed(t, w)
	u := &v1beta2.NodeDataEngineUpgrade{}
	u.Spec.NodeID, u.Status.State = "node-1", v1beta2.UpgradeStateSwitchingOver
	u.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"listed": {}}
	found, err := o.around(t.Context(), u, false)
	require.NoError(t, err)
	all, err := o.around(t.Context(), u, true)
	require.NoError(t, err)
	require.Len(t, found.Volumes, 3)
	for _, name := range []string{"here", "replica", "listed"} {
		require.Equal(t, all.Volumes[name].Object.UID, found.Volumes[name].Object.UID)
		require.Len(t, found.Volumes[name].Engines, len(all.Volumes[name].Engines))
		require.Len(t, found.Volumes[name].Replicas, len(all.Volumes[name].Replicas))
	}
	require.Len(t, found.Nodes, 3)
	require.NotEmpty(t, found.Nodes["node-1"].Managers)
	require.Equal(t, map[string]int{"node-1": 1, "node-2": 2, "node-3": 1}, found.Load, "a temporary node is to be chosen for volume here")
	require.Equal(t, 2, all.Engines("node-2"))
}

// What is under way on a volume is read with it: snapshots whose removal was approved, and backups that were begun and are not at their
// end.
func TestWorkThatIsUnderWayIsReadWithItsVolume(t *testing.T) {
	w := newWorld(t, func(m *model.World) { m.AddVolume("vol-1", "node-1", "node-1", "node-2") })
	for name, approved := range map[string]v1beta2.ConditionStatus{"removed": v1beta2.ConditionTrue, "waits": v1beta2.ConditionFalse,
		"stays": ""} {
		s := &v1beta2.Snapshot{ObjectMeta: w.meta(name), Spec: v1beta2.SnapshotSpec{Volume: "vol-1"}}
		s.Finalizers = []string{v1beta2.Finalizer}
		w.create(s)
		if approved == "" {
			continue
		}
		require.NoError(t, status.MergeStatus(t.Context(), w.admin, s, map[string]any{"conditions": status.ConditionsField(
			[]v1beta2.Condition{{Type: v1beta2.SnapshotRemovalApproved, Status: approved, Reason: v1beta2.ReasonRequested}})}))
		require.NoError(t, w.admin.Delete(t.Context(), s))
	}
	for name, state := range map[string]string{"begun": v1beta2.BackupInProgress, "done": v1beta2.BackupCompleted, "asked": ""} {
		b := &v1beta2.Backup{ObjectMeta: w.meta(name), Spec: v1beta2.BackupSpec{SnapshotName: "stays"}}
		b.Labels = map[string]string{v1beta2.LabelBackupVolume: "vol-1"}
		w.create(b)
		require.NoError(t, status.MergeStatus(t.Context(), w.admin, b, map[string]any{"state": state}))
	}
	o := observed(t, w)
	u := &v1beta2.NodeDataEngineUpgrade{}
	u.Spec.NodeID = "node-1"
	for _, fresh := range []bool{false, true} {
		found, err := o.around(t.Context(), u, fresh)
		require.NoError(t, err)
		require.Equal(t, []string{"removed"}, found.Volumes["vol-1"].Removals)
		require.Equal(t, []string{"begun"}, found.Volumes["vol-1"].Backups)
	}
}

// counting counts what is read through a reader: single objects, also as lists by name, and other lists.
type counting struct {
	client.Reader
	objects, lists atomic.Int64
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	c.objects.Add(1)
	return c.Reader.Get(ctx, key, into, options...)
}

func (c *counting) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	var selected client.ListOptions
	selected.ApplyOptions(options)
	counter := &c.lists
	if selected.FieldSelector != nil {
		if _, named := selected.FieldSelector.RequiresExactMatch("metadata.name"); named {
			counter = &c.objects
		}
	}
	counter.Add(1)
	return c.Reader.List(ctx, into, options...)
}

// A replica is listed on uncached reads of its volume's own objects: what changed since the cache was read counts, and nothing is listed
// at the API server.
func TestAVolumeIsConfirmedByItsOwnObjects(t *testing.T) {
	w := newWorld(t, func(m *model.World) {
		m.AddVolume("vol", "node-1", "node-1", "node-2", "node-3")
		m.AddVolume("gone", "node-1", "node-1", "node-2")
		m.AddVolume("other", "node-1", "node-1", "node-2")
	})
	o := observed(t, w)
	live := &counting{Reader: o.live}
	o.live = live
	u := &v1beta2.NodeDataEngineUpgrade{}
	u.Spec.NodeID, u.Spec.DataEngineUpgradeManager, u.Status.State = "node-1", "upgrade", v1beta2.UpgradeStateDetachingReplicas
	seen, err := o.around(t.Context(), u, false)
	require.NoError(t, err)
	cached := &nodeupgrade.World{Upgrade: u, Cluster: seen}
	w.upgrade("upgrade", nil)
	require.NoError(t, w.admin.Delete(t.Context(), &v1beta2.Volume{ObjectMeta: w.meta("gone")}))
	require.NoError(t, w.admin.Delete(t.Context(), &v1beta2.Replica{ObjectMeta: w.meta("vol-r-node-3")}))
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, &v1beta2.Node{ObjectMeta: w.meta("node-2")}, map[string]any{
		"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonKubernetesNodeNotReady}})}))

	require.NoError(t, o.confirm(t.Context(), cached, []string{"gone", "vol"}))
	require.Equal(t, map[string]bool{"gone": true, "vol": true}, cached.FreshVolumes)
	require.NotContains(t, cached.Cluster.Volumes, "gone")
	require.Contains(t, cached.Cluster.Volumes, "other", "as the cache shows it")
	require.Len(t, cached.Cluster.Volumes["vol"].Engines, 1)
	require.Len(t, cached.Cluster.Volumes["vol"].Replicas, 2)
	require.True(t, cached.Cluster.Nodes["node-2"].Down())
	require.NotEmpty(t, cached.Cluster.Nodes["node-2"].Managers)
	require.NotNil(t, cached.Manager)
	require.Zero(t, live.lists.Load())
	const ofVolume, ofGone, nodes, manager = 1 + 1 + 3, 1, 3, 1
	require.EqualValues(t, ofVolume+ofGone+nodes+manager, live.objects.Load())
}

// BenchmarkDecision is one read of what is decided on: 10 volumes of the node, beside others that it has nothing of.
func BenchmarkDecision(b *testing.B) {
	for _, others := range []int{100, 1000} {
		w := newBenchWorld(b, others)
		o := observed(b, w)
		u := &v1beta2.NodeDataEngineUpgrade{}
		u.Spec.NodeID, u.Status.State = "node-1", v1beta2.UpgradeStateRebuildingReplica
		b.Run(fmt.Sprintf("indexed/%d", others), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.around(b.Context(), u, false); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("everything/%d", others), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.everything(b.Context(), o.cached, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func newBenchWorld(b *testing.B, others int) *world {
	b.Helper()
	w := newWorld(b, func(m *model.World) {
		for i := range 10 {
			m.AddVolume(fmt.Sprintf("here-%d", i), "node-1", "node-1", "node-2", "node-3")
		}
	})
	more := model.New()
	for _, name := range []string{"node-2", "node-3"} {
		more.AddNode(name)
	}
	for i := range others {
		more.AddVolume(fmt.Sprintf("other-%d", i), "node-2", "node-2", "node-3")
	}
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(16)
	n := &peers{admin: w.admin, namespace: w.namespace}
	empty := model.New()
	group.Go(func() error { return write(ctx, n, empty.Volumes, more.Volumes) })
	group.Go(func() error { return write(ctx, n, empty.Engines, more.Engines) })
	group.Go(func() error { return write(ctx, n, empty.Replicas, more.Replicas) })
	require.NoError(b, group.Wait())
	return w
}
