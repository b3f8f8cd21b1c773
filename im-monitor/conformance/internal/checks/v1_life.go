package checks

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// v1Life are the checks of processes: creation, identity, inventory, deletion.
func v1Life() []suite.Check {
	return []suite.Check{
		v1("create-states", "a created replica is starting or running at once, later running, and has the ten ports that were asked for",
			onSemantics, v1CreateStates),
		v1("uuid-random", "the UUID of a process is random: the same name created again has another one", onSemantics, v1UUIDRandom),
		v1("create-existing", "creating an existing name answers AlreadyExists and changes nothing", onSemantics, v1CreateExisting),
		found(v1("get-unknown", "getting and deleting an unknown name answer NotFound with a text that contains cannot find", onSemantics,
			v1Unknown), "P7"),
		v1("delete-wrong-uuid", "deleting under a wrong UUID answers NotFound, and the process runs on", onSemantics, v1DeleteWrongUUID),
		v1("delete-answer", "deleting answers deleted=true and state stopping, and the entry is gone after a while", onSemantics,
			v1DeleteAnswer),
		v1("delete-keeps-data", "cleanup_required is ignored: the data directory of a deleted replica is untouched", onSemantics,
			v1DeleteKeepsData, suite.Content),
		v1("list-shape", "lists do not echo volume_name, guess the type from the name, and report an engine's ports as target ports, too",
			onSemantics, v1ListShape),
		v1("watch-notices", "InstanceWatch sends a notice when a process is created or deleted", onSemantics, v1WatchNotices),
		v1("log", "InstanceLog streams lines of a process and ends", onSemantics, v1Log),
		v1("no-frontend-calls", "suspend, resume, switch-over and delete-target are Unimplemented", onSemantics, v1NoFrontendCalls),
		v1("restart-empty", "after a restart of the manager the list is empty, since processes die with it", onSemantics, v1RestartEmpty,
			suite.Restart),
	}
}

func v1CreateStates(k v1kit) {
	name := k.volume + "-r-00000001"
	made, err := k.create(k.Manager, name, k.ReplicaBinary, 10, k.replicaArguments(name, replicaOptions{})...)
	k.OK(err, "creating")
	state := made.GetStatus().GetState()
	k.Require(state == starting || state == running, "the answer's state is %q", state)
	k.runs(k.Manager, name)
	seen, err := k.get(k.Manager, name)
	k.OK(err, "getting")
	first, last := seen.GetStatus().GetPortStart(), seen.GetStatus().GetPortEnd()
	k.Require(first > 0 && last-first == 9, "ten ports were asked for, it has %d to %d", first, last)
}

func v1UUIDRandom(k v1kit) {
	first := k.replica(k.Manager, 1, replicaOptions{})
	k.Require(first.uuid != "", "the UUID is empty")
	k.stop(first)
	again := k.replica(k.Manager, 1, replicaOptions{})
	k.Require(again.uuid != "" && again.uuid != first.uuid, "the UUID was %s and is %s", first.uuid, again.uuid)
}

func v1CreateExisting(k v1kit) {
	first := k.replica(k.Manager, 1, replicaOptions{})
	_, err := k.create(k.Manager, first.name, k.ReplicaBinary, 10, k.replicaArguments(first.name, replicaOptions{})...)
	k.Refused(err, codes.AlreadyExists, nil, "creating again")
	k.Require(k.runs(k.Manager, first.name).uuid == first.uuid, "the UUID changed")
}

func v1Unknown(k v1kit) {
	_, err := k.get(k.Manager, k.volume+"-r-unknown")
	k.Refused(err, codes.NotFound, []string{"cannot find"}, "getting an unknown name")
	_, err = k.Manager.Instance.InstanceDelete(k.Context(), &imrpc.InstanceDeleteRequest{Name: k.volume + "-r-unknown"})
	k.Refused(err, codes.NotFound, []string{"cannot find"}, "deleting an unknown name")
}

func v1DeleteWrongUUID(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	_, err := k.Manager.Instance.InstanceDelete(k.Context(), &imrpc.InstanceDeleteRequest{Name: r.name,
		Uuid: "00000000-0000-4000-8000-000000000000"})
	k.Refused(err, codes.NotFound, nil, "deleting under a wrong UUID")
	k.Never("the process ends", func() (bool, string) {
		seen, err := k.get(k.Manager, r.name)
		return err != nil || seen.GetStatus().GetState() != running || seen.GetStatus().GetUuid() != r.uuid, describe(seen, err)
	})
}

func v1DeleteAnswer(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	out, err := k.Manager.Instance.InstanceDelete(k.Context(), &imrpc.InstanceDeleteRequest{Name: r.name, Uuid: r.uuid})
	k.OK(err, "deleting")
	k.Require(out.GetDeleted() && out.GetStatus().GetState() == stopping, "deleted=%t, state %q", out.GetDeleted(),
		out.GetStatus().GetState())
	k.Eventually("the entry is gone", func() (bool, string) {
		seen := list(k.T, k.Manager)[r.name]
		state := seen.GetStatus().GetState()
		k.Require(seen == nil || state == stopping || state == stopped, "the entry is %s after the deletion", state)
		return seen == nil, "state " + state
	})
}

func v1DeleteKeepsData(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	k.write(e, 3, "kept")
	k.stop(e)
	_, err := k.Manager.Instance.InstanceDelete(k.Context(), &imrpc.InstanceDeleteRequest{Name: replicas[0].name, CleanupRequired: true})
	k.OK(err, "deleting the replica with cleanup_required")
	k.stop(replicas[0])
	e, _ = k.served(1, engineOptions{})
	k.reads(e, 3, "kept")
}

func v1ListShape(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	all := list(k.T, k.Manager)
	engine, replica := all[e.name], all[replicas[0].name]
	k.Require(engine.GetSpec().GetType() == "engine" && replica.GetSpec().GetType() == "replica",
		"the types are %q of the engine and %q of the replica",
		engine.GetSpec().GetType(), replica.GetSpec().GetType())
	k.Require(engine.GetSpec().GetVolumeName() == "" && replica.GetSpec().GetVolumeName() == "", "volume_name is echoed")
	status := engine.GetStatus()
	k.Require(status.GetPortStart() > 0 && status.GetTargetPortStart() == status.GetPortStart(),
		"the engine's port is %d, its target port %d",
		status.GetPortStart(), status.GetTargetPortStart())
}

func v1WatchNotices(k v1kit) {
	w := watch(k.T, k.Manager)
	r := k.replica(k.Manager, 1, replicaOptions{})
	k.Eventually("a notice of the creation", w.noticed)
	w.quiet(k.T)
	k.kill(r)
	k.Eventually("a notice of the deletion", w.noticed)
}

func v1Log(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	stream, err := k.Manager.Instance.InstanceLog(k.Context(), &imrpc.InstanceLogRequest{Name: r.name})
	k.OK(err, "opening the log")
	line, err := stream.Recv()
	k.OK(err, "reading the log")
	k.Require(strings.TrimSpace(line.GetLine()) != "", "the first line is empty")
}

func v1NoFrontendCalls(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	service, ctx := k.Manager.Instance, k.Context()
	for what, call := range map[string]func() (*emptypb.Empty, error){
		"suspending": func() (*emptypb.Empty, error) {
			return service.InstanceSuspend(ctx, &imrpc.InstanceSuspendRequest{Name: e.name, Type: "engine"})
		},
		"resuming": func() (*emptypb.Empty, error) {
			return service.InstanceResume(ctx, &imrpc.InstanceResumeRequest{Name: e.name, Type: "engine"})
		},
		"switching over": func() (*emptypb.Empty, error) {
			return service.InstanceSwitchOverTarget(ctx, &imrpc.InstanceSwitchOverTargetRequest{Name: e.name, Type: "engine",
				TargetAddress: e.address, EngineName: e.name})
		},
		"deleting the target": func() (*emptypb.Empty, error) {
			return service.InstanceDeleteTarget(ctx, &imrpc.InstanceDeleteTargetRequest{Name: e.name, Type: "engine"})
		},
	} {
		_, err := call()
		k.Refused(err, codes.Unimplemented, nil, "%s", what)
	}
}

func v1RestartEmpty(k v1kit) {
	k.replica(k.Manager, 1, replicaOptions{})
	k.Require(k.Lab.Restart(k.Context(), k.Manager) == nil, "the manager could not be restarted")
	k.Eventually("the manager answers and lists nothing", func() (bool, string) {
		out, err := k.Manager.Instance.InstanceList(k.Context(), &emptypb.Empty{})
		return err == nil && len(out.GetInstances()) == 0, describe(nil, err)
	})
}
