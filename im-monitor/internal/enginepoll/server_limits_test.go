package enginepoll_test

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// limitWork is what the scripted engine keeps of its limits. A count of 0 is that of a server that is too old to report one.
type limitWork struct {
	count, rebuilds int32
	size            int64
	unmap           bool
	// silent lets an expansion do nothing after its OK.
	silent bool
}

// full reports whether no further snapshot is taken; the lock is held.
func (s *engineServer) full() bool {
	n := int32(0)
	for name, d := range s.snapshots {
		if name != head && !d.GetRemoved() {
			n++
		}
	}
	return s.limits.count > 0 && n >= s.limits.count
}

func (s *engineServer) set(change func(*limitWork)) (*emptypb.Empty, error) {
	s.do(func() { change(&s.limits) })
	return &emptypb.Empty{}, nil
}

func (s *engineServer) VolumeSnapshotMaxCountSet(
	_ context.Context, r *imrpc.EngineVolumeSnapshotMaxCountSetRequest,
) (*emptypb.Empty, error) {
	return s.set(func(l *limitWork) { l.count = r.GetCount().GetCount() })
}

func (s *engineServer) VolumeSnapshotMaxSizeSet(_ context.Context, r *imrpc.EngineVolumeSnapshotMaxSizeSetRequest) (*emptypb.Empty, error) {
	return s.set(func(l *limitWork) { l.size = r.GetSize().GetSize() })
}

func (s *engineServer) VolumeUnmapMarkSnapChainRemovedSet(
	_ context.Context, r *imrpc.EngineVolumeUnmapMarkSnapChainRemovedSetRequest,
) (*emptypb.Empty, error) {
	return s.set(func(l *limitWork) { l.unmap = r.GetUnmapMarkSnap().GetEnabled() })
}

func (s *engineServer) ReplicaRebuildConcurrentSyncLimitSet(
	_ context.Context, r *imrpc.EngineReplicaRebuildConcurrentSyncLimitSetRequest,
) (*emptypb.Empty, error) {
	return s.set(func(l *limitWork) { l.rebuilds = r.GetLimit() })
}

func (s *engineServer) ReplicaRebuildConcurrentSyncLimitGet(
	context.Context, *imrpc.ProxyEngineRequest,
) (*imrpc.EngineReplicaRebuildConcurrentSyncLimitGetResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &imrpc.EngineReplicaRebuildConcurrentSyncLimitGetResponse{Limit: s.limits.rebuilds}, nil
}
