package checks

import (
	"google.golang.org/grpc/codes"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// head is the name of the volume's head among its snapshots.
const head = "volume-head"

// v1Snapshots are the checks of snapshots and purges.
func v1Snapshots() []suite.Check {
	return []suite.Check{
		v1("snapshot-chain", "a snapshot is the parent of the head, with its labels, user_created and not removed", onSemantics,
			v1SnapshotChain),
		v1("snapshot-existing", "VolumeSnapshot with an existing name is Unknown with a text that contains already existing", onSemantics,
			v1SnapshotExisting),
		v1("snapshot-remove-unknown", "SnapshotRemove of an unknown name is OK", onSemantics, v1SnapshotRemoveUnknown),
		v1("snapshot-remove-marks", "SnapshotRemove marks a snapshot, and a purge takes it out", onLimits, v1SnapshotRemoveMarks),
		v1("snapshot-parent-of-head", "a removed snapshot whose child is the head stays with removed=true after a purge, until a newer "+
			"one exists", onSemantics, v1SnapshotParentOfHead),
		found(v1("purge-system-snapshots", "a purge also removes system snapshots that were not marked as removed", onLimits, v1PurgeSystem),
			"R7", "S1"),
		v1("snapshot-list-no-replica", "an engine without a replica in mode RW lists no snapshot, not even the head", onSemantics,
			v1SnapshotListNoReplica),
		v1("purge-status", "SnapshotPurgeStatus has an entry for each replica under tcp://ip:port", onSemantics, v1PurgeStatus),
		v1("revert", "SnapshotRevert needs the frontend shut down, and the content is then that of the snapshot", onSemantics, v1Revert,
			suite.Content),
		v1("snapshot-content", "a purge of a removed snapshot changes nothing of what is read", onLimits, v1SnapshotContent, suite.Content),
		found(v1("watch-no-snapshots", "InstanceWatch sends no notice of snapshot operations", onFacts, v1WatchNoSnapshots), "P7"),
	}
}

// snapshot takes one.
func (k v1kit) snapshot(e process, name string) error {
	_, err := k.Manager.Proxy.VolumeSnapshot(k.Context(), &imrpc.EngineVolumeSnapshotRequest{ProxyEngineRequest: k.ref(e),
		SnapshotVolume: &ptypes.VolumeSnapshotRequest{Name: name, Labels: map[string]string{"made-by": "conformance"}}})
	return err
}

// taken takes snapshots that must succeed.
func (k v1kit) taken(e process, names ...string) {
	for _, name := range names {
		k.OK(k.snapshot(e, name), "taking snapshot %s", name)
	}
}

func (k v1kit) snapshots(e process) map[string]*imrpc.EngineSnapshotDiskInfo {
	out, err := k.Manager.Proxy.SnapshotList(k.Context(), k.ref(e))
	k.OK(err, "listing the snapshots of %s", k.volume)
	return out.GetDisks()
}

func (k v1kit) removeSnapshot(e process, names ...string) error {
	_, err := k.Manager.Proxy.SnapshotRemove(k.Context(), &imrpc.EngineSnapshotRemoveRequest{ProxyEngineRequest: k.ref(e), Names: names})
	return err
}

func (k v1kit) purge(e process, skip bool) error {
	_, err := k.Manager.Proxy.SnapshotPurge(k.Context(), &imrpc.EngineSnapshotPurgeRequest{ProxyEngineRequest: k.ref(e),
		SkipIfInProgress: skip})
	return err
}

// purged purges and waits for its end.
func (k v1kit) purged(e process) {
	k.OK(k.purge(e, false), "purging")
	k.Eventually("the purge ends", func() (bool, string) {
		out, err := k.Manager.Proxy.SnapshotPurgeStatus(k.Context(), k.ref(e))
		k.OK(err, "reading the purge's status")
		for where, s := range out.GetStatus() {
			k.Require(s.GetError() == "", "the purge of %s failed: %s", where, s.GetError())
			if s.GetIsPurging() {
				return false, where + " is purging"
			}
		}
		return true, ""
	})
}

func v1SnapshotChain(k v1kit) {
	e, _ := k.served(2, engineOptions{})
	k.taken(e, "first", "second")
	all := k.snapshots(e)
	first, second := all["first"], all["second"]
	k.Require(len(all) == 3 && all[head] != nil, "the disks are %v", keys(all))
	k.Require(all[head].GetParent() == "second" && second.GetParent() == "first" && first.GetParent() == "",
		"the parents are %q, %q and %q",
		all[head].GetParent(), second.GetParent(), first.GetParent())
	k.Require(second.GetChildren()[head] && first.GetChildren()["second"], "the children are %v and %v", second.GetChildren(),
		first.GetChildren())
	k.Require(first.GetUserCreated() && !first.GetRemoved() && first.GetLabels()["made-by"] == "conformance", "the first is %v", first)
}

func v1SnapshotExisting(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.taken(e, "first")
	k.Refused(k.snapshot(e, "first"), codes.Unknown, []string{"already exist"}, "taking it again")
}

func v1SnapshotRemoveUnknown(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.OK(k.removeSnapshot(e, "unknown"), "removing an unknown snapshot")
}

func v1SnapshotRemoveMarks(k v1kit) {
	e, _ := k.served(2, engineOptions{})
	k.taken(e, "first", "second")
	k.OK(k.removeSnapshot(e, "first"), "removing the first")
	k.Require(k.snapshots(e)["first"].GetRemoved(), "the first is not marked as removed")
	k.purged(e)
	all := k.snapshots(e)
	k.Require(all["first"] == nil && all["second"] != nil, "after the purge there are %v", keys(all))
}

func v1SnapshotParentOfHead(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.taken(e, "first")
	k.OK(k.removeSnapshot(e, "first"), "removing the head's parent")
	k.purged(e)
	k.Require(k.snapshots(e)["first"].GetRemoved(), "after the purge it is %v", k.snapshots(e)["first"])
	k.taken(e, "second")
	k.purged(e)
	k.Require(k.snapshots(e)["first"] == nil, "with a newer snapshot the purge leaves %v", k.snapshots(e)["first"])
}

func v1PurgeSystem(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.taken(e, "mine")
	k.rebuilt(e, 2)
	k.taken(e, "newer")
	k.Require(len(systemSnapshots(k.snapshots(e))) == 1, "the rebuild left %d system snapshots, not 1",
		len(systemSnapshots(k.snapshots(e))))
	k.purged(e)
	all := k.snapshots(e)
	k.Require(len(systemSnapshots(all)) == 0 && all["mine"] != nil && all["newer"] != nil, "after the purge there are %v", keys(all))
}

// systemSnapshots are those that no user took.
func systemSnapshots(all map[string]*imrpc.EngineSnapshotDiskInfo) []string {
	var out []string
	for name, s := range all {
		if name != head && !s.GetUserCreated() {
			out = append(out, name)
		}
	}
	return out
}

func v1PurgeStatus(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	k.taken(e, "first", "second")
	k.OK(k.removeSnapshot(e, "first"), "removing the first")
	k.purged(e)
	status := k.purgeStatus(e)
	for _, r := range replicas {
		k.Require(status["tcp://"+r.address] != nil, "there is no entry for tcp://%s: %v", r.address, keys(status))
	}
}

func (k v1kit) purgeStatus(e process) map[string]*ptypes.SnapshotPurgeStatusResponse {
	out, err := k.Manager.Proxy.SnapshotPurgeStatus(k.Context(), k.ref(e))
	k.OK(err, "reading the purge's status")
	return out.GetStatus()
}

func v1SnapshotListNoReplica(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	k.taken(e, "first")
	_, err := k.Manager.Proxy.ReplicaModeUpdate(k.Context(), &imrpc.EngineReplicaModeUpdateRequest{ProxyEngineRequest: k.ref(e),
		ReplicaAddress: "tcp://" + replicas[0].address, Mode: ptypes.ReplicaMode_ERR})
	k.OK(err, "setting the only replica to mode ERR")
	k.inMode(e, replicas[0], "ERR")
	k.Require(len(k.snapshots(e)) == 0, "it lists %v", keys(k.snapshots(e)))
}

func v1Revert(k v1kit) {
	e, _ := k.served(2, engineOptions{})
	k.write(e, 1, "old")
	k.taken(e, "first")
	k.write(e, 1, "new")
	revert := func() error {
		_, err := k.Manager.Proxy.SnapshotRevert(k.Context(),
			&imrpc.EngineSnapshotRevertRequest{ProxyEngineRequest: k.ref(e), Name: "first"})
		return err
	}
	k.Fails(revert(), nil, "reverting under a frontend")
	_, err := k.Manager.Proxy.VolumeFrontendShutdown(k.Context(), k.ref(e))
	k.OK(err, "shutting the frontend down")
	k.OK(revert(), "reverting")
	_, err = k.Manager.Proxy.VolumeFrontendStart(k.Context(), &imrpc.EngineVolumeFrontendStartRequest{ProxyEngineRequest: k.ref(e),
		FrontendStart: &ptypes.VolumeFrontendStartRequest{Frontend: k.FrontendV1}})
	k.OK(err, "starting the frontend")
	k.reads(e, 1, "old")
}

func v1SnapshotContent(k v1kit) {
	e, _ := k.served(2, engineOptions{})
	k.write(e, 1, "one")
	k.taken(e, "first")
	k.write(e, 2, "two")
	k.taken(e, "second")
	k.write(e, 1, "newer")
	k.OK(k.removeSnapshot(e, "first"), "removing the first")
	k.purged(e)
	k.reads(e, 1, "newer")
	k.reads(e, 2, "two")
	k.reads(e, 3, "")
}

func v1WatchNoSnapshots(k v1kit) {
	w := watch(k.T, k.Manager)
	e, _ := k.served(1, engineOptions{})
	k.Eventually("a notice of the creation", w.noticed)
	w.quiet(k.T)
	k.taken(e, "first", "second")
	k.OK(k.removeSnapshot(e, "first"), "removing the first")
	k.purged(e)
	k.Never("a notice of a snapshot operation", w.noticed)
}
