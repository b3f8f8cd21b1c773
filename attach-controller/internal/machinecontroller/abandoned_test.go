package machinecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// lists writes im-monitor's record of what an instance manager of the node lists: one v1 engine.
func (w *world) lists(node, engine, uuid string) {
	w.t.Helper()
	m := &v1beta2.InstanceManager{ObjectMeta: w.meta("im-of-" + node)}
	m.Spec.NodeID, m.Spec.DataEngine = node, v1beta2.DataEngineV1
	w.create(m)
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, m, map[string]any{"instanceEngines": map[string]v1beta2.InstanceProcess{
		engine: {Status: v1beta2.InstanceProcessStatus{UUID: uuid, State: v1beta2.InstanceStateRunning}},
	}}))
}

// gaveUp requires the node's record of the instance; empty UUID: none.
func (w *world) gaveUp(node, instance, uuid string) {
	w.t.Helper()
	n := &v1beta2.Node{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: node}, n))
	entry, ok := n.Status.AbandonedInstances[instance]
	require.Equal(w.t, uuid != "", ok, "%v", n.Status.AbandonedInstances)
	if ok {
		require.Equal(w.t, uuid, entry.UUID)
		require.Equal(w.t, v1beta2.DataEngineV1, entry.DataEngine)
		require.NotEmpty(w.t, entry.At)
	}
}

// ORP-5: an engine that is released while its node is unreachable is recorded; one that is observed to have ended is not.
func TestAnEngineThatMayStillRunIsRecordedAsAbandoned(t *testing.T) {
	t.Parallel()
	for sentence, away := range map[string]bool{"its node is unreachable": true, "it ended": false} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			v := w.attachedOn(t)
			want := ""
			if away {
				w.down("node-1")
				want = "uuid-of-the-engine"
			}
			w.delete(v)
			w.gone(v)
			w.gaveUp("node-1", vol+"-e-0", want)
		})
	}
}

func (w *world) attachedOn(t *testing.T) *v1beta2.Volume {
	t.Helper()
	w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-1")
	w.lists("node-1", vol+"-e-0", "uuid-of-the-engine")
	w.attachment()
	return v
}

// ORP-5: an engine that moved from a lost node left an instance behind there.
func TestWhatAnEngineLeftBehindIsRecordedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.attachedOn(t)
	w.down("node-1")
	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.wanted(v, "node-2")
	w.reaches(v, v1beta2.VolumeStateAttached, "node-2")
	w.delete(v)
	w.gone(v)
	w.gaveUp("node-1", vol+"-e-0", "uuid-of-the-engine")
}
