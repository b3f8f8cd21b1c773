package instancecontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// L4: after an earlier state of etcd was restored, the objects of a volume that serves are of before it was attached. Its replicas stay as
// long as an engine may write to them that no object accounts for: a replica that ended before the engine would lack later writes, and the
// next engine would use it all the same.
func TestAReplicaStaysWhileAnEngineMayUseItThatNoObjectAccountsFor(t *testing.T) {
	for name, engine := range map[string]struct {
		dataEngine string
		maps       map[string]string
		begun      bool
		uses       bool
	}{
		"v1, an engine without an object":               {"v1", nil, false, true},
		"v2, an engine that maps it":                    {"v2", map[string]string{"vol-r-00000001": "10.0.0.9:20001"}, false, true},
		"v2, an engine whose replicas are not known":    {"v2", nil, false, true},
		"v2, an engine that maps other replicas":        {"v2", map[string]string{"vol-r-00000002": "10.0.0.9:20001"}, false, false},
		"v1, an engine whose object shows that it runs": {"v1", nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "restored-1")
			im := manager("restored-1", engine.dataEngine)
			number := "vol-e-3"
			if engine.begun {
				number = "vol-e-0"
				e := w.engine(number, "vol", "restored-1", engine.dataEngine)
				w.run(e)
				w.engineIs(number, v1beta2.InstanceStateRunning)
				require.NoError(t, status.MergeStatus(t.Context(), w.Admin, e, map[string]any{"replicaModeMap": map[string]any{}}))
			} else {
				w.Servers.Put(im, inventory.Instance{Name: number, Type: v1beta2.InstanceTypeEngine, UUID: "e", DataEngine: engine.dataEngine,
					State: v1beta2.InstanceStateRunning, Replicas: engine.maps})
			}
			w.Servers.Put(im, inventory.Instance{Name: "vol-r-00000001", Type: v1beta2.InstanceTypeReplica, UUID: "r", DiskUUID: disk,
				DataEngine: engine.dataEngine, State: v1beta2.InstanceStateRunning})
			r := w.replica("vol-r-00000001", "vol", "restored-1", engine.dataEngine)
			if !engine.uses {
				w.Eventually(func() bool { return len(w.deletions(r.Name)) > 0 }, "the replica never ended")
				return
			}
			w.never(func() bool { return len(w.deletions(r.Name)) > 0 }, "the replica was ended under an engine")
			w.run(r)
			w.never(func() bool { return len(w.deletions(r.Name)) > 0 }, "the replica was started again under an engine")
			w.stop(r)
			w.Servers.Drop(im, number)
			w.Eventually(func() bool { return len(w.deletions(r.Name)) > 0 }, "the replica never ended after the engine")
		})
	}
}
