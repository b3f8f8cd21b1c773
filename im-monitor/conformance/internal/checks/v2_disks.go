package checks

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// v2Disks are the checks of disks.
func v2Disks() []suite.Check {
	return []suite.Check{
		found(v2Any("disk-unknown", "DiskGet of an unknown disk is Internal with a text that contains cannot find disk and "+
			"its name", onDisks,
			v2DiskUnknown), "P7", "V9"),
		v2Any("disk-arguments", "a disk without a name is InvalidArgument, so is creating one without a path; filesystem disks are "+
			"Unimplemented", onDisks, v2DiskArguments),
		v2Any("disk-delete-unknown", "DiskDelete of an unknown disk is OK", onDisks, v2DiskDeleteUnknown),
		v2Load("disk-load", "DiskCreate with the recorded UUID loads the disk, writes no new lvstore, and DiskGet reports the UUID and "+
			"sizes",
			onDisks, v2DiskLoad),
		found(v2("disk-create-answer", "DiskCreate of a new name answers creating and nothing else", onDisks, v2DiskCreateAnswer), "V9"),
		found(v2("disk-create-get-waits", "DiskGet of the only disk that is being created waits for its end: it never answers creating",
			onDisks, v2DiskGetWaits), "V9"),
		v2("disk-create-known", "DiskCreate of a disk that is ready answers as DiskGet does, whatever its arguments are", onDisks,
			v2DiskCreateKnown),
		v2("disk-auto", "driver auto in DiskGet and DiskDelete of a disk that is ready is an error that does not contain cannot find disk",
			onDisks,
			v2DiskAuto),
		found(v2("disk-wrong-uuid", "DiskCreate with a UUID that the device does not hold ends in error, and writes nothing: its own UUID "+
			"loads afterwards",
			onDisks, v2DiskWrongUUID), "V9"),
		found(v2("disk-error-get", "DiskGet of a disk in error is OK with an empty UUID and sizes 0", onDisks, v2DiskErrorGet), "V9"),
		found(v2("disk-error-no-retry", "DiskCreate of a disk in error is no new try; DiskDelete and DiskCreate are", onDisks,
			v2DiskErrorNoRetry), "V9"),
		v2("disk-adopt", "DiskCreate without a UUID adopts the lvstore that is on the device, under its UUID", onDisks, v2DiskAdopt),
		v2("disk-delete-keeps-data", "DiskDelete takes the disk's replicas out of the lists and keeps their data, which loads again",
			onDisks,
			v2DiskDeleteKeepsData, suite.Content),
		found(v2("disk-restart", "after a restart no disk is known", onDisks, v2DiskRestart, suite.Restart), "V9"),
		v2("disk-create-queue", "a second disk waits in state creating while another one is being created, and is ready at last", onDisks,
			v2DiskQueue, suite.SpareDevice),
	}
}

// v2Any is a check of a v2 manager that touches no disk.
func v2Any(id, name, contract string, run func(v2kit), more ...suite.Need) suite.Check {
	return suite.Check{ID: "v2-" + id, Name: name, Engine: target.V2, Contract: contract, Needs: more,
		Run: func(t *suite.T) { run(newV2(t)) }}
}

// v2Load is a check that loads a disk and writes nothing to it.
func v2Load(id, name, contract string, run func(v2kit)) suite.Check {
	return v2Any(id, name, contract, run, suite.LoadedDisk)
}

func v2DiskUnknown(k v2kit) {
	name := k.volume + "-none"
	_, err := k.diskGet(k.Manager, name, target.Disk{Device: "/dev/none"})
	k.Refused(err, codes.Internal, []string{"cannot find disk " + name}, "getting an unknown disk")
}

func v2DiskArguments(k v2kit) {
	_, err := k.diskGet(k.Manager, "", target.Disk{Device: "/dev/none"})
	k.Refused(err, codes.InvalidArgument, nil, "getting a disk without a name")
	_, err = k.diskCreate(k.Manager, "", "", target.Disk{Device: "/dev/none", Driver: "aio"})
	k.Refused(err, codes.InvalidArgument, nil, "creating a disk without a name")
	_, err = k.diskCreate(k.Manager, k.volume+"-none", "00000000-0000-4000-8000-000000000000", target.Disk{Driver: "aio"})
	k.Refused(err, codes.InvalidArgument, nil, "creating a disk without a path")
	_, err = k.Manager.Disk.DiskGet(k.Context(), &imrpc.DiskGetRequest{DiskType: imrpc.DiskType_filesystem, DiskName: k.volume + "-none",
		DiskPath: "/none"})
	k.Refused(err, codes.Unimplemented, nil, "getting a filesystem disk")
}

func v2DiskDeleteUnknown(k v2kit) {
	k.OK(k.diskDelete(k.Manager, k.volume+"-none", "", target.Disk{Device: "/dev/none", Driver: "aio"}), "deleting an unknown disk")
}

func v2DiskLoad(k v2kit) {
	uuid := k.Disk.UUID
	if uuid == "" { // the device may be written to: it is made a disk first
		d := k.disk(k.Manager)
		uuid = d.uuid
		k.OK(k.diskDelete(k.Manager, d.key, d.uuid, k.Disk), "taking the disk out")
	}
	key := k.key(k.Manager)
	_, err := k.diskCreate(k.Manager, key, uuid, k.Disk)
	k.OK(err, "creating disk %s with UUID %s", key, uuid)
	k.AtEnd(key, func(ctx context.Context) error { return removeDisk(ctx, k.Manager, key, k.Disk) })
	seen := k.diskReady(k.Manager, key, k.Disk)
	k.Remember(key, uuid)
	k.Require(seen.GetUuid() == uuid, "the disk has UUID %s, not %s", seen.GetUuid(), uuid)
	k.Require(seen.GetTotalSize() > 0 && seen.GetFreeSize() > 0 && seen.GetFreeSize() <= seen.GetTotalSize(), "sizes %d and %d free",
		seen.GetTotalSize(),
		seen.GetFreeSize())
	k.Require(seen.GetDriver() != "" && seen.GetDriver() != "auto" && seen.GetName() != "", "driver %q, name %q", seen.GetDriver(),
		seen.GetName())
}

// unloaded takes the disk of the first manager out, and returns its UUID.
func (k v2kit) unloaded() disk {
	d := k.disk(k.Manager)
	k.OK(k.diskDelete(k.Manager, d.key, d.uuid, k.Disk), "taking the disk out")
	return d
}

func v2DiskCreateAnswer(k v2kit) {
	d := k.unloaded()
	out, err := k.diskCreate(k.Manager, d.key, d.uuid, k.Disk)
	k.OK(err, "creating the disk")
	k.Require(out.GetState() == "creating" && out.GetUuid() == "" && out.GetTotalSize() == 0, "the answer is %v", out)
	k.Require(k.diskReady(k.Manager, d.key, k.Disk).GetUuid() == d.uuid, "the UUID is another one")
}

func v2DiskGetWaits(k v2kit) {
	d := k.unloaded()
	_, err := k.diskCreate(k.Manager, d.key, d.uuid, k.Disk)
	k.OK(err, "creating the disk")
	seen, err := k.diskGet(k.Manager, d.key, k.Disk)
	k.OK(err, "getting the disk that is being created")
	k.Require(seen.GetState() == "ready", "the state is %s", seen.GetState())
}

func v2DiskCreateKnown(k v2kit) {
	d := k.disk(k.Manager)
	out, err := k.diskCreate(k.Manager, d.key, "00000000-0000-4000-8000-000000000000", k.Disk)
	k.OK(err, "creating a disk that is ready")
	k.Require(out.GetState() == "ready" && out.GetUuid() == d.uuid && out.GetName() == d.name, "the answer is %v", out)
}

func v2DiskAuto(k v2kit) {
	d := k.disk(k.Manager)
	auto := target.Disk{Device: k.Disk.Device, Driver: "auto"}
	_, err := k.diskGet(k.Manager, d.key, auto)
	k.Fails(err, nil, "DiskGet with driver auto")
	k.Require(!strings.Contains(err.Error(), "cannot find disk"), "the error says cannot find disk: %v", err)
	k.Fails(k.diskDelete(k.Manager, d.key, d.uuid, auto), nil, "DiskDelete with driver auto")
	k.Require(k.diskReady(k.Manager, d.key, k.Disk).GetUuid() == d.uuid, "the disk is gone")
}

// inError leaves the disk of the first manager in state error, by a wrong UUID.
func (k v2kit) inError() disk {
	d := k.unloaded()
	_, err := k.diskCreate(k.Manager, d.key, "00000000-0000-4000-8000-000000000000", k.Disk)
	k.OK(err, "creating the disk with a wrong UUID")
	k.Cleanup(func(ctx context.Context) error { return removeDisk(ctx, k.Manager, d.key, k.Disk) })
	k.diskIn(k.Manager, d.key, k.Disk, failed)
	return d
}

// reloaded deletes a disk and loads it by its UUID.
func (k v2kit) reloaded(d disk) {
	k.OK(k.diskDelete(k.Manager, d.key, d.uuid, k.Disk), "deleting the disk")
	_, err := k.diskCreate(k.Manager, d.key, d.uuid, k.Disk)
	k.OK(err, "creating the disk with its UUID")
	k.Require(k.diskReady(k.Manager, d.key, k.Disk).GetUuid() == d.uuid, "the UUID is another one")
}

func v2DiskWrongUUID(k v2kit) {
	_, e, r := k.served()
	f := spdk{name: k.volume + "-ef-0", typ: typeFrontend, on: k.Manager}
	if k.Content != nil {
		k.write(f, 1, "there")
	}
	k.stop(f)
	k.stop(e)
	k.detach(r)
	d := k.inError()
	k.reloaded(d)
	k.inState(k.Manager, r.name, typeReplica, stopped)
	if k.Content != nil {
		e = k.engine(k.Manager, 1, k.attach(r))
		k.reads(k.frontend(e), 1, "there")
	}
}

func v2DiskErrorGet(k v2kit) {
	d := k.inError()
	seen, err := k.diskGet(k.Manager, d.key, k.Disk)
	k.OK(err, "getting a disk in error")
	k.Require(seen.GetState() == failed && seen.GetUuid() == "" && seen.GetTotalSize() == 0 && seen.GetFreeSize() == 0, "it is %v", seen)
}

func v2DiskErrorNoRetry(k v2kit) {
	d := k.inError()
	out, err := k.diskCreate(k.Manager, d.key, d.uuid, k.Disk)
	k.OK(err, "creating a disk in error with the right UUID")
	k.Require(out.GetState() == failed, "the answer's state is %s", out.GetState())
	k.Never("the disk leaves state error", func() (bool, string) {
		seen, err := k.diskGet(k.Manager, d.key, k.Disk)
		return err != nil || seen.GetState() != failed, seen.GetState()
	})
	k.reloaded(d)
}

func v2DiskAdopt(k v2kit) {
	r := k.replica(k.Manager, 1)
	k.detach(r)
	d := k.unloaded()
	_, err := k.diskCreate(k.Manager, d.key, "", k.Disk)
	k.OK(err, "creating the disk without a UUID")
	k.Require(k.diskReady(k.Manager, d.key, k.Disk).GetUuid() == d.uuid, "the UUID is another one")
	k.inState(k.Manager, r.name, typeReplica, stopped)
}

func v2DiskDeleteKeepsData(k v2kit) {
	f, e, r := k.served()
	k.write(f, 4, "kept")
	k.stop(f)
	k.stop(e)
	k.detach(r)
	d := k.unloaded()
	k.Eventually("the replica is not listed", func() (bool, string) { return list(k.T, k.Manager)[r.name] == nil, "it is" })
	k.reloaded(d)
	k.inState(k.Manager, r.name, typeReplica, stopped)
	e = k.engine(k.Manager, 1, k.attach(r))
	k.reads(k.frontend(e), 4, "kept")
}

func v2DiskRestart(k v2kit) {
	d := k.disk(k.Manager)
	k.restart()
	k.Eventually("DiskGet says cannot find disk", func() (bool, string) {
		_, err := k.diskGet(k.Manager, d.key, k.Disk)
		return err != nil && strings.Contains(err.Error(), "cannot find disk "+d.key), describe(nil, err)
	})
	k.Never("the disk comes back by itself", func() (bool, string) {
		seen, err := k.diskGet(k.Manager, d.key, k.Disk)
		return err == nil, seen.GetState()
	})
}

func v2DiskQueue(k v2kit) {
	d := k.unloaded()
	spare, other := target.Disk{Device: k.SpareDevice, Driver: k.Disk.Driver}, k.RunName("spare")
	k.Cleanup(func(ctx context.Context) error { return removeDisk(ctx, k.Manager, other, spare) })
	_, err := k.diskCreate(k.Manager, d.key, d.uuid, k.Disk)
	k.OK(err, "creating the first disk")
	_, err = k.diskCreate(k.Manager, other, "", spare)
	k.OK(err, "creating the second disk")
	ctx, cancel := context.WithTimeout(k.Context(), time.Minute)
	defer cancel()
	seen, err := k.Manager.Disk.DiskGet(ctx, &imrpc.DiskGetRequest{DiskType: imrpc.DiskType_block, DiskName: other, DiskPath: spare.Device,
		DiskDriver: spare.Driver})
	k.OK(err, "getting the disk that waits")
	k.Require(seen.GetState() == "creating" || seen.GetState() == "ready", "the state is %s", seen.GetState())
	k.diskReady(k.Manager, d.key, k.Disk)
	k.diskReady(k.Manager, other, spare)
}
