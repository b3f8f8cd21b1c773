package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const twice = int64(2) << 30

// A23: the column SIZE has a unit, and follows the spec.
func TestAVolumeReportsItsSizeWithAUnit(t *testing.T) {
	for size, want := range map[int64]string{
		20 << 30: "20Gi", 3 << 29: "1536Mi", 1 << 40: "1Ti", 20<<30 + 1: "20.0Gi", 999999999999999999: "888.2Pi",
	} {
		s := newFixture(v1beta2.DataEngineV1, "x")
		s.Volume.Spec.Size = size
		require.True(t, s.settle())
		require.Equal(t, want, s.Volume.Status.Capacity)
	}
}

func TestAVolumeGrowsStepByStep(t *testing.T) {
	for name, one := range map[string]struct {
		is                        func(*fixture)
		engine, frontend, replica bool
		required                  bool
	}{
		"asked for":                          {func(*fixture) {}, true, true, false, true},
		"the engine has the new size":        {func(s *fixture) { s.Engines[0].Spec.VolumeSize = twice }, false, true, false, true},
		"both have the new size":             {reported, false, false, false, true},
		"whether there is room is not known": {func(s *fixture) { s.Volume.Status.AcceptedSize = 0 }, false, false, false, true},
		"there is no room":                   {func(s *fixture) { s.Volume.Status.AcceptedSize = twice / 2 }, false, false, false, false},
		"it grows":                           {growing, false, false, false, false},
		"it has grown":                       {grown, false, false, true, false},
		"its engine is not seen": {func(s *fixture) { s.Engines[0].Status.CurrentState = v1beta2.InstanceStateUnknown }, false,
			false, false, true},
		"it migrates":                  {func(s *fixture) { s.Volume.Spec.MigrationNodeID = "y" }, false, false, false, true},
		"less is wanted than there is": {func(s *fixture) { s.Volume.Spec.Size = 1 << 20 }, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV2, "x", "y")
			s.Engines[0].Spec.LookRequestedAt = stamp(s.Now)
			s.Volume.Spec.Size, s.Volume.Status.AcceptedSize = twice, twice
			one.is(s)
			verdict := Decide(s.World)
			sized := func(w *Write) bool { return w != nil && (w.Spec["volumeSize"] == "2147483648") }
			require.Equal(t, one.engine, sized(findWrite(verdict, s.Engines[0])), "engine")
			require.Equal(t, one.frontend, sized(findWrite(verdict, s.Frontends[0])), "frontend")
			require.Equal(t, one.replica, sized(findWrite(verdict, s.Replicas[1])), "replica")
			required, said := verdict.Status["expansionRequired"]
			require.Equal(t, one.required, said && required == true)
		})
	}
}

// After an expansion that failed halfway the replicas may have the size of then: an engine that starts with a later one would leave them
// all out.
func TestAFurtherSizeWaitsForTheOneBefore(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	e := s.Engines[0]
	e.Spec.VolumeSize, e.Status.CurrentSize, e.Status.LastExpansionError = twice, 1<<30, "the engine has not grown"
	s.Volume.Spec.Size, s.Volume.Status.AcceptedSize = 2*twice, 2*twice
	verdict := Decide(s.World)
	if w := findWrite(verdict, e); w != nil {
		require.NotContains(t, w.Spec, "volumeSize")
	}
	c := conditions.Get(verdict.Conditions, v1beta2.VolumeExpanded)
	require.NotNil(t, c)
	require.Equal(t, v1beta2.ReasonExpansionFailed, c.Reason)
	e.Status.CurrentSize, e.Status.LastExpansionError = twice, ""
	require.Equal(t, "4294967296", findWrite(Decide(s.World), e).Spec["volumeSize"])
	s.Volume.Status.Conditions, e.Status.CurrentSize, e.Spec.VolumeSize = verdict.Conditions, 2*twice, 2*twice
	require.True(t, conditions.IsTrue(Decide(s.World).Conditions, v1beta2.VolumeExpanded))
}

func reported(s *fixture) { s.Engines[0].Spec.VolumeSize, s.Frontends[0].Spec.Size = twice, twice }

func growing(s *fixture) {
	reported(s)
	s.Engines[0].Status.CurrentSize, s.Engines[0].Status.IsExpanding = twice, true
}

func grown(s *fixture) {
	growing(s)
	s.Engines[0].Status.IsExpanding = false
}

func TestADetachedVolumeReportsThatItWaitsToGrow(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "x")
	require.True(t, s.settle())
	s.Volume.Spec.Size = twice
	verdict := Decide(s.World)
	require.Equal(t, true, verdict.Status["expansionRequired"])
	require.Empty(t, verdict.Writes)
}

// A frontend that is created before the engine has grown starts with the engine's size.
func TestAFrontendIsAsLargeAsItsEngine(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	s.Volume.Spec.MigrationNodeID = "y"
	s.Volume.Spec.Size = twice
	require.True(t, s.settle())
	require.Len(t, s.Frontends, 2)
	require.Equal(t, int64(1)<<30, s.Frontends[1].Spec.Size)
}

// Objects of an earlier version have no size: their engine would start with none.
func TestAnEngineAndAFrontendWithoutASizeGetOneBeforeTheyStart(t *testing.T) {
	for name, c := range map[string]struct {
		engine, frontend, volume int64
		sized, framed            any
	}{
		"neither has one": {0, 0, 1 << 30, "1073741824", "1073741824"}, "the engine has one": {1 << 20, 0, 1 << 30, nil, "1073741824"},
		"both have": {1 << 20, 1 << 20, 1 << 30, nil, nil}, "the volume has none": {0, 0, 0, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV2, "x")
			require.True(t, s.settle())
			s.Volume.Spec.NodeID, s.Volume.Spec.Size, s.Volume.Status.State = "x", c.volume, v1beta2.VolumeStateAttaching
			e, f := s.Engines[0], s.Frontends[0]
			e.Spec.VolumeSize, f.Spec.Size = c.engine, c.frontend
			v := Decide(s.World)
			require.Equal(t, c.sized, spec(v, e)["volumeSize"])
			require.Equal(t, c.framed, spec(v, f)["size"])
			require.Equal(t, c.framed, spec(v, f)["volumeSize"])
		})
	}
}
