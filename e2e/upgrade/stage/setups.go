package stage

import (
	"slices"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/shared/api/v1beta2"
)

// OnlyOn lets new replicas have no place but these nodes, while something happens.
func (s *Story) OnlyOn(nodes []string, happens func()) {
	s.T.Helper()
	for _, node := range scenarios.Nodes {
		allowed := slices.Contains(nodes, node)
		require.NoError(s.T, s.Patch(s.Ctx, s.NodeObject(node), map[string]any{"spec": map[string]any{"allowScheduling": allowed}}))
		defer func() {
			require.NoError(s.T, s.Patch(s.Ctx, s.NodeObject(node), map[string]any{"spec": map[string]any{"allowScheduling": true}}))
		}()
	}
	happens()
}

// Untouched is everything that a refused upgrade must leave as it was: which nodes take volumes, what is wanted of volumes,
// engines, frontends and replicas, which snapshots there are, and that no node's upgrade was made.
func (s *Story) Untouched(volumes ...string) []any {
	s.T.Helper()
	var nodes v1beta2.NodeList
	var list v1beta2.VolumeList
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	var replicas v1beta2.ReplicaList
	var snapshots v1beta2.SnapshotList
	var upgrades v1beta2.NodeDataEngineUpgradeList
	for _, into := range []client.ObjectList{&nodes, &list, &engines, &frontends, &replicas, &snapshots, &upgrades} {
		require.NoError(s.T, s.List(s.Ctx, into))
	}
	var out []any
	for _, n := range nodes.Items {
		out = append(out, n.Name, n.Spec)
	}
	for _, v := range list.Items {
		if slices.Contains(volumes, v.Name) {
			out = append(out, v.Name, v.Spec)
		}
	}
	for _, e := range engines.Items {
		if slices.Contains(volumes, e.Spec.VolumeName) {
			e.Spec.LookRequestedAt = ""
			out = append(out, e.Name, e.Spec)
		}
	}
	for _, f := range frontends.Items {
		if slices.Contains(volumes, f.Spec.VolumeName) {
			out = append(out, f.Name, f.Spec)
		}
	}
	for _, r := range replicas.Items {
		if slices.Contains(volumes, r.Spec.VolumeName) {
			out = append(out, r.Name, r.Spec)
		}
	}
	for _, x := range snapshots.Items {
		if slices.Contains(volumes, x.Spec.Volume) && x.Spec.CreateSnapshot {
			out = append(out, x.Name)
		}
	}
	for _, u := range upgrades.Items {
		if u.DeletionTimestamp == nil && u.Status.State != v1beta2.UpgradeStateCompleted && u.Status.State != v1beta2.UpgradeStateError {
			out = append(out, u.Name)
		}
	}
	return out
}
