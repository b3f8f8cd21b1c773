package checks

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// v2Lists are the checks of what lists prove.
func v2Lists() []suite.Check {
	return []suite.Check{
		found(v2("list-needs-disk", "after a restart the lists answer OK without the replicas of a disk, for as long as no one creates "+
			"that disk", onDisks,
			v2ListNeedsDisk, suite.Restart), "V9"),
		found(v2("list-settles", "after its disk is ready again a replica is listed as stopped, under the same head UUID", onDisks,
			v2ListSettles, suite.Restart), "V9"),
		found(v2("list-silent", "InstanceWatch sends no notice of replicas that are found on a loaded disk", onSemantics, v2ListSilent,
			suite.Restart), "V9"),
		v2("list-cache", "a created replica stays in the lists, and a destroyed one out of them, over several passes of the server",
			onDisks,
			v2ListCache),
		v2("disk-replica-list", "DiskReplicaInstanceList lists all replicas of the server, with the disk's UUID and an empty UUID of "+
			"their own",
			onDisks, v2DiskReplicaList),
		found(v2("replica-unloaded-disk", "a replica on a disk that is not loaded is refused with Unknown and failed to check lvstore, "+
			"and is not listed", onDisks,
			v2ReplicaUnloadedDisk), "V9"),
		found(v2("delete-unloaded", "deleting a replica whose disk is not loaded answers OK and deleted=true, and destroys nothing",
			onDisks,
			v2DeleteUnloaded), "V9"),
	}
}

// away restarts the manager over a stopped replica, and leaves the disk unloaded.
func (k v2kit) away() (r spdk, d disk, head string) {
	r, d = k.replica(k.Manager, 1), k.disk(k.Manager)
	head = k.headUUID(r)
	k.Require(head != "", "SPDK reports no head UUID of %s", r.name)
	k.detach(r)
	k.restart()
	return r, d, head
}

func v2ListNeedsDisk(k v2kit) {
	r, _, _ := k.away()
	k.Never("the replica is listed", func() (bool, string) {
		out, err := k.Manager.SPDK.ReplicaList(k.Context(), &emptypb.Empty{})
		k.OK(err, "listing the replicas of SPDK")
		return list(k.T, k.Manager)[r.name] != nil || out.GetReplicas()[r.name] != nil, "its disk is not loaded"
	})
	k.disk(k.Manager)
	k.inState(k.Manager, r.name, typeReplica, stopped)
}

func v2ListSettles(k v2kit) {
	r, d, head := k.away()
	again := k.disk(k.Manager)
	k.Require(again.uuid == d.uuid && again.name == d.name, "the disk was %v and is %v", d, again)
	k.inState(k.Manager, r.name, typeReplica, stopped)
	k.Require(k.headUUID(r) == head, "the head UUID was %s and is %s", head, k.headUUID(r))
}

func v2ListSilent(k v2kit) {
	r, _, _ := k.away()
	w := watch(k.T, k.Manager)
	k.Sleep(k.Observation)
	w.quiet(k.T)
	k.disk(k.Manager)
	k.inState(k.Manager, r.name, typeReplica, stopped)
	seen, detail := w.noticed()
	k.Require(!seen, "there were %s", detail)
}

func v2ListCache(k v2kit) {
	first, second := k.replica(k.Manager, 1), k.replica(k.Manager, 2)
	k.detach(first)
	k.stop(second)
	k.Never("a list that lacks the stopped replica or has the destroyed one", func() (bool, string) {
		all := list(k.T, k.Manager)
		return all[first.name] == nil || all[second.name] != nil, "listed are " + joined(keys(all))
	})
}

func v2DiskReplicaList(k v2kit) {
	d, r := k.disk(k.Manager), k.replica(k.Manager, 1)
	k.Eventually("the replica is in DiskReplicaInstanceList", func() (bool, string) {
		out, err := k.Manager.Disk.DiskReplicaInstanceList(k.Context(),
			&imrpc.DiskReplicaInstanceListRequest{DiskType: imrpc.DiskType_block,
				DiskName:   d.key,
				DiskDriver: k.Disk.Driver})
		k.OK(err, "listing the replicas of disk %s", d.key)
		seen := out.GetReplicaInstances()[r.name]
		if seen == nil {
			return false, "listed are " + joined(keys(out.GetReplicaInstances()))
		}
		k.Require(seen.GetDiskUuid() == d.uuid && seen.GetDiskName() == d.name && seen.GetUuid() == "", "it is %v", seen)
		return true, ""
	})
}

func v2ReplicaUnloadedDisk(k v2kit) {
	d := k.unloaded()
	name := k.replicaName(1)
	_, err := k.create(k.Manager, k.replicaSpec(name, d))
	k.Refused(err, codes.Unknown, []string{"failed to check lvstore"}, "creating a replica on a disk that is not loaded")
	k.Never("the replica is listed", func() (bool, string) { return list(k.T, k.Manager)[name] != nil, "it is" })
	k.disk(k.Manager)
}

func v2DeleteUnloaded(k v2kit) {
	r := k.replica(k.Manager, 1)
	head := k.headUUID(r)
	k.detach(r)
	k.unloaded()
	k.Eventually("the replica is not listed", func() (bool, string) { return list(k.T, k.Manager)[r.name] == nil, "it is" })
	out, err := k.delete(r, true)
	k.OK(err, "deleting it")
	k.Require(out.GetDeleted(), "deleted is false")
	k.disk(k.Manager)
	k.inState(k.Manager, r.name, typeReplica, stopped)
	k.Require(k.headUUID(r) == head, "the head UUID was %s and is %s", head, k.headUUID(r))
}
