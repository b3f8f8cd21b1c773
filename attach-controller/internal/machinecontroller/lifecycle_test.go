package machinecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestANewVolumeGetsWhatItLacksAndIsDetached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.volume(vol, func(s *v1beta2.VolumeSpec) { s.NumberOfReplicas = 0 })
	found := w.reaches(v, v1beta2.VolumeStateDetached, "")
	require.Equal(t, []string{v1beta2.Finalizer}, found.Finalizers)
	require.Equal(t, vol, found.Labels[v1beta2.LabelVolume])
	require.Equal(t, v1beta2.DataEngineV1, found.Spec.DataEngine)
	require.Equal(t, v1beta2.AccessModeReadWriteOnce, found.Spec.AccessMode)
	require.Equal(t, 3, found.Spec.NumberOfReplicas)
	require.Equal(t, "disabled", found.Spec.DataLocality)
	require.Equal(t, "blockdev", found.Spec.Frontend)
	require.Equal(t, v1beta2.VolumeRobustnessUnknown, found.Status.Robustness)
	w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonDetached)
	w.says(v, v1beta2.VolumeFaulted, v1beta2.ReasonUsable)

	e := w.engine(vol+"-e-0", "there", func(*v1beta2.Engine) bool { return true })
	require.Equal(t, []string{v1beta2.Finalizer}, e.Finalizers)
	require.Equal(t, vol, e.Labels[v1beta2.LabelVolume])
	require.Equal(t, found.UID, e.OwnerReferences[0].UID)
	require.True(t, e.Spec.Active)
	require.Equal(t, gib, e.Spec.VolumeSize)
	require.Equal(t, v1beta2.InstanceStateStopped, e.Spec.DesireState)
	w.quiet(p)
}

func TestV1IsAttachedAndDetached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.quiet(p)
	w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonAttached)
	e := w.engine(vol+"-e-0", "on node-3", func(e *v1beta2.Engine) bool { return e.Spec.NodeID == "node-3" })
	require.Equal(t, "node-3", e.Labels[v1beta2.LabelNode])
	require.Len(t, e.Spec.ReplicaAddressMap, 2)
	for _, name := range []string{"r-1", "r-2"} {
		w.theReplica(name, "healthy", func(r *v1beta2.Replica) bool { return r.Spec.HealthyAt != "" && r.Spec.LastHealthyAt != "" })
	}
	w.once("Attached")

	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.robustness(v, v1beta2.VolumeRobustnessUnknown)
	w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonDetached)
	w.engine(vol+"-e-0", "stopped", func(e *v1beta2.Engine) bool { return e.Spec.DesireState == v1beta2.InstanceStateStopped })
	for _, name := range []string{"r-1", "r-2"} {
		r := w.theReplica(name, "stopped", func(r *v1beta2.Replica) bool { return r.Spec.DesireState == v1beta2.InstanceStateStopped })
		require.Empty(t, r.Spec.FailedAt)
	}
	w.quiet(p)
	w.once("Attached", "Detached")
	require.Zero(t, w.events("ReplicaRebuilt"))
}

func TestV2HasAFrontendAsWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV2, "node-3")
	e := w.engine(vol+"-e-0", "running", func(e *v1beta2.Engine) bool { return e.Status.CurrentState == v1beta2.InstanceStateRunning })
	f := w.frontend(vol+"-ef-0", "running", func(f *v1beta2.EngineFrontend) bool {
		return f.Status.CurrentState == v1beta2.InstanceStateRunning
	})
	require.Equal(t, []string{v1beta2.Finalizer}, f.Finalizers)
	require.Equal(t, e.Name, f.Spec.EngineName)
	require.Equal(t, e.Status.StorageIP, f.Spec.TargetIP)
	require.Equal(t, e.Status.Port, f.Spec.TargetPort)
	w.quiet(p)
	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.frontend(vol+"-ef-0", "stopped", func(f *v1beta2.EngineFrontend) bool {
		return f.Status.CurrentState == v1beta2.InstanceStateStopped
	})
	w.quiet(p)
}

func TestV2WithoutAFrontendIsAttachedByItsEngineAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.placed(v1beta2.DataEngineV2)
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.spec(v, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	found := w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	require.True(t, found.Status.FrontendDisabled)
	w.frontend(vol+"-ef-0", "stopped", func(f *v1beta2.EngineFrontend) bool { return f.Spec.DesireState == v1beta2.InstanceStateStopped })
}
