package upgrade

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/preflight"
)

// A command without -n or --context may be about another installation.
func TestABlockerNamesACommandThatIsComplete(t *testing.T) {
	w := &world.World{Namespace: "storage", Connection: []string{"--context", "prod"}}
	w.Settings.Items = []v1beta2.Setting{{ObjectMeta: metav1.ObjectMeta{Name: imageSetting}, Value: "new"}}
	w.Nodes.Items = []v1beta2.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}}
	w.InstanceManagers.Items = []v1beta2.InstanceManager{{Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", Image: "old",
		DataEngine: v1beta2.DataEngineV2, Type: v1beta2.InstanceManagerTypeAIO}}}
	w.Volumes.Items = []v1beta2.Volume{{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"},
		Spec:   v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2},
		Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached, CurrentNodeID: "node-1", Robustness: v1beta2.VolumeRobustnessUnknown}}}
	w.Engines.Items = []v1beta2.Engine{{Spec: v1beta2.EngineSpec{VolumeName: "vol-1", NodeID: "node-1", Active: true, SnapshotMaxCount: 3}}}
	w.Engines.Items[0].Status.CurrentState = v1beta2.InstanceStateRunning
	w.Engines.Items[0].Status.Snapshots = map[string]v1beta2.SnapshotInfo{"a": {}, "b": {}, "c": {}}

	plan := PlanOf(w, Wish{})
	commands := map[preflight.Kind]string{}
	for _, b := range plan.Blockers {
		commands[b.Kind] = b.Command
	}
	require.Equal(t, map[preflight.Kind]string{
		preflight.NodeNotReady:   "kubectl -n storage get lhim -o wide --context prod",
		preflight.NoOtherNode:    "kubectl -n storage get lhn,lhim -o wide --context prod",
		preflight.TooFewReplicas: "kubectl drover why vol-1 -n storage --context prod",
		preflight.Degraded:       "kubectl drover why vol-1 -n storage --context prod",
		preflight.SnapshotLimit:  "kubectl drover snapshots vol-1 -n storage --context prod",
	}, commands)
	require.Equal(t, []string{"volume vol-1"}, plan.Unknown)
	require.Equal(t, []string{"kubectl drover upgrade plan -n storage --context prod"}, plan.nextSteps())
}
