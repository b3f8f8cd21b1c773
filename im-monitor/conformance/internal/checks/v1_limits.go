package checks

import (
	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// v1Limits are the checks of the limits on snapshots.
func v1Limits() []suite.Check {
	return []suite.Check{
		v1("limit-create", "a snapshot beyond the maximal count is refused", onLimits, v1LimitCreate),
		found(v1("limit-counts-system", "system snapshots count against the maximal count", onLimits, v1LimitCountsSystem), "S1"),
		found(v1("limit-removed-free", "a removed snapshot counts no more against the maximal count, though it is not purged yet", onLimits,
			v1LimitRemoved), "S1"),
		v1("limit-set", "VolumeSnapshotMaxCountSet and MaxSizeSet of a running engine are reported by VolumeGet and in force at once", onLimits,
			v1LimitSet),
		v1("unmap-set", "VolumeUnmapMarkSnapChainRemovedSet of a running engine is reported by VolumeGet", onLimits, v1UnmapSet),
		v1("rebuild-limit-set", "ReplicaRebuildConcurrentSyncLimitSet is reported by its Get", onLimits, v1RebuildLimitSet),
	}
}

func (k v1kit) maxCount(e process, count int32) error {
	_, err := k.Manager.Proxy.VolumeSnapshotMaxCountSet(k.Context(),
		&imrpc.EngineVolumeSnapshotMaxCountSetRequest{ProxyEngineRequest: k.ref(e),
			Count: &ptypes.VolumeSnapshotMaxCountSetRequest{Count: count}})
	return err
}

func (k v1kit) maxSize(e process, size int64) error {
	_, err := k.Manager.Proxy.VolumeSnapshotMaxSizeSet(k.Context(), &imrpc.EngineVolumeSnapshotMaxSizeSetRequest{ProxyEngineRequest: k.ref(e),
		Size: &ptypes.VolumeSnapshotMaxSizeSetRequest{Size: size}})
	return err
}

func v1LimitCreate(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 2})
	k.taken(e, "first", "second")
	k.Fails(k.snapshot(e, "third"), nil, "taking a third snapshot at a maximal count of 2")
	k.Require(k.snapshots(e)["third"] == nil, "the third is there all the same")
}

func v1LimitCountsSystem(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 2})
	k.taken(e, "first")
	k.rebuilt(e, 2)
	k.Fails(k.snapshot(e, "third"), nil, "taking a snapshot beside one of a user and one of the system at a maximal count of 2")
}

func v1LimitRemoved(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 2})
	k.taken(e, "first", "second")
	k.OK(k.removeSnapshot(e, "second"), "removing the head's parent")
	k.taken(e, "third")
}

func v1LimitSet(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 1})
	k.taken(e, "first")
	k.OK(k.maxCount(e, 2), "raising the maximal count")
	k.OK(k.maxSize(e, k.VolumeSize*2), "setting the maximal size")
	k.Require(k.report(e).GetSnapshotMaxCount() == 2 && k.report(e).GetSnapshotMaxSize() == k.VolumeSize*2, "VolumeGet reports %d and %d",
		k.report(e).GetSnapshotMaxCount(), k.report(e).GetSnapshotMaxSize())
	k.taken(e, "second")
}

func v1UnmapSet(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	for _, want := range []bool{true, false} {
		_, err := k.Manager.Proxy.VolumeUnmapMarkSnapChainRemovedSet(k.Context(), &imrpc.EngineVolumeUnmapMarkSnapChainRemovedSetRequest{
			ProxyEngineRequest: k.ref(e), UnmapMarkSnap: &ptypes.VolumeUnmapMarkSnapChainRemovedSetRequest{Enabled: want}})
		k.OK(err, "setting it to %t", want)
		k.Require(k.report(e).GetUnmapMarkSnapChainRemoved() == want, "VolumeGet reports %t", !want)
	}
}

func v1RebuildLimitSet(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	_, err := k.Manager.Proxy.ReplicaRebuildConcurrentSyncLimitSet(k.Context(), &imrpc.EngineReplicaRebuildConcurrentSyncLimitSetRequest{
		ProxyEngineRequest: k.ref(e), Limit: 4})
	k.OK(err, "setting the limit to 4")
	out, err := k.Manager.Proxy.ReplicaRebuildConcurrentSyncLimitGet(k.Context(), k.ref(e))
	k.OK(err, "reading the limit")
	k.Require(out.GetLimit() == 4, "the limit is %d", out.GetLimit())
}
