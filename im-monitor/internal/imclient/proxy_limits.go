package imclient

import (
	"context"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// SetSnapshotMaxCount limits how many snapshots the running engine takes. It refuses a limit below those that it has.
func (p *Proxy) SetSnapshotMaxCount(ctx context.Context, t Target, limit int) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.VolumeSnapshotMaxCountSet(ctx, &imrpc.EngineVolumeSnapshotMaxCountSetRequest{
		ProxyEngineRequest: t.request(), Count: &ptypes.VolumeSnapshotMaxCountSetRequest{Count: int32(limit)},
	})
	return callError(ctx, "VolumeSnapshotMaxCountSet", p.address, err)
}

// SetSnapshotMaxSize limits how many bytes snapshots and head have together; 0 is no limit. v2 has none.
func (p *Proxy) SetSnapshotMaxSize(ctx context.Context, t Target, limit int64) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.VolumeSnapshotMaxSizeSet(ctx, &imrpc.EngineVolumeSnapshotMaxSizeSetRequest{
		ProxyEngineRequest: t.request(), Size: &ptypes.VolumeSnapshotMaxSizeSetRequest{Size: limit},
	})
	return callError(ctx, "VolumeSnapshotMaxSizeSet", p.address, err)
}

// SetUnmapMark lets trimming mark snapshots as removed, or not. v2 has no such thing.
func (p *Proxy) SetUnmapMark(ctx context.Context, t Target, on bool) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.VolumeUnmapMarkSnapChainRemovedSet(ctx, &imrpc.EngineVolumeUnmapMarkSnapChainRemovedSetRequest{
		ProxyEngineRequest: t.request(), UnmapMarkSnap: &ptypes.VolumeUnmapMarkSnapChainRemovedSetRequest{Enabled: on},
	})
	return callError(ctx, "VolumeUnmapMarkSnapChainRemovedSet", p.address, err)
}

// SetRebuildLimit limits how many files a v1 rebuild copies at once.
func (p *Proxy) SetRebuildLimit(ctx context.Context, t Target, limit int) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.ReplicaRebuildConcurrentSyncLimitSet(ctx, &imrpc.EngineReplicaRebuildConcurrentSyncLimitSetRequest{
		ProxyEngineRequest: t.request(), Limit: int32(limit),
	})
	return callError(ctx, "ReplicaRebuildConcurrentSyncLimitSet", p.address, err)
}

// RebuildLimit is how many files a v1 rebuild copies at once. Engines with a CLI below 11 do not know.
func (p *Proxy) RebuildLimit(ctx context.Context, t Target) (int, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.ReplicaRebuildConcurrentSyncLimitGet(ctx, t.request())
	if err != nil {
		return 0, callError(ctx, "ReplicaRebuildConcurrentSyncLimitGet", p.address, err)
	}
	return int(answer.GetLimit()), nil
}
