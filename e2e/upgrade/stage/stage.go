// Package stage is where tests tell whole upgrades: all five controllers as processes of their own, one World for each test
// binary, a workload that never stops on each volume, and a guard that watches from the first step to the last.
package stage

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/upgrade/guard"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Patience is how long a story waits for one thing that must happen.
const Patience = 120 * time.Second

// here is the one World of this test binary.
var here *world.World

// Main starts the World of a test binary, runs its tests and ends it.
func Main(m *testing.M) {
	options := world.Options{Nodes: scenarios.Nodes, Attach: true, Snapshots: true, Upgrades: true, Lease: 8 * time.Second}
	harness.Main(m, options, func(_ context.Context, w *world.World) error { here = w; return nil })
}

// Story is the World and the test that is told in it.
type Story struct {
	*world.World
	T   *testing.T
	Ctx context.Context
	// Guard watches from the first volume on.
	Guard *guard.Guard

	volumes []string
}

// Begin gives a test the World, which is empty: a story takes away what it made, or is swept away when it failed.
func Begin(t *testing.T) *Story {
	t.Helper()
	t.Cleanup(func() { // after what Open does at the end
		if t.Failed() {
			if err := here.Sweep(context.Background()); err != nil {
				t.Logf("sweeping: %v", err)
			}
		}
	})
	return &Story{World: here, T: t, Ctx: harness.Open(t, here, 8*time.Minute)}
}

// Image is one that no other story of this binary uses.
func Image(name string) string { return "longhornio/longhorn-instance-manager:" + name }

// Attached orders a volume and attaches it. change may be nil.
func (s *Story) Attached(name, node string, replicas int, change func(*v1beta2.VolumeSpec)) {
	s.T.Helper()
	require.NoError(s.T, s.Order(s.Ctx, name, v1beta2.DataEngineV2, replicas, change))
	require.NoError(s.T, s.Attach(s.Ctx, name, node, Patience))
	require.NoError(s.T, s.WaitRobust(s.Ctx, name, v1beta2.VolumeRobustnessHealthy, Patience))
}

// Volume is a volume of three replicas, attached to a node and written to without end.
func (s *Story) Volume(name, node string) {
	s.T.Helper()
	s.Attached(name, node, 3, nil)
	s.Written(name)
}

// Written lets a workload write to the volume until End.
func (s *Story) Written(name string) {
	s.T.Helper()
	require.NoError(s.T, s.WriteOn(s.Ctx, name, 5*time.Millisecond))
	s.volumes = append(s.volumes, name)
}

// Guarded begins to watch over the volumes that are written to.
func (s *Story) Guarded() {
	s.T.Helper()
	g, err := guard.Start(s.Ctx, s.World, s.volumes...)
	require.NoError(s.T, err)
	s.Guard = g
}

// Done ends the watch, then holds each workload against what was promised, then takes the volumes away.
func (s *Story) Done() {
	s.T.Helper()
	for _, name := range s.volumes {
		require.NoError(s.T, s.WaitRobust(s.Ctx, name, v1beta2.VolumeRobustnessHealthy, Patience))
	}
	looks, versions := s.Guard.Seen()
	require.NoError(s.T, s.Guard.Stop())
	s.T.Logf("the guard looked %d times at the data plane and saw %d versions of objects", looks, versions)
	s.Open()
	for _, name := range s.volumes {
		seen, err := s.StopWriting(s.Ctx, name)
		require.NoError(s.T, err)
		require.Empty(s.T, seen.Harm())
		s.T.Logf("%s: %d writes, the longest pause %s", name, seen.Writes, seen.MaxPause)
		require.NoError(s.T, s.Verify(s.Ctx, name))
	}
	require.NoError(s.T, s.NoHarm(s.Ctx))
	s.Gone(s.volumes...)
}

// Let ends the workload of a volume that its user is about to detach or delete, and the watch over it.
func (s *Story) Let(name string) {
	s.T.Helper()
	seen, err := s.StopWriting(s.Ctx, name)
	require.NoError(s.T, err)
	require.Empty(s.T, seen.Harm())
	s.Guard.Release(name)
	s.volumes = slices.DeleteFunc(s.volumes, func(other string) bool { return other == name })
}

// Gone detaches volumes and deletes them, and waits for the end of all.
func (s *Story) Gone(volumes ...string) {
	s.T.Helper()
	for _, name := range volumes {
		require.NoError(s.T, s.LetGo(s.Ctx, name, Patience))
		require.NoError(s.T, s.DeleteVolume(s.Ctx, name))
	}
	for _, name := range volumes {
		require.NoError(s.T, s.WaitVolumeGone(s.Ctx, name, Patience))
	}
}

// Ordered makes an upgrade of nodes to the image; without nodes of all.
func (s *Story) Ordered(name, image string, nodes ...string) {
	s.T.Helper()
	s.OrderedSo(name, image, func(spec *v1beta2.DataEngineUpgradeManagerSpec) { spec.Nodes = nodes })
}

// OrderedSo makes an upgrade with other wishes.
func (s *Story) OrderedSo(name, image string, change func(*v1beta2.DataEngineUpgradeManagerSpec)) {
	s.T.Helper()
	require.NoError(s.T, s.Upgrade(s.Ctx, name, image, change))
}

// Reaches waits until the upgrade is in a state.
func (s *Story) Reaches(name, state string) *v1beta2.DataEngineUpgradeManager {
	s.T.Helper()
	m, err := s.WaitUpgrade(s.Ctx, name, 3*Patience, state)
	require.NoError(s.T, err)
	return m
}

// Node waits until the upgrade of a node is in one of the states.
func (s *Story) Node(name, node string, states ...string) {
	s.T.Helper()
	require.NoError(s.T, s.WaitNodeUpgradeState(s.Ctx, name, node, Patience, states...))
}

// Open: UPG-4, every node takes volumes.
func (s *Story) Open() {
	s.T.Helper()
	for _, node := range scenarios.Nodes {
		n := &v1beta2.Node{}
		require.NoError(s.T, s.Get(s.Ctx, node, n))
		require.False(s.T, n.Spec.UpgradeRequested, "UPG-4: %s", node)
	}
}
