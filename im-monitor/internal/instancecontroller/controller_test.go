package instancecontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAV1ReplicaAndItsEngineRunAndStopAsTheirObjectsAsk(t *testing.T) {
	w := newWorld(t, "run-1")
	im := manager("run-1", "v1")
	w.volume("vol", "v1")
	r := w.replica("vol-r-00000001", "vol", "run-1", "v1")
	e := w.engine("vol-e-0", "vol", "", "v1")
	require.Equal(t, "run-1", w.replicaIs(r.Name, v1beta2.InstanceStateStopped).Status.OwnerID, "from the first status on")
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)

	w.run(r)
	running := w.replicaIs(r.Name, v1beta2.InstanceStateRunning)
	instance, ok := w.Servers.Instance(im, r.Name)
	require.True(t, ok)
	require.Equal(t, instance.UUID, running.Status.UUID)
	require.Equal(t, int(instance.PortStart), running.Status.Port)
	require.NotEmpty(t, running.Status.IP)
	require.Equal(t, running.Status.IP, running.Status.StorageIP)
	require.Equal(t, im, running.Status.InstanceManagerName)
	require.Equal(t, engineImage, running.Status.CurrentImage)
	require.True(t, running.Status.Started)
	require.False(t, running.Status.Starting)

	w.spec(e, map[string]any{"nodeID": "run-1", "desireState": "running"})
	engine := w.engineIs(e.Name, v1beta2.InstanceStateRunning)
	require.Equal(t, "/dev/longhorn/vol", engine.Status.Endpoint)

	w.stop(e)
	engine = w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	require.Zero(t, engine.Status.Port)
	require.Empty(t, engine.Status.IP+engine.Status.StorageIP+engine.Status.UUID+engine.Status.InstanceManagerName+engine.Status.Endpoint)
	require.False(t, engine.Status.Started)
	require.False(t, w.holds(im, e.Name))
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	require.False(t, w.holds(im, r.Name))
	require.Len(t, w.creations(r.Name), 1)
	require.Len(t, w.deletions(r.Name), 1)
	require.Equal(t, instance.UUID, w.deletions(r.Name)[0].UUID)
}
