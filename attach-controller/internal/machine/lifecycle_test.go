package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

var states = []string{"", v1beta2.VolumeStateCreating, v1beta2.VolumeStateAttached, v1beta2.VolumeStateAttaching,
	v1beta2.VolumeStateDetaching, v1beta2.VolumeStateDetached}

// A6, ATT-1: every combination of spec, status and running instances converges: with a node wanted the volume ends attached there, without
// one detached, and two engines never run unless the volume migrates.
func TestEveryCombinationConverges(t *testing.T) {
	count := 0
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		for _, wanted := range []string{"", "x", "y"} {
			for _, current := range []string{"", "x", "y"} {
				for _, state := range states {
					for _, runs := range []string{"", "x", "y"} {
						for _, down := range []string{"", "x", "y"} {
							for _, healthy := range []bool{false, true} {
								count++
								s := combination(engine, wanted, current, state, runs, down, healthy)
								before := s.String()
								require.True(t, s.settle(), "does not settle (node %q is down); it began as\n%s and is\n%s", down, before,
									s)
								want := wanted
								if wanted == down {
									want = "" // no volume attaches to a down node; tickets handle the rest
								}
								if want == "" && wanted == "" {
									require.Equal(t, v1beta2.VolumeStateDetached, s.Volume.Status.State, "began as\n%s and is\n%s", before,
										s)
									require.Empty(t, s.Volume.Status.CurrentNodeID)
									continue
								}
								if wanted == down {
									continue
								}
								require.Equal(t, wanted, s.Volume.Status.CurrentNodeID, "(node %q is down) began as\n%s and is\n%s", down,
									before, s)
								require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d combinations", count)
	require.Equal(t, 1944, count)
}

// combination is a volume whose engine and replicas run at the node in runs, whatever status shows.
func combination(engine, wanted, current, state, runs, down string, healthy bool) *fixture {
	s := newFixture(engine, "y", "z")
	s.step() // creates the engine, and for v2 the frontend
	s.step()
	v := s.Volume
	v.Spec.NodeID, v.Status.CurrentNodeID, v.Status.State = wanted, current, state
	for _, r := range s.Replicas {
		if healthy {
			r.Spec.HealthyAt, r.Spec.LastHealthyAt = "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
		}
		if runs != "" {
			r.Spec.DesireState = v1beta2.InstanceStateRunning
		}
	}
	if runs != "" {
		s.imMonitor()
		e := s.Engines[0]
		e.Spec.NodeID, e.Spec.DesireState = runs, v1beta2.InstanceStateRunning
		e.Spec.ReplicaAddressMap = map[string]string{"vol-r-0": "ip-y:10000", "vol-r-1": "ip-z:10000"}
		s.imMonitor()
		for _, f := range s.Frontends {
			f.Spec.NodeID, f.Spec.DesireState, f.Spec.EngineName = runs, v1beta2.InstanceStateRunning, e.Name
			f.Spec.TargetIP, f.Spec.TargetPort = e.Status.StorageIP, e.Status.Port
		}
		s.imMonitor()
	}
	if down != "" {
		s.Nodes[down] = Node{Known: true, Down: true}
	}
	return s
}

// A restored Volume has no status, and its instances may run: it is not detached before they have stopped, wherever it is wanted.
func TestAVolumeInStateCreatingClosesFirst(t *testing.T) {
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		for _, wanted := range []string{"", "x", "y"} {
			s := combination(engine, wanted, "", v1beta2.VolumeStateCreating, "x", "", true)
			for s.Engines[0].Status.CurrentState == v1beta2.InstanceStateRunning {
				require.Equal(t, v1beta2.VolumeStateCreating, s.Volume.Status.State, "wanted on %q: its engine runs", wanted)
				require.True(t, s.step(), "wanted on %q: nothing changes any more", wanted)
				s.imMonitor()
			}
			require.True(t, s.settle())
		}
	}
}

// ATT-1: a frontend that runs elsewhere, or ends, may still write through the engine.
func TestAVolumeDoesNotOpenBesideAFrontendThatRunsElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		node, desire, state string
		opens               bool
	}{
		"it runs on another node":  {"y", v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning, false},
		"it may run there":         {"y", v1beta2.InstanceStateStopped, v1beta2.InstanceStateUnknown, false},
		"it stops on this node":    {"x", v1beta2.InstanceStateStopped, v1beta2.InstanceStateRunning, false},
		"it runs on this node":     {"x", v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning, true},
		"it has stopped elsewhere": {"y", v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV2, "x", "y")
			require.True(t, s.settle())
			s.Volume.Spec.NodeID, s.Volume.Status.State = "x", v1beta2.VolumeStateAttaching
			f := s.Frontends[0]
			f.Spec.NodeID, f.Spec.DesireState, f.Status.CurrentState = c.node, c.desire, c.state
			_, detaches := Decide(s.World).Status["state"]
			require.Equal(t, c.opens, !detaches)
			require.True(t, s.settle())
			require.Equal(t, "x", s.Volume.Status.CurrentNodeID)
		})
	}
}
