package dataplane

import (
	"fmt"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// maxDisks is how many disks a v1 replica may have: removed snapshots that are not merged yet count, and the head, too.
const maxDisks = 250

// use is what the engine holds against its limits.
func (r *engineRun) use() chain.Use {
	members := r.with(ModeRW)
	if len(members) == 0 {
		return chain.Use{}
	}
	return members[0].data.Use()
}

// atLimit reports why no further snapshot may be taken, be it a user's, that of an addition, or by the check of an expansion. v2 counts
// only.
func (r *engineRun) atLimit() string {
	u, s := r.use(), r.settings
	v1 := r.engine.server.engine == V1
	switch {
	case int32(u.Count) >= s.SnapshotMaxCount:
		return fmt.Sprintf("too many snapshots created: there are %d, the limit is %d", u.Count, s.SnapshotMaxCount)
	case v1 && u.Disks >= maxDisks:
		return fmt.Sprintf("too many snapshots created: there are %d disks, the limit is %d", u.Disks, maxDisks)
	case v1 && s.SnapshotMaxSize > 0 && u.Head > s.SnapshotMaxSize-u.Sizes:
		return fmt.Sprintf("the snapshots would be too large: the head has %d bytes, the snapshots %d, the limit is %d", u.Head, u.Sizes,
			s.SnapshotMaxSize)
	}
	return ""
}

// SetSnapshotMaxCount limits the number of snapshots, never below those that there are.
func (s *Server) SetSnapshotMaxCount(ref Ref, limit int32) error {
	return s.onEngine(ref, false, "VolumeSnapshotMaxCountSet", func(r *engineRun) (string, error) {
		if is := r.use().Count; int(limit) < is {
			return "", refuse(Unknown, "cannot set the snapshot max count to %d: there are %d snapshots", limit, is)
		}
		r.settings.SnapshotMaxCount = limit
		return "", nil
	})
}

// SetSnapshotMaxSize limits what snapshots and head have together, never below what they have; 0 is no limit. v2 has none.
func (s *Server) SetSnapshotMaxSize(ref Ref, limit int64) error {
	return s.setOfV1(ref, "VolumeSnapshotMaxSizeSet", func(r *engineRun) error {
		if u := r.use(); limit > 0 && limit < u.Sizes+u.Head {
			return refuse(Unknown, "cannot set the snapshot max size to %d: %d bytes are used", limit, u.Sizes+u.Head)
		}
		r.settings.SnapshotMaxSize = limit
		return nil
	})
}

// SetUnmapMark reports whether trimming marks snapshots as removed. v2 has no such thing.
func (s *Server) SetUnmapMark(ref Ref, on bool) error {
	return s.setOfV1(ref, "VolumeUnmapMarkSnapChainRemovedSet", func(r *engineRun) error {
		r.settings.UnmapMark = on
		return nil
	})
}

// SetRebuildLimit limits how many files a rebuild copies at once. v2 has no such limit.
func (s *Server) SetRebuildLimit(ref Ref, limit int32) error {
	return s.setOfV1(ref, "ReplicaRebuildConcurrentSyncLimitSet", func(r *engineRun) error {
		if limit < 1 {
			return refuse(InvalidArgument, "the limit %d is less than 1", limit)
		}
		r.settings.RebuildLimit = limit
		return nil
	})
}

func (s *Server) setOfV1(ref Ref, method string, set func(*engineRun) error) error {
	return s.onEngine(ref, false, method, func(r *engineRun) (string, error) {
		if r.engine.server.engine != V1 {
			return "", refuse(Unimplemented, "%s is not implemented for data engine v2", method)
		}
		return "", set(r)
	})
}
