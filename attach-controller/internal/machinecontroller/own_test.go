package machinecontroller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAnObjectOfAPreviousVolumeIsRecognised(t *testing.T) {
	t.Parallel()
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: vol, UID: "now"}}
	list := make([]v1beta2.Replica, 3)
	list[0].Name, list[1].Name, list[2].Name = "r-2", "r-1", "r-3"
	list[1].OwnerReferences = []metav1.OwnerReference{{Kind: "Volume", Name: vol, UID: "now"}}
	list[2].OwnerReferences = []metav1.OwnerReference{{Kind: "Volume", Name: vol, UID: "before"}}
	now, previous := own(v, byName(list))
	require.Equal(t, []*v1beta2.Replica{&list[1], &list[0]}, now)
	require.Equal(t, []*v1beta2.Replica{&list[2]}, previous)
}

// An object that the cache has not shown yet keeps the finalizer, too.
func TestTheLastObjectsOfAVolumeAreReadUncached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := &v1beta2.Volume{ObjectMeta: w.meta(vol)}
	v.UID = "now"
	owned := func(name string, uid types.UID) metav1.ObjectMeta {
		m := w.meta(name)
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: vol, UID: uid}}
		return m
	}
	w.create(&v1beta2.Engine{ObjectMeta: owned("e-0", "now"), Spec: v1beta2.EngineSpec{VolumeName: vol}})
	w.create(&v1beta2.Engine{ObjectMeta: owned("e-1", "before"), Spec: v1beta2.EngineSpec{VolumeName: vol}})
	w.create(&v1beta2.Engine{ObjectMeta: w.meta("e-2"), Spec: v1beta2.EngineSpec{VolumeName: "another"}})
	w.create(&v1beta2.EngineFrontend{ObjectMeta: owned("f-0", "now"), Spec: v1beta2.EngineFrontendSpec{VolumeName: vol}})
	w.create(&v1beta2.Replica{ObjectMeta: w.meta("r-0"), Spec: v1beta2.ReplicaSpec{VolumeName: vol}})
	w.create(&v1beta2.Snapshot{ObjectMeta: w.meta("s-0"), Spec: v1beta2.SnapshotSpec{Volume: vol}})
	w.create(&v1beta2.Snapshot{ObjectMeta: owned("s-1", "before"), Spec: v1beta2.SnapshotSpec{Volume: vol}})
	is := machine.World{Volume: v, Nodes: map[string]machine.Node{}}
	o := observer{reader: w.admin, uncached: w.admin, namespace: w.namespace}
	require.NoError(t, o.left(t.Context(), &is))
	require.Len(t, is.Engines, 1)
	require.Equal(t, "e-0", is.Engines[0].Name)
	require.Len(t, is.Frontends, 1)
	require.Len(t, is.Replicas, 1)
	require.Len(t, is.Previous.All(), 1)
	require.Equal(t, 1, is.Snapshots)
	require.Equal(t, "s-0", is.FirstSnapshot)
}

// movedEngine creates an engine, and returns it as it was before it was moved from node-1 to node-2.
func (w *world) movedEngine() *v1beta2.Engine {
	w.t.Helper()
	e := &v1beta2.Engine{ObjectMeta: w.meta("e-0"), Spec: v1beta2.EngineSpec{VolumeName: vol, NodeID: "node-1"}}
	w.create(e)
	before := e.DeepCopy()
	w.spec(e, map[string]any{"nodeID": "node-2"})
	return before
}

// Another process wrote a moment ago that the engine is on another node: that node is known, and does not count as down.
func TestTheNodeOfAnObjectThatIsReadAgainIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.movedEngine()
	for name, wants := range map[string]machine.Reads{"the objects": {Fresh: true}, "the nodes, too": {Fresh: true, FreshNodes: true}} {
		is := machine.World{Volume: &v1beta2.Volume{ObjectMeta: w.meta(vol)}, Nodes: map[string]machine.Node{"node-1": {Known: true}}}
		is.Engines = []*v1beta2.Engine{before}
		o := observer{reader: w.admin, uncached: w.admin, namespace: w.namespace}
		require.NoError(t, o.refresh(t.Context(), &is, wants), name)
		require.Equal(t, "node-2", is.Engines[0].Spec.NodeID, name)
		require.Equal(t, machine.Node{Known: true}, is.Nodes["node-2"], name)
	}
}

// The upgrade of such a node counts as well: no engine is to start there while its instance manager is being replaced.
func TestTheUpgradeOfANodeThatIsReadAgainIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.movedEngine()
	u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: w.meta("upgrade-node-2"), Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-2",
		DataEngine: "v2", InstanceManagerImage: "image:new", DataEngineUpgradeManager: "upgrade"}}
	w.create(u)
	w.status(u, map[string]any{"state": v1beta2.UpgradeStateUpgradingInstanceManager})

	is := machine.World{Volume: &v1beta2.Volume{ObjectMeta: w.meta(vol), Spec: v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2}},
		Nodes: map[string]machine.Node{"node-1": {Known: true}}}
	is.Engines = []*v1beta2.Engine{before}
	o := observer{reader: w.admin, uncached: w.admin, namespace: w.namespace,
		upgrades: upgrade.Reader{Client: withoutIndex{w.admin}, Namespace: w.namespace}}
	require.NoError(t, o.refresh(t.Context(), &is, machine.Reads{Fresh: true}))
	require.Equal(t, []machine.Upgrade{{Node: "node-2", State: v1beta2.UpgradeStateUpgradingInstanceManager, Image: "image:new"}}, is.Upgrades)
	require.NoError(t, o.refresh(t.Context(), &is, machine.Reads{Fresh: true}))
	require.Len(t, is.Upgrades, 1, "it is not listed twice")
}

// withoutIndex lists all objects of a namespace: the API server has no index of the cache.
type withoutIndex struct{ client.Reader }

func (r withoutIndex) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	all := (&client.ListOptions{}).ApplyOptions(options)
	return r.Reader.List(ctx, list, client.InNamespace(all.Namespace))
}
