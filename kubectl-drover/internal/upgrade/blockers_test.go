package upgrade

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// A prune without --keep or --older-than is refused, and one without -n may be of another installation.
func TestABlockerNamesACommandThatIsComplete(t *testing.T) {
	f := facts{world: &world.World{Namespace: "storage", Connection: []string{"--context", "prod"}}}
	e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{NodeID: "node-1", Active: true, SnapshotMaxCount: 3}}
	e.Status.CurrentState = v1beta2.InstanceStateRunning
	e.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"a": {}, "b": {}, "c": {}}
	v := volume{Volume: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}}, engines: []*v1beta2.Engine{e}}
	require.Contains(t, snapshotLimit(f, v, node{name: "node-1"}),
		"kubectl drover snapshots prune vol-1 --keep 2 --dry-run -n storage --context prod")
	require.Contains(t, nodeNotReady(f, node{name: "node-1", object: &v1beta2.Node{}}), "kubectl -n storage get lhim -o wide --context prod")
}
