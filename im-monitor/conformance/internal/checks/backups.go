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

// backedUp waits for the end of a backup, and reads what is reported meanwhile.
func backedUp(t *suite.T, engine *imrpc.ProxyEngineRequest, name, replica, snapshot string) {
	t.Eventually("backup "+name+" is complete", func() (bool, string) {
		out, err := backupStatus(t, engine, name, replica)
		t.OK(err, "reading the status of backup %s at %q", name, replica)
		t.Require(out.GetState() != "" && out.GetSnapshotName() == snapshot && out.GetError() == "", "the status is %v", out)
		if out.GetState() != "complete" {
			return false, out.String()
		}
		t.Require(strings.HasPrefix(out.GetBackupUrl(), t.BackupTarget), "the URL is %s", out.GetBackupUrl())
		return true, ""
	})
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
