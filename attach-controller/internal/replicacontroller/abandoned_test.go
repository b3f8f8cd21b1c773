package replicacontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// ORP-5: a v1 replica whose end was only concluded, since its node is unreachable, is recorded before it is released.
func TestAReplicaThatMayStillRunIsRecordedAsAbandoned(t *testing.T) {
	t.Parallel()
	for sentence, away := range map[string]bool{"its node is unreachable": true, "it ended": false} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := &v1beta2.InstanceManager{ObjectMeta: w.meta("im-v1"),
				Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", DataEngine: v1beta2.DataEngineV1}}
			w.create(m)
			w.status(m, map[string]any{"instanceReplicas": map[string]v1beta2.InstanceProcess{
				"gone-r-1": {Status: v1beta2.InstanceProcessStatus{UUID: "uuid-1"}}}})
			r := &v1beta2.Replica{ObjectMeta: w.meta("gone-r-1")}
			r.Finalizers = []string{v1beta2.Finalizer}
			r.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: "gone",
				UID: "uid-of-gone"}}
			r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DataEngine, r.Spec.DesireState = "gone", "node-1", v1beta2.DataEngineV1,
				v1beta2.InstanceStateStopped
			w.create(r)
			concluded := v1beta2.ConditionFalse
			if away {
				concluded = v1beta2.ConditionTrue
			}
			w.status(r, map[string]any{"currentState": v1beta2.InstanceStateStopped,
				"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.InstanceNodeDown, Status: concluded,
					Reason: v1beta2.ReasonNodeDown}})})
			if away {
				w.down("node-1")
			}
			w.start()
			w.delete(r)
			w.shows("gone", "")
			n := &v1beta2.Node{}
			require.NoError(t, w.admin.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "node-1"}, n))
			entry, recorded := n.Status.AbandonedInstances["gone-r-1"]
			require.Equal(t, away, recorded)
			if away {
				require.Equal(t, []string{"uuid-1", v1beta2.DataEngineV1, "uid-of-gone"},
					[]string{entry.UUID, entry.DataEngine, entry.VolumeUID})
			}
		})
	}
}
