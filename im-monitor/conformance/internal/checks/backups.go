package checks

import (
	"strings"

	"google.golang.org/grpc/codes"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// v1Backups are the checks of backups of v1 volumes.
func v1Backups() []suite.Check {
	return []suite.Check{
		v1("backup", "SnapshotBackup answers a replica as tcp://ip:port, and SnapshotBackupStatus reports state and snapshot by that address "+
			"and without one", onBackups, v1Backup, suite.BackupTarget),
		v1("backup-unknown", "SnapshotBackupStatus of an unknown backup is OK, with an error and neither state nor snapshot", onBackups,
			v1BackupUnknown),
		found(v1("restore-added", "ReplicaAdd with restore answers at once and takes no snapshot; a restore of the backup that the others "+
			"have fills the added replica alone, which stays in mode WO until ReplicaVerifyRebuild", onBackups, v1RestoreAdded,
			suite.BackupTarget, suite.Content), "B3"),
	}
}

// v2Backups are those of v2 volumes.
func v2Backups() []suite.Check {
	return []suite.Check{
		v2("backup", "SnapshotBackup answers a replica as ip:port, and SnapshotBackupStatus reports state and snapshot by that address",
			onBackups, v2Backup, suite.BackupTarget),
		v2("backup-address", "SnapshotBackupStatus by tcp://ip:port is Internal; without an address it is Internal, or "+
			"the replica is found and reported", onBackups, v2BackupAddress,
			suite.BackupTarget),
		v2("backup-unknown", "SnapshotBackupStatus of an unknown backup is Internal", onBackups, v2BackupUnknown),
	}
}

// backUp requests a backup of a snapshot, and returns its name and which replica copies.
func backUp(t *suite.T, engine *imrpc.ProxyEngineRequest, snapshot string) (name, replica string) {
	name = t.Name("backup")
	out, err := t.Manager.Proxy.SnapshotBackup(t.Context(), &imrpc.EngineSnapshotBackupRequest{ProxyEngineRequest: engine, BackupName: name,
		SnapshotName: snapshot, BackupTarget: t.BackupTarget, CompressionMethod: "lz4", ConcurrentLimit: 1})
	t.OK(err, "requesting a backup")
	t.Require(out.GetBackupId() == name, "the backup is %s, not %s", out.GetBackupId(), name)
	return name, out.GetReplica()
}

func backupStatus(t *suite.T, engine *imrpc.ProxyEngineRequest, name, replica string) (*imrpc.EngineSnapshotBackupStatusProxyResponse,
	error) {
	return t.Manager.Proxy.SnapshotBackupStatus(t.Context(), &imrpc.EngineSnapshotBackupStatusRequest{ProxyEngineRequest: engine,
		BackupName: name, ReplicaAddress: replica})
}

// backedUp waits for the end of a backup, reads what is reported meanwhile, and returns the URL.
func backedUp(t *suite.T, engine *imrpc.ProxyEngineRequest, name, replica, snapshot string) (url string) {
	t.Eventually("backup "+name+" is complete", func() (bool, string) {
		out, err := backupStatus(t, engine, name, replica)
		t.OK(err, "reading the status of backup %s at %q", name, replica)
		t.Require(out.GetState() != "" && out.GetSnapshotName() == snapshot && out.GetError() == "", "the status is %v", out)
		if out.GetState() != "complete" {
			return false, out.String()
		}
		t.Require(strings.HasPrefix(out.GetBackupUrl(), t.BackupTarget), "the URL is %s", out.GetBackupUrl())
		url = out.GetBackupUrl()
		return true, ""
	})
	return url
}

// restore asks an engine to restore a backup, and returns what its server answers beside OK.
func (k v1kit) restore(e process, url string) string {
	out, err := k.Manager.Proxy.BackupRestore(k.Context(), &imrpc.EngineBackupRestoreRequest{ProxyEngineRequest: k.ref(e), Url: url,
		Target: k.BackupTarget, VolumeName: k.volume, ConcurrentLimit: 1})
	k.OK(err, "requesting a restore")
	return string(out.GetTaskError())
}

// restores waits until a replica has a backup, and returns the status of every replica.
func (k v1kit) restores(e, r process, backup string) (all map[string]*imrpc.EngineBackupRestoreStatus) {
	k.Eventually("replica "+r.name+" is restored", func() (bool, string) {
		out, err := k.Manager.Proxy.BackupRestoreStatus(k.Context(), k.ref(e))
		k.OK(err, "reading the status of restores")
		all = out.GetStatus()
		s := all["tcp://"+r.address]
		k.Require(s.GetError() == "", "the status is %v", s)
		return s.GetLastRestored() == backup && !s.GetIsRestoring(), s.String()
	})
	return all
}

func v1RestoreAdded(k v1kit) {
	source, _ := k.served(1, engineOptions{})
	k.write(source, 1, "saved")
	k.taken(source, "first")
	backup, replica := backUp(k.T, k.ref(source), "first")
	url := backedUp(k.T, k.ref(source), backup, replica, "first")

	k.volume += "-restored"
	kept := k.replica(k.Manager, 1, replicaOptions{})
	e := k.engine(k.Manager, 0, engineOptions{}, kept)
	k.Require(k.restore(e, url) == "", "the first restore is refused")
	k.restores(e, kept, backup)
	snapshots := len(k.snapshots(e))

	added := k.replica(k.Manager, 2, replicaOptions{})
	_, err := k.Manager.Proxy.ReplicaAdd(k.Context(), &imrpc.EngineReplicaAddRequest{ProxyEngineRequest: k.ref(e), Restore: true,
		ReplicaAddress: "tcp://" + added.address, ReplicaName: added.name, Size: k.VolumeSize, CurrentSize: k.VolumeSize, FastSync: true,
		FileSyncHttpClientTimeout: 30})
	k.OK(err, "adding a replica for a restore")
	k.Require(k.modes(e)["tcp://"+added.address] == "WO", "after the answer the replica is in mode %s", k.modes(e)["tcp://"+added.address])
	k.Require(len(k.snapshots(e)) == snapshots, "there are %d snapshots", len(k.snapshots(e)))
	refused := k.restore(e, url)
	k.Require(strings.Contains(refused, "already restored") && strings.Contains(refused, kept.address) &&
		!strings.Contains(refused, added.address), "the answer is %s", refused)
	all := k.restores(e, added, backup)
	k.Require(all["tcp://"+kept.address].GetLastRestored() == backup, "the status is %v", all)
	k.Require(k.modes(e)["tcp://"+added.address] == "WO", "before it is verified the replica is in mode %s",
		k.modes(e)["tcp://"+added.address])
	_, err = k.Manager.Proxy.ReplicaVerifyRebuild(k.Context(), &imrpc.EngineReplicaVerifyRebuildRequest{ProxyEngineRequest: k.ref(e),
		ReplicaAddress: "tcp://" + added.address, ReplicaName: added.name})
	k.OK(err, "verifying the replica")
	k.inMode(e, added, "RW")

	k.stop(e)
	k.stop(kept)
	k.reads(k.engine(k.Manager, 1, engineOptions{frontend: k.FrontendV1}, added), 1, "saved")
}

func v1Backup(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	k.taken(e, "first")
	name, replica := backUp(k.T, k.ref(e), "first")
	k.Require(replica == "tcp://"+replicas[0].address, "the replica is %s", replica)
	backedUp(k.T, k.ref(e), name, replica, "first")
	backedUp(k.T, k.ref(e), name, "", "first")
}

func v1BackupUnknown(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	for _, where := range []string{"", "tcp://" + replicas[0].address} {
		out, err := backupStatus(k.T, k.ref(e), k.Name("unknown"), where)
		k.OK(err, "reading the status of an unknown backup")
		k.Require(out.GetError() != "" && out.GetState() == "" && out.GetSnapshotName() == "", "the status is %v", out)
	}
}

// v2BackedUp requests a backup of a new volume.
func (k v2kit) v2BackedUp() (e spdk, name, replica string) {
	f, e, _ := k.served()
	k.OK(k.snapshot(e, f, "first"), "taking a snapshot")
	name, replica = backUp(k.T, k.ref(e, spdk{}), "first")
	return e, name, replica
}

func v2Backup(k v2kit) {
	e, name, replica := k.v2BackedUp()
	k.Require(!strings.Contains(replica, "://"), "the replica is %s", replica)
	backedUp(k.T, k.ref(e, spdk{}), name, replica, "first")
}

func v2BackupAddress(k v2kit) {
	e, name, replica := k.v2BackedUp()
	_, err := backupStatus(k.T, k.ref(e, spdk{}), name, "tcp://"+replica)
	k.Refused(err, codes.Internal, nil, "reading the status by an address with a scheme")
	out, err := backupStatus(k.T, k.ref(e, spdk{}), name, "")
	if err != nil { // older servers
		k.Refused(err, codes.Internal, nil, "reading the status without an address")
		return
	}
	k.Require(out.GetReplicaAddress() != "" && out.GetSnapshotName() == "first", "the status without an address is %v", out)
}

func v2BackupUnknown(k v2kit) {
	_, e, r := k.served()
	_, err := backupStatus(k.T, k.ref(e, spdk{}), k.Name("unknown"), r.address)
	k.Refused(err, codes.Internal, nil, "reading the status of an unknown backup")
}
