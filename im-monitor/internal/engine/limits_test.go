package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheLimitsOfTheSpecAreSetAtARunningEngine(t *testing.T) {
	all := []engine.Call{{Op: engine.OpMaxCount, Limit: 20}, {Op: engine.OpMaxSize, Limit: gib}, {Op: engine.OpUnmapMark, On: true},
		{Op: engine.OpRebuildLimit, Limit: 3}}
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   []engine.Call
	}{
		{"limits that differ are set", func(*engine.World) {}, all},
		{"v2 has the number of snapshots only", func(w *engine.World) { w.Engine.Spec.DataEngine = v1beta2.DataEngineV2 }, all[:1]},
		{"an engine that does not know the limit of rebuilds", func(w *engine.World) { w.Seen.Volume.RebuildLimit = 0 }, all[:3]},
		{"an engine that is too old to report its limits", func(w *engine.World) { w.Seen.Volume.SnapshotMaxCount = 0 }, nil},
		{"it was tried just now", func(w *engine.World) { w.Waits = map[engine.Key]time.Time{{Op: engine.OpMaxCount}: now.Add(1)} },
			all[1:]},
		{"during a rebuild as well", func(w *engine.World) { *w = lists(*w, "b", wo); w.Engine.Spec.ReplicaAddressMap["b"] = at("b") },
			all},
		{"all limits match", func(w *engine.World) {
			w.Seen.Volume.SnapshotMaxCount, w.Seen.Volume.SnapshotMaxSize, w.Seen.Volume.UnmapMark, w.Seen.Volume.RebuildLimit = 20, gib,
				true, 3
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			s := &w.Engine.Spec
			s.SnapshotMaxCount, s.SnapshotMaxSize, s.UnmapMarkSnapChainRemovedEnabled, s.RebuildConcurrentSyncLimit = 20, gib, true, 3
			w.Seen.Volume = &engine.Volume{Size: gib, SnapshotMaxCount: 250, RebuildLimit: 1}
			c.change(&w)
			v := engine.Decide(w)
			require.Equal(t, c.want, v.Calls)
			require.Equal(t, w.Seen.Volume.SnapshotMaxCount, v.Status.SnapshotMaxCount)
			require.Equal(t, w.Seen.Volume.SnapshotMaxSize, v.Status.SnapshotMaxSize)
			require.Equal(t, w.Seen.Volume.UnmapMark, v.Status.UnmapMarkSnapChainRemovedEnabled)
		})
	}
}

func TestAnEngineIsPolledForItsLimitsWhenTheyDiffer(t *testing.T) {
	e := world("a").Engine
	e.Status.ReplicaModeMap = map[string]string{"a": rw}
	require.Equal(t, engine.Questions{}, engine.Ask(e, false, false, false))
	e.Spec.SnapshotMaxCount = 20
	require.Equal(t, engine.Questions{Volume: true}, engine.Ask(e, false, false, false))
	e.Status.SnapshotMaxCount, e.Spec.RebuildConcurrentSyncLimit = 20, 2
	require.Equal(t, engine.Questions{RebuildLimit: true}, engine.Ask(e, false, false, false))
}
