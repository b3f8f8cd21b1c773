package enginepoll_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// S3, T5: an engine that runs has the limits that it was started with until somebody sets others.
func TestTheLimitsOfTheSpecAreSetOnARunningEngineOnce(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.limits = limitWork{count: 250, rebuilds: 1} })
	w.start()
	w.spec(map[string]any{"snapshotMaxCount": 20, "snapshotMaxSize": "1073741824", "unmapMarkSnapChainRemovedEnabled": true,
		"rebuildConcurrentSyncLimit": 3})
	w.until("the status never had them", func(e *v1beta2.Engine) bool {
		s := e.Status
		return s.SnapshotMaxCount == 20 && s.SnapshotMaxSize == gib && s.UnmapMarkSnapChainRemovedEnabled &&
			s.RebuildConcurrentSyncLimit == 3
	})
	w.server.do(func() { require.Equal(t, limitWork{count: 20, size: gib, unmap: true, rebuilds: 3}, w.server.limits) })
	questions := func() int { return len(w.server.called("VolumeGet", "ReplicaRebuildConcurrentSyncLimitGet")) }
	w.polls(1) // one may have begun before the status had them
	asked := questions()
	w.polls(3)
	require.Equal(t, asked, questions(), "a quiet engine is not asked for its limits")
	require.Len(t, w.server.called("VolumeSnapshotMaxCountSet", "VolumeSnapshotMaxSizeSet", "VolumeUnmapMarkSnapChainRemovedSet",
		"ReplicaRebuildConcurrentSyncLimitSet"), 4)
}
