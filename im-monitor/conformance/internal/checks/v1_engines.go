package checks

import (
	"google.golang.org/grpc/codes"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// v1Engines are the checks of what the proxy reports about running engines, and of their content.
func v1Engines() []suite.Check {
	return []suite.Check{
		v1("volume-get", "VolumeGet reports name, size, number of replicas, limits, and no expansion", onSemantics, v1VolumeGet),
		v1("replica-list", "ReplicaList reports each replica in mode RW under tcp://ip:port", onSemantics, v1ReplicaList),
		v1("wrong-names", "a wrong engine or volume name is FailedPrecondition with a text that contains incorrect instance "+
			"name", onSemantics,
			v1WrongNames),
		v1("engine-gone", "a call to an engine that is gone is Unavailable", onSemantics, v1EngineGone),
		v1("replica-remove-unknown", "ReplicaRemove of an unknown address is OK", onSemantics, v1RemoveUnknown),
		v1("replica-remove-last", "the last replica of an engine with a frontend is not removed", onSemantics, v1RemoveLast, suite.Content),
		v1("frontend-start-stop", "a running engine loses its frontend by VolumeFrontendShutdown and gets it by VolumeFrontendStart",
			onCreating, v1FrontendStartStop, suite.Content),
		v1("content", "what was written is read again, also by the next engine over the same replicas", onSemantics, v1Content,
			suite.Content),
		v1("dead-replica", "a replica that died is in mode ERR after a while, and the other one serves", onSemantics, v1DeadReplica,
			suite.Content),
		v1("move", "an engine of another node over the same replicas serves what was written", onSemantics, v1Move, suite.SecondManager,
			suite.Content),
	}
}

func v1VolumeGet(k v1kit) {
	e, _ := k.served(2, engineOptions{maxCount: 123})
	v := k.report(e)
	k.Require(v.GetName() == k.volume && v.GetSize() == k.VolumeSize && v.GetReplicaCount() == 2, "name %q, size %d, %d replicas",
		v.GetName(),
		v.GetSize(), v.GetReplicaCount())
	k.Require(v.GetSnapshotMaxCount() == 123 && v.GetSnapshotMaxSize() == 0, "limits %d and %d", v.GetSnapshotMaxCount(),
		v.GetSnapshotMaxSize())
	k.Require(!v.GetIsExpanding() && v.GetLastExpansionError() == "", "it expands: %t %q", v.GetIsExpanding(), v.GetLastExpansionError())
}

func v1ReplicaList(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	modes := k.modes(e)
	k.Require(len(modes) == 2, "two replicas, listed are %v", modes)
	for _, r := range replicas {
		k.Require(modes["tcp://"+r.address] == "RW", "replica %s is in mode %q", r.name, modes["tcp://"+r.address])
	}
}

func v1WrongNames(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	for what, ref := range map[string]*imrpc.ProxyEngineRequest{
		"another engine name": {Address: e.address, EngineName: e.name + "-other", VolumeName: k.volume},
		"another volume name": {Address: e.address, EngineName: e.name, VolumeName: k.volume + "-other"},
	} {
		_, err := k.Manager.Proxy.VolumeGet(k.Context(), ref)
		k.Refused(err, codes.FailedPrecondition, []string{"incorrect"}, "VolumeGet with %s", what)
		_, err = k.Manager.Proxy.VolumeSnapshot(k.Context(), &imrpc.EngineVolumeSnapshotRequest{ProxyEngineRequest: ref,
			SnapshotVolume: &ptypes.VolumeSnapshotRequest{Name: "wrong"}})
		k.Refused(err, codes.FailedPrecondition, []string{"incorrect"}, "VolumeSnapshot with %s", what)
	}
}

func v1EngineGone(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.stop(e)
	_, err := k.Manager.Proxy.VolumeGet(k.Context(), k.ref(e))
	k.Refused(err, codes.Unavailable, nil, "VolumeGet of an engine that is gone")
}

// remove removes a replica from an engine.
func (k v1kit) remove(e, r process) error {
	_, err := k.Manager.Proxy.ReplicaRemove(k.Context(), &imrpc.EngineReplicaRemoveRequest{ProxyEngineRequest: k.ref(e),
		ReplicaAddress: "tcp://" + r.address,
		ReplicaName:    r.name})
	return err
}

func v1RemoveUnknown(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.OK(k.remove(e, process{name: "unknown", address: k.Manager.Host + ":1"}), "removing an unknown replica")
}

func v1RemoveLast(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	k.Fails(k.remove(e, replicas[0]), nil, "removing the last replica")
	k.inMode(e, replicas[0], "RW")
}

func v1FrontendStartStop(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.write(e, 1, "before")
	_, err := k.Manager.Proxy.VolumeFrontendShutdown(k.Context(), k.ref(e))
	k.OK(err, "shutting the frontend down")
	k.Eventually("the frontend is down", func() (bool, string) { return k.report(e).GetEndpoint() == "", k.report(e).GetEndpoint() })
	_, err = k.Manager.Proxy.VolumeFrontendStart(k.Context(), &imrpc.EngineVolumeFrontendStartRequest{ProxyEngineRequest: k.ref(e),
		FrontendStart: &ptypes.VolumeFrontendStartRequest{Frontend: k.FrontendV1}})
	k.OK(err, "starting the frontend")
	k.Eventually("the frontend is up", func() (bool, string) { return k.report(e).GetEndpoint() != "", k.report(e).GetFrontendState() })
	k.reads(e, 1, "before")
}

func v1Content(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	k.reads(e, 7, "")
	k.write(e, 7, "seven")
	k.reads(e, 7, "seven")
	k.stop(e)
	e = k.engine(k.Manager, 1, engineOptions{frontend: k.FrontendV1}, replicas...)
	k.reads(e, 7, "seven")
	k.reads(e, 8, "")
}

func v1DeadReplica(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	k.write(e, 1, "both")
	k.stop(replicas[1])
	k.inMode(e, replicas[1], "ERR")
	k.inMode(e, replicas[0], "RW")
	k.write(e, 2, "one")
	k.reads(e, 1, "both")
	k.reads(e, 2, "one")
}

func v1Move(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	k.write(e, 5, "moved")
	k.stop(e)
	moved := k.engine(k.Second, 1, engineOptions{frontend: k.FrontendV1}, replicas...)
	out, err := k.Second.Proxy.VolumeGet(k.Context(), k.ref(moved))
	k.OK(err, "reading the volume at the other node")
	if !k.Content.Reaches(k.Second) {
		k.NotRun("the content of volumes is not reached on the node of %s", k.Second.Host)
	}
	reads(k.T, target.Volume{Name: k.volume, Manager: k.Second, Endpoint: out.GetVolume().GetEndpoint()}, 5, "moved")
}
