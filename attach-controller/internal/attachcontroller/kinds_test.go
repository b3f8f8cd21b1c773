package attachcontroller

import (
	"testing"

	"drover.dev/drover/shared/api/v1beta2"
)

// A10: rows M, with the engines that the volume machine would create.
func TestALiveMigrationIsRequestedConfirmedAndRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, func(s *v1beta2.VolumeSpec) { s.Migratable, s.AccessMode = true, v1beta2.AccessModeReadWriteMany })
	w.engine(vol, vol+"-e-0", "node-1", "volume-head", "s1")
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "pod-1", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "node-1", "pod-1 Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "pod-1 Satisfied")
	w.put(vol, "pod-2", v1beta2.AttacherCSI, "node-2")
	w.shows(vol, "node-1 node-2", "pod-1 Satisfied", "pod-2 Migrating")

	w.drop(vol, "pod-2")
	w.shows(vol, "node-1", "pod-1 Satisfied")
	w.put(vol, "pod-2", v1beta2.AttacherCSI, "node-2")
	w.shows(vol, "node-1 node-2", "pod-1 Satisfied", "pod-2 Migrating")

	target := w.engine(vol, vol+"-e-1", "node-2", "volume-head")
	w.status(v, map[string]any{"currentMigrationNodeID": "node-2"})
	w.shows(vol, "node-1 node-2", "pod-1 Satisfied", "pod-2 Satisfied")
	w.drop(vol, "pod-1")
	w.shows(vol, "node-1 node-2", "pod-2 Satisfied")
	w.status(target, map[string]any{"snapshots": map[string]any{"s1": map[string]any{"name": "s1"}}})
	w.shows(vol, "node-2", "pod-2 Satisfied")
	w.status(v, map[string]any{"currentNodeID": "node-2", "currentMigrationNodeID": ""})
	w.shows(vol, "node-2", "pod-2 Satisfied")
	w.ready(vol, v1beta2.ReasonAttached)
	for _, reason := range []string{"MigrationRequested", "MigrationRolledBack", "MigrationConfirmed"} {
		w.event("Volume", reason)
	}
}

// A11: pods of a shared volume are served with the share.
func TestPodsOfASharedVolumeAreServedWithTheShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, func(s *v1beta2.VolumeSpec) { s.AccessMode = v1beta2.AccessModeReadWriteMany })
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "pod-1", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "", "pod-1 WaitingForShare")
	w.put(vol, "share", v1beta2.AttacherShareManager, "node-2")
	w.shows(vol, "node-2", "pod-1 WaitingForShare", "share Attaching")
	w.attached(vol, "node-2")
	w.shows(vol, "node-2", "pod-1 Satisfied", "share Satisfied")
	w.drop(vol, "share")
	w.shows(vol, "", "pod-1 WaitingForShare")
}

// A strict-local volume goes to its replica's node only.
func TestAStrictLocalVolumeGoesToItsReplica(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, func(s *v1beta2.VolumeSpec) { s.DataLocality = "strict-local" })
	replica := &v1beta2.Replica{ObjectMeta: w.meta(vol + "-r-1"), Spec: v1beta2.ReplicaSpec{VolumeName: vol, NodeID: "node-2"}}
	w.create(replica)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "pod-1", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "", "pod-1 DataLocality")
	w.spec(replica, map[string]any{"nodeID": "node-1"})
	w.shows(vol, "node-1", "pod-1 Attaching")
}

// engine creates an engine that runs on a node, and lists these snapshots.
func (w *world) engine(volume, name, node string, snapshots ...string) *v1beta2.Engine {
	w.t.Helper()
	e := &v1beta2.Engine{ObjectMeta: w.meta(name),
		Spec: v1beta2.EngineSpec{VolumeName: volume, NodeID: node, DesireState: v1beta2.InstanceStateRunning}}
	w.create(e)
	listed := map[string]any{}
	for _, s := range snapshots {
		listed[s] = map[string]any{"name": s}
	}
	w.status(e, map[string]any{"currentState": v1beta2.InstanceStateRunning, "snapshots": listed})
	return e
}
