package checks

import (
	"fmt"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// v1Limits are the checks of the limits on snapshots.
func v1Limits() []suite.Check {
	return []suite.Check{
		v1("limit-create", "a snapshot beyond the maximal count is refused", onLimits, v1LimitCreate),
		found(v1("limit-replica-add", "ReplicaAdd is refused at the maximal count, since it takes a system snapshot", onLimits, v1LimitAdd),
			"S1"),
		found(v1("limit-counts-system", "system snapshots count against the maximal count", onLimits, v1LimitCountsSystem), "S1"),
		found(v1("limit-removed-free", "a removed snapshot counts no more against the maximal count, though it is not purged yet", onLimits,
			v1LimitRemoved), "S1"),
		found(v1("limit-size", "a snapshot is refused when the head is larger than what the maximal size leaves", onLimits, v1LimitSize,
			suite.Content), "S1"),
		found(v1("limit-total", "with 250 disks, the head and removed ones included, a snapshot is refused whatever the maximal count is",
			onLimits, v1LimitTotal), "S1"),
		v1("limit-set", "VolumeSnapshotMaxCountSet and MaxSizeSet of a running engine are reported by VolumeGet and in force at once",
			onLimits,
			v1LimitSet),
		assumed(found(v1("limit-set-below-use", "VolumeSnapshotMaxCountSet and MaxSizeSet below the present use are refused", onLimits,
			v1LimitBelowUse, suite.Content), "S1"),
			"the present use counts against both limits, and a refusal leaves the limit as it was"),
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
	_, err := k.Manager.Proxy.VolumeSnapshotMaxSizeSet(k.Context(),
		&imrpc.EngineVolumeSnapshotMaxSizeSetRequest{ProxyEngineRequest: k.ref(e),
			Size: &ptypes.VolumeSnapshotMaxSizeSetRequest{Size: size}})
	return err
}

func v1LimitCreate(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 2})
	k.taken(e, "first", "second")
	k.Fails(k.snapshot(e, "third"), nil, "taking a third snapshot at a maximal count of 2")
	k.Require(k.snapshots(e)["third"] == nil, "the third is there all the same")
}

func v1LimitAdd(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 2})
	k.taken(e, "first", "second")
	r := k.replica(k.Manager, 2, replicaOptions{})
	k.Fails(k.add(k.Context(), e, r), nil, "adding a replica at the maximal count")
	k.Require(k.modes(e)["tcp://"+r.address] == "" || k.modes(e)["tcp://"+r.address] == "ERR", "the replica is in mode %q",
		k.modes(e)["tcp://"+r.address])
	k.Require(k.maxCount(e, 3) == nil, "the maximal count could not be raised")
	k.Require(k.remove(e, r) == nil, "the replica could not be removed")
	k.OK(k.add(k.Context(), e, r), "adding the replica with room for one more snapshot")
	k.inMode(e, r, "RW")
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

func v1LimitSize(k v1kit) {
	e, _ := k.served(1, engineOptions{maxSize: 2 * blockSize})
	for block := range int64(4) {
		k.write(e, block*1024, fmt.Sprintf("block %d", block))
	}
	k.Fails(k.snapshot(e, "first"), nil, "taking a snapshot of a head of 4 blocks with a maximal size of 2 blocks")
}

func v1LimitTotal(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 250})
	for n := range 249 {
		k.taken(e, fmt.Sprintf("s-%03d", n))
	}
	k.OK(k.removeSnapshot(e, "s-100", "s-101"), "removing two snapshots")
	k.Fails(k.snapshot(e, "one-more"), nil, "taking a snapshot beside 249 disks and the head")
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

func v1LimitBelowUse(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 5})
	k.write(e, 1, "one")
	k.write(e, 1024, "two")
	k.taken(e, "first", "second", "third")
	k.Fails(k.maxCount(e, 2), nil, "setting the maximal count to 2 with 3 snapshots")
	k.Require(k.report(e).GetSnapshotMaxCount() == 5, "VolumeGet reports a maximal count of %d", k.report(e).GetSnapshotMaxCount())
	k.Fails(k.maxSize(e, 1), nil, "setting the maximal size to 1 byte")
	k.Require(k.report(e).GetSnapshotMaxSize() == 0, "VolumeGet reports a maximal size of %d", k.report(e).GetSnapshotMaxSize())
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
