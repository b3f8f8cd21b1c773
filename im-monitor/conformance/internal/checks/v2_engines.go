package checks

import (
	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// v2Engines are the checks of what is called through the proxy.
func v2Engines() []suite.Check {
	return []suite.Check{
		v2("snapshot-chain", "a snapshot is the parent of the head, without labels, and removed is never true", onSemantics,
			v2SnapshotChain),
		v2("snapshot-frontend-name", "a snapshot of an engine with a frontend needs engine_frontend_name", onSemantics,
			v2SnapshotFrontendName),
		v2("snapshot-remove", "SnapshotRemove removes at once; of an unknown name it is an error", onSemantics, v2SnapshotRemove),
		v2("purge", "a purge removes system snapshots at once, and its status is always empty", onLimits, v2Purge),
		v2("purge-silent", "a purge that cannot be done answers OK", onSemantics, v2PurgeSilent),
		v2("rebuild", "ReplicaAdd answers at once, and the replica is in mode RW after a while", onSemantics, v2Rebuild),
		v2("rebuild-content", "a rebuilt replica alone serves what was written", onSemantics, v2RebuildContent, suite.Content),
		v2("replica-remove", "ReplicaRemove by engine name takes a replica out of the engine, and leaves it running", onSemantics,
			v2ReplicaRemove),
		assumed(v2("wrong-engine", "a call to an engine that does not run is refused", onSemantics, v2WrongEngine),
			"the code is not specified"),
	}
}

func (k v2kit) snapshot(e, f spdk, name string) error {
	_, err := k.Manager.Proxy.VolumeSnapshot(k.Context(), &imrpc.EngineVolumeSnapshotRequest{ProxyEngineRequest: k.ref(e, f),
		SnapshotVolume: &ptypes.VolumeSnapshotRequest{Name: name, Labels: map[string]string{"made-by": "conformance"}}})
	return err
}

func (k v2kit) snapshots(e spdk) map[string]*imrpc.EngineSnapshotDiskInfo {
	out, err := k.Manager.Proxy.SnapshotList(k.Context(), k.ref(e, spdk{}))
	k.OK(err, "listing the snapshots of %s", k.volume)
	return out.GetDisks()
}

func (k v2kit) add(e, f, r spdk) error {
	_, err := k.Manager.Proxy.ReplicaAdd(k.Context(), &imrpc.EngineReplicaAddRequest{ProxyEngineRequest: k.ref(e, f),
		ReplicaAddress: "tcp://" + r.address,
		ReplicaName:    r.name, Size: k.VolumeSize, CurrentSize: k.VolumeSize, FastSync: true})
	return err
}

func (k v2kit) modes(e, f spdk) map[string]string {
	out, err := k.Manager.Proxy.ReplicaList(k.Context(), k.ref(e, f))
	k.OK(err, "listing the replicas of %s", e.name)
	return modesOf(out.GetReplicaList())
}

func (k v2kit) inMode(e, f, r spdk, mode string) {
	k.Eventually("replica "+r.name+" is in mode "+mode, func() (bool, string) {
		seen := k.modes(e, f)["tcp://"+r.address]
		return seen == mode, "mode " + seen
	})
}

func (k v2kit) purge(e, f spdk) error {
	_, err := k.Manager.Proxy.SnapshotPurge(k.Context(), &imrpc.EngineSnapshotPurgeRequest{ProxyEngineRequest: k.ref(e, f)})
	return err
}

func v2SnapshotChain(k v2kit) {
	f, e, _ := k.served()
	k.OK(k.snapshot(e, f, "first"), "taking the first")
	k.OK(k.snapshot(e, f, "second"), "taking the second")
	all := k.snapshots(e)
	k.Require(all[head].GetParent() == "second" && all["second"].GetParent() == "first", "the parents are %q and %q", all[head].GetParent(),
		all["second"].GetParent())
	k.Require(all["first"].GetUserCreated() && !all["first"].GetRemoved() && len(all["first"].GetLabels()) == 0, "the first is %v",
		all["first"])
}

func v2SnapshotFrontendName(k v2kit) {
	f, e, _ := k.served()
	k.Fails(k.snapshot(e, spdk{}, "first"), nil, "taking a snapshot without engine_frontend_name")
	k.OK(k.snapshot(e, f, "first"), "taking a snapshot with it")
}

func (k v2kit) removeSnapshot(e, f spdk, name string) error {
	_, err := k.Manager.Proxy.SnapshotRemove(k.Context(), &imrpc.EngineSnapshotRemoveRequest{ProxyEngineRequest: k.ref(e, f),
		Names: []string{name}})
	return err
}

func v2SnapshotRemove(k v2kit) {
	f, e, _ := k.served()
	k.OK(k.snapshot(e, f, "first"), "taking the first")
	k.OK(k.snapshot(e, f, "second"), "taking the second")
	k.OK(k.removeSnapshot(e, f, "first"), "removing the first")
	k.Require(k.snapshots(e)["first"] == nil, "the first is still there")
	k.Fails(k.removeSnapshot(e, f, "unknown"), nil, "removing an unknown snapshot")
}

func v2Purge(k v2kit) {
	f, e, _ := k.served()
	r := k.replica(k.Manager, 2)
	k.OK(k.add(e, f, r), "adding a replica")
	k.inMode(e, f, r, "RW")
	k.OK(k.snapshot(e, f, "mine"), "taking a snapshot")
	k.Require(len(systemSnapshots(k.snapshots(e))) == 1, "the rebuild left %d system snapshots, not 1",
		len(systemSnapshots(k.snapshots(e))))
	k.OK(k.purge(e, f), "purging")
	all := k.snapshots(e)
	k.Require(len(systemSnapshots(all)) == 0 && all["mine"] != nil, "after the purge there are %s", joined(keys(all)))
	out, err := k.Manager.Proxy.SnapshotPurgeStatus(k.Context(), k.ref(e, f))
	k.OK(err, "reading the purge's status")
	k.Require(len(out.GetStatus()) == 0, "the status is %v", out.GetStatus())
}

func v2PurgeSilent(k v2kit) {
	f, e, _ := k.served()
	r := k.replica(k.Manager, 2)
	k.OK(k.add(e, f, r), "adding a replica")
	k.OK(k.purge(e, f), "purging during the rebuild")
	k.inMode(e, f, r, "RW")
}

func v2Rebuild(k v2kit) {
	f, e, _ := k.served()
	r := k.replica(k.Manager, 2)
	k.OK(k.add(e, f, r), "adding a replica")
	mode := k.modes(e, f)["tcp://"+r.address]
	k.Require(mode == "WO" || mode == "RW", "after the answer the replica is in mode %q", mode)
	k.inMode(e, f, r, "RW")
}

func v2RebuildContent(k v2kit) {
	f, e, first := k.served()
	k.write(f, 1, "before")
	r := k.replica(k.Manager, 2)
	k.OK(k.add(e, f, r), "adding a replica")
	k.write(f, 2, "during")
	k.inMode(e, f, r, "RW")
	k.stop(f)
	k.stop(e)
	k.stop(first)
	f = k.frontend(k.engine(k.Manager, 1, r))
	k.reads(f, 1, "before")
	k.reads(f, 2, "during")
}

func v2ReplicaRemove(k v2kit) {
	first, second := k.replica(k.Manager, 1), k.replica(k.Manager, 2)
	e := k.engine(k.Manager, 0, first, second)
	f := k.frontend(e)
	_, err := k.Manager.Proxy.ReplicaRemove(k.Context(), &imrpc.EngineReplicaRemoveRequest{ProxyEngineRequest: k.ref(e, spdk{}),
		ReplicaAddress: "tcp://" + second.address, ReplicaName: second.name})
	k.OK(err, "removing a replica")
	k.Eventually("the engine has one replica", func() (bool, string) { return len(k.modes(e, f)) == 1, joined(keys(k.modes(e, f))) })
	k.runs(k.Manager, second.name, typeReplica)
}

func v2WrongEngine(k v2kit) {
	_, err := k.Manager.Proxy.VolumeGet(k.Context(), k.ref(spdk{name: k.volume + "-e-9"}, spdk{}))
	k.Fails(err, nil, "VolumeGet of an engine that does not run")
}
