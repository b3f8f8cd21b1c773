package v1beta2_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatBelongsToAVolumeHasItsUIDOrNoOwner(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "now"}}
	of := func(kind string, uid types.UID) *v1beta2.Replica {
		return &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: "v", UID: uid}}}}
	}
	require.True(t, v1beta2.BelongsTo(&v1beta2.Replica{}, v))
	require.True(t, v1beta2.BelongsTo(of("Node", "before"), v))
	require.True(t, v1beta2.BelongsTo(of("Volume", "now"), v))
	require.False(t, v1beta2.BelongsTo(of("Volume", "before"), v))
}

func TestTheVolumeAndTheNodeThatAnObjectNames(t *testing.T) {
	e, f, r := &v1beta2.Engine{}, &v1beta2.EngineFrontend{}, &v1beta2.Replica{}
	e.Spec.VolumeName, f.Spec.VolumeName, r.Spec.VolumeName = "v", "v", "v"
	e.Spec.NodeID, f.Spec.NodeID, r.Spec.NodeID = "n", "n", "n"
	m := &v1beta2.InstanceManager{Spec: v1beta2.InstanceManagerSpec{NodeID: "n"}}
	for _, object := range []metav1.Object{e, f, r, &v1beta2.Snapshot{Spec: v1beta2.SnapshotSpec{Volume: "v"}}} {
		require.Equal(t, "v", v1beta2.VolumeNameOf(object))
	}
	for _, object := range []metav1.Object{e, f, r, m} {
		require.Equal(t, "n", v1beta2.NodeNameOf(object))
	}
	named := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: v1beta2.VolumeSpec{NodeID: "n"}}
	require.Empty(t, v1beta2.VolumeNameOf(named), "a Volume names none")
	require.Empty(t, v1beta2.NodeNameOf(named), "a Volume may name several")
}

func TestTheOwnerAndTheStateOfAnObject(t *testing.T) {
	engine, frontend, replica, manager := &v1beta2.Engine{}, &v1beta2.EngineFrontend{}, &v1beta2.Replica{}, &v1beta2.InstanceManager{}
	engine.Status.OwnerID, frontend.Status.OwnerID, replica.Status.OwnerID, manager.Status.OwnerID = "n", "n", "n", "n"
	engine.Status.CurrentState, frontend.Status.CurrentState, replica.Status.CurrentState = "running", "running", "running"
	manager.Status.CurrentState = "running"
	for _, object := range []metav1.Object{engine, frontend, replica} {
		require.Equal(t, "n", v1beta2.OwnerNodeOf(object))
		require.Equal(t, "running", v1beta2.InstanceStateOf(object))
	}
	require.Equal(t, "n", v1beta2.OwnerNodeOf(manager))
	require.Empty(t, v1beta2.InstanceStateOf(manager), "it is no instance")
	require.Empty(t, v1beta2.OwnerNodeOf(&v1beta2.Volume{}))
	require.Empty(t, v1beta2.InstanceStateOf(&v1beta2.Volume{}))
}
