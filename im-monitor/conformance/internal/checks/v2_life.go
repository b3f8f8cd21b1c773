package checks

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// v2Life are the checks of replicas and engines.
func v2Life() []suite.Check {
	return []suite.Check{
		v2("replica-create", "a created replica runs, with its ports, and SPDK lists it with a head UUID on its disk", onSemantics,
			v2ReplicaCreate),
		assumed(v2("replica-port-count-zero", "a replica with port_count 0 is refused or in state error", onCreating, v2ReplicaPortCount),
			"either the call is refused, or the instance is in state error"),
		assumed(v2("replica-wrong-disk", "a replica with a disk name and a disk UUID that do not belong together does not run", onDisks,
			v2ReplicaWrongDisk),
			"either the call is refused, or the instance is in state error"),
		v2("create-existing", "creating an instance that runs answers AlreadyExists", onSemantics, v2CreateExisting),
		v2("list-shape", "lists report name, type and data engine of an instance, and no volume", onSemantics, v2ListShape),
		v2("replica-stop", "deleting a replica without cleanup_required leaves it listed as stopped; created again it has the same head "+
			"UUID and content",
			onSemantics, v2ReplicaStop, suite.Content),
		v2("replica-destroy", "deleting a replica with cleanup_required destroys its data: created again it has another head UUID",
			onSemantics,
			v2ReplicaDestroy),
		v2("get-unknown", "getting an unknown instance is NotFound", onSemantics, v2GetUnknown),
		v2("delete-unknown", "deleting an unknown instance of any type answers OK and deleted=true", onSemantics, v2DeleteUnknown),
		v2("engine-create", "an engine runs over its replicas, with one port and no target port, and SPDK lists the modes", onSemantics,
			v2EngineCreate),
		v2("engine-no-replica", "an engine none of whose replicas answers is created with OK and is in state error", onSemantics,
			v2EngineNoReplica),
		found(v2("engine-no-replica-lists", "no list is answered while an engine is being created over a replica that does not answer",
			onSemantics, v2EngineNoReplicaLists), "K8"),
		assumed(v2("engine-unknown-replica", "an engine over a replica that the replica's server does not know is refused, and is listed "+
			"as pending until it is deleted: the name is taken", onSemantics, v2EngineUnknownReplica),
			"a refused v2 engine stays pending: read in the server's source, not seen running"),
		v2("engine-no-frontend", "an engine with an empty frontend exports no target", onCreating, v2EngineNoFrontend),
		v2("engine-delete-no-cleanup", "deleting an engine without cleanup_required answers OK and does nothing", onSemantics,
			v2EngineDeleteNoCleanup),
		v2("engine-delete", "deleting an engine with cleanup_required ends it", onSemantics, v2EngineDelete),
		v2("engine-no-frontend-calls", "suspend, resume and switch-over of an engine are Unimplemented, delete-target is "+
			"Internal", onSemantics,
			v2EngineCalls),
		v2("engine-restart", "after a restart of the manager its engines are gone", onSemantics, v2EngineRestart, suite.Restart),
		v2("head-uuid-snapshot", "the head UUID of a replica outlasts snapshots", onSemantics, v2HeadSnapshot),
		found(v2("head-uuid-rebuild", "a rebuilt replica has another head UUID", onSemantics, v2HeadRebuild), "V9"),
		v2("head-uuid-revert", "a revert is refused over an engine that was created with a frontend; without one the replica has "+
			"another head UUID", onSemantics, v2HeadRevert),
	}
}

func v2ReplicaCreate(k v2kit) {
	d, r := k.disk(k.Manager), k.replica(k.Manager, 1)
	seen, err := k.get(k.Manager, r.name, typeReplica)
	k.OK(err, "getting the replica")
	k.Require(seen.GetStatus().GetPortStart() > 0 && seen.GetStatus().GetPortEnd() > seen.GetStatus().GetPortStart(), "ports %d to %d",
		seen.GetStatus().GetPortStart(), seen.GetStatus().GetPortEnd())
	inside := k.spdkReplica(r)
	k.Require(inside.GetHead().GetUuid() != "" && inside.GetLvsUuid() == d.uuid && inside.GetLvsName() == d.name, "SPDK lists %v", inside)
}

func v2ReplicaPortCount(k v2kit) {
	name := k.replicaName(1)
	spec := k.replicaSpec(name, k.disk(k.Manager))
	spec.PortCount = 0
	if _, err := k.create(k.Manager, spec); err == nil {
		k.inState(k.Manager, name, typeReplica, failed)
	}
}

func v2ReplicaWrongDisk(k v2kit) {
	name, d := k.replicaName(1), k.disk(k.Manager)
	d.name = "another-lvstore"
	if _, err := k.create(k.Manager, k.replicaSpec(name, d)); err == nil {
		k.inState(k.Manager, name, typeReplica, failed)
	}
}

func v2CreateExisting(k v2kit) {
	_, e, r := k.served()
	_, err := k.create(k.Manager, k.replicaSpec(r.name, k.disk(k.Manager)))
	k.Refused(err, codes.AlreadyExists, nil, "creating the replica again")
	_, err = k.create(k.Manager, k.engineSpec(e.name, k.FrontendV2, r))
	k.Refused(err, codes.AlreadyExists, nil, "creating the engine again")
}

func v2ListShape(k v2kit) {
	f, e, r := k.served()
	all := list(k.T, k.Manager)
	for _, i := range []spdk{f, e, r} {
		spec := all[i.name].GetSpec()
		k.Require(spec.GetName() == i.name && spec.GetType() == i.typ && spec.GetDataEngine() == imrpc.DataEngine_DATA_ENGINE_V2,
			"%s is listed as %v", i.name, spec)
		k.Require(spec.GetVolumeName() == "", "the list reports the volume of %s", i.name)
	}
}

func v2ReplicaStop(k v2kit) {
	f, e, r := k.served()
	k.write(f, 2, "kept")
	head := k.headUUID(r)
	k.stop(f)
	k.stop(e)
	k.detach(r)
	k.Never("the stopped replica leaves the list", func() (bool, string) { return list(k.T, k.Manager)[r.name] == nil, "it is not listed" })
	r = k.attach(r)
	k.Require(k.headUUID(r) == head, "the head UUID was %s and is %s", head, k.headUUID(r))
	k.reads(k.frontend(k.engine(k.Manager, 1, r)), 2, "kept")
}

func v2ReplicaDestroy(k v2kit) {
	r := k.replica(k.Manager, 1)
	head := k.headUUID(r)
	k.stop(r)
	k.Never("the destroyed replica is listed", func() (bool, string) { return list(k.T, k.Manager)[r.name] != nil, "it is" })
	r = k.replica(k.Manager, 1)
	k.Require(k.headUUID(r) != head, "the head UUID is still %s", head)
}

func v2GetUnknown(k v2kit) {
	for _, typ := range []string{typeReplica, typeEngine, typeFrontend} {
		_, err := k.get(k.Manager, k.volume+"-unknown", typ)
		k.Refused(err, codes.NotFound, nil, "getting an unknown %s", typ)
	}
}

func v2DeleteUnknown(k v2kit) {
	for _, typ := range []string{typeReplica, typeEngine, typeFrontend} {
		for _, cleanup := range []bool{false, true} {
			out, err := k.delete(spdk{name: k.volume + "-unknown", typ: typ, on: k.Manager}, cleanup)
			k.OK(err, "deleting an unknown %s", typ)
			k.Require(out.GetDeleted(), "deleted is false of an unknown %s", typ)
		}
	}
}

func v2EngineCreate(k v2kit) {
	r := k.replica(k.Manager, 1)
	e := k.engine(k.Manager, 0, r)
	seen, err := k.get(k.Manager, e.name, typeEngine)
	k.OK(err, "getting the engine")
	s := seen.GetStatus()
	k.Require(s.GetPortStart() > 0 && s.GetPortStart() == s.GetPortEnd() && s.GetTargetPortStart() == 0,
		"ports %d to %d, target port %d", s.GetPortStart(), s.GetPortEnd(), s.GetTargetPortStart())
	out, err := k.Manager.SPDK.EngineList(k.Context(), &emptypb.Empty{})
	k.OK(err, "listing the engines of SPDK")
	inside := out.GetEngines()[e.name]
	k.Require(inside.GetReplicaModeMap()[r.name].String() == "RW" && inside.GetReplicaAddressMap()[r.name] == r.address, "SPDK lists %v",
		inside)
}

func v2EngineNoReplica(k v2kit) {
	r := k.replica(k.Manager, 1)
	k.detach(r)
	name := k.volume + "-e-0"
	_, err := k.create(k.Manager, k.engineSpec(name, k.FrontendV2, r))
	k.OK(err, "creating an engine whose replica does not answer")
	seen := k.inState(k.Manager, name, typeEngine, failed)
	k.Require(seen.GetStatus().GetErrorMsg() != "", "error_msg is empty")
}

func v2EngineNoReplicaLists(k v2kit) {
	r := k.replica(k.Manager, 1)
	k.detach(r)
	name := k.volume + "-e-0"
	answered := underWay(func() error {
		_, err := k.create(k.Manager, k.engineSpec(name, k.FrontendV2, r))
		return err
	})
	for {
		seen := list(k.T, k.Manager)[name]
		k.Require(seen == nil || seen.GetStatus().GetState() == failed, "a list is answered that has the engine as %s",
			seen.GetStatus().GetState())
		select {
		case err := <-answered:
			k.OK(err, "creating an engine whose replica does not answer")
			k.inState(k.Manager, name, typeEngine, failed)
			return
		default:
		}
	}
}

func v2EngineUnknownReplica(k v2kit) {
	r := k.replica(k.Manager, 1)
	unknown := spdk{name: k.replicaName(2), address: r.address}
	name := k.volume + "-e-0"
	_, err := k.create(k.Manager, k.engineSpec(name, k.FrontendV2, unknown))
	k.Fails(err, nil, "creating an engine over an unknown replica")
	k.Never("the engine leaves state pending", func() (bool, string) {
		seen, err := k.get(k.Manager, name, typeEngine)
		return err != nil || seen.GetStatus().GetState() != "pending", describe(seen, err)
	})
	_, err = k.create(k.Manager, k.engineSpec(name, k.FrontendV2, r))
	k.Refused(err, codes.AlreadyExists, nil, "creating it again")
	k.OK(removeV2(k.Context(), k.Manager, name, typeEngine), "deleting it")
	k.engine(k.Manager, 0, r)
}

func v2EngineNoFrontend(k v2kit) {
	e := k.engineFor(k.Manager, 0, "", k.replica(k.Manager, 1))
	seen, err := k.get(k.Manager, e.name, typeEngine)
	k.OK(err, "getting the engine")
	k.Require(seen.GetStatus().GetTargetPortStart() == 0, "its target port is %d", seen.GetStatus().GetTargetPortStart())
}

func v2EngineDeleteNoCleanup(k v2kit) {
	e := k.engine(k.Manager, 0, k.replica(k.Manager, 1))
	_, err := k.delete(e, false)
	k.OK(err, "deleting the engine without cleanup_required")
	k.Never("the engine stops", func() (bool, string) {
		seen, err := k.get(k.Manager, e.name, typeEngine)
		return err != nil || seen.GetStatus().GetState() != running, describe(seen, err)
	})
}

func v2EngineDelete(k v2kit) {
	r := k.replica(k.Manager, 1)
	e := k.engine(k.Manager, 0, r)
	out, err := k.delete(e, true)
	k.OK(err, "deleting the engine")
	k.Require(out.GetDeleted(), "deleted is false")
	k.Eventually("the engine is gone", func() (bool, string) { return list(k.T, k.Manager)[e.name] == nil, "it is listed" })
	k.runs(k.Manager, r.name, typeReplica)
}

func v2EngineCalls(k v2kit) {
	e := k.engine(k.Manager, 0, k.replica(k.Manager, 1))
	service, ctx, v2 := k.Manager.Instance, k.Context(), imrpc.DataEngine_DATA_ENGINE_V2
	_, err := service.InstanceSuspend(ctx, &imrpc.InstanceSuspendRequest{Name: e.name, Type: typeEngine, DataEngine: v2})
	k.Refused(err, codes.Unimplemented, nil, "suspending an engine")
	_, err = service.InstanceResume(ctx, &imrpc.InstanceResumeRequest{Name: e.name, Type: typeEngine, DataEngine: v2})
	k.Refused(err, codes.Unimplemented, nil, "resuming an engine")
	_, err = service.InstanceSwitchOverTarget(ctx, &imrpc.InstanceSwitchOverTargetRequest{Name: e.name, Type: typeEngine, DataEngine: v2,
		EngineName:    e.name,
		TargetAddress: e.address})
	k.Refused(err, codes.Unimplemented, nil, "switching an engine over")
	_, err = service.InstanceDeleteTarget(ctx, &imrpc.InstanceDeleteTargetRequest{Name: e.name, Type: typeEngine, DataEngine: v2})
	k.Refused(err, codes.Internal, []string{"Unimplemented"}, "deleting the target of an engine")
}

func v2EngineRestart(k v2kit) {
	r := k.replica(k.Manager, 1)
	e := k.engine(k.Manager, 0, r)
	k.restart()
	k.disk(k.Manager)
	k.inState(k.Manager, r.name, typeReplica, stopped)
	k.Never("the engine is listed", func() (bool, string) { return list(k.T, k.Manager)[e.name] != nil, "it is" })
}

func v2HeadSnapshot(k v2kit) {
	f, e, r := k.served()
	head := k.headUUID(r)
	k.OK(k.snapshot(e, f, "first"), "taking a snapshot")
	k.Never("another head UUID", func() (bool, string) { return k.headUUID(r) != head, k.headUUID(r) })
}

func v2HeadRebuild(k v2kit) {
	f, e, _ := k.served()
	r := k.replica(k.Manager, 2)
	head := k.headUUID(r)
	k.OK(k.add(e, f, r), "adding a replica")
	k.inMode(e, f, r, "RW")
	k.Require(k.headUUID(r) != head && k.headUUID(r) != "", "the head UUID was %s and is %s", head, k.headUUID(r))
}

func v2HeadRevert(k v2kit) {
	f, e, r := k.served()
	head := k.headUUID(r)
	k.OK(k.snapshot(e, f, "first"), "taking a snapshot")
	revert := func(e, f spdk) error {
		_, err := k.Manager.Proxy.SnapshotRevert(k.Context(),
			&imrpc.EngineSnapshotRevertRequest{ProxyEngineRequest: k.ref(e, f), Name: "first"})
		return err
	}
	k.Refused(revert(e, f), codes.Internal, nil, "reverting an engine that was created with a frontend")
	k.Require(k.headUUID(r) == head, "a revert that was refused has changed the head")
	k.stop(f)
	k.stop(e)
	k.OK(revert(k.engineFor(k.Manager, 1, "", r), spdk{}), "reverting an engine without a frontend")
	k.Eventually("another head UUID", func() (bool, string) { return k.headUUID(r) != head && k.headUUID(r) != "", k.headUUID(r) })
}
