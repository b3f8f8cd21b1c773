package serve

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// failure is a refusal of the data plane on the wire.
func failure(err error) error {
	if err == nil {
		return nil
	}
	var refusal *dataplane.Error
	if errors.As(err, &refusal) {
		return status.Error(codeOf(string(refusal.Code)), refusal.Message)
	}
	return status.Error(codes.Unknown, err.Error())
}

func engineName(e imrpc.DataEngine) string {
	if e == imrpc.DataEngine_DATA_ENGINE_V2 {
		return dataplane.V2
	}
	return dataplane.V1
}

func wireEngine(name string) imrpc.DataEngine {
	if name == dataplane.V2 {
		return imrpc.DataEngine_DATA_ENGINE_V2
	}
	return imrpc.DataEngine_DATA_ENGINE_V1
}

// specOf reads what a caller asks to be created.
func specOf(in *imrpc.InstanceSpec) dataplane.Spec {
	process, spdk := in.GetProcessInstanceSpec(), in.GetSpdkInstanceSpec()
	return dataplane.Spec{
		Name: in.GetName(), Type: in.GetType(), DataEngine: engineName(in.GetDataEngine()), Volume: in.GetVolumeName(),
		PortCount: in.GetPortCount(),
		Binary:    process.GetBinary(), Args: process.GetArgs(),
		Replicas: spdk.GetReplicaAddressMap(), DiskName: spdk.GetDiskName(), DiskUUID: spdk.GetDiskUuid(), Size: spdk.GetSize(),
		Frontend: spdk.GetFrontend(), EngineName: in.GetEngineName(), TargetAddress: in.GetTargetAddress(),
		SalvageRequested: spdk.GetSalvageRequested(), SnapshotMaxCount: spdk.GetSnapshotMaxCount(),
		BackingImage:   spdk.GetBackingImageName(),
		UblkQueueDepth: spdk.GetUblkQueueDepth(), UblkNumberOfQueue: spdk.GetUblkNumberOfQueue(), IOQueues: spdk.GetNvmeTcpNrIoQueues(),
	}
}

// response is an instance as the wire has it.
func response(i dataplane.Reported) *imrpc.InstanceResponse {
	out := &imrpc.InstanceResponse{
		Spec: &imrpc.InstanceSpec{Name: i.Name, Type: i.Type, DataEngine: wireEngine(i.DataEngine), VolumeName: i.Volume},
		Status: &imrpc.InstanceStatus{
			State: i.State, ErrorMsg: i.ErrorMsg, Uuid: i.UUID,
			PortStart: i.PortStart, PortEnd: i.PortEnd, TargetPortStart: i.TargetPortStart, TargetPortEnd: i.TargetPortEnd,
			EngineName: i.EngineName, Endpoint: i.Endpoint, Frontend: i.Frontend, ActivePath: i.ActivePath, PreferredPath: i.ActivePath,
		},
	}
	if i.DataEngine == dataplane.V1 && i.Binary != "" {
		out.Spec.ProcessInstanceSpec = &imrpc.ProcessInstanceSpec{Binary: i.Binary, Args: i.Args}
		out.Spec.PortCount = i.PortCount
	}
	for _, p := range i.Paths {
		out.Status.Paths = append(out.Status.Paths, &imrpc.EngineFrontendNvmeTcpPath{
			EngineName: p.EngineName, TargetIp: p.TargetIP, TargetPort: p.TargetPort, Nqn: p.NQN, Nguid: p.NGUID, AnaState: p.ANAState})
	}
	return out
}

// spdkReplica is a v2 replica as SPDK lists it.
func spdkReplica(e dataplane.ReplicaEntry, ip string) *spdkrpc.Replica {
	out := &spdkrpc.Replica{
		Name: e.Name, LvsName: e.DiskName, LvsUuid: e.DiskUUID, SpecSize: e.Size, Ip: ip, PortStart: e.PortStart, PortEnd: e.PortEnd,
		State: e.State, ErrorMsg: e.ErrorMsg, Uuid: e.UUID, Snapshots: map[string]*spdkrpc.Lvol{},
	}
	if e.Lvol.UUID == "" {
		return out
	}
	out.Head = &spdkrpc.Lvol{Name: e.Lvol.Name, Uuid: e.Lvol.UUID, SpecSize: e.Lvol.Size,
		CreationTime: e.Lvol.Created.UTC().Format("2006-01-02T15:04:05Z")}
	for _, s := range e.Lvol.Snapshots {
		out.Snapshots[s.Name] = &spdkrpc.Lvol{Name: s.Name, Uuid: s.UUID, Parent: s.Parent, SpecSize: e.Lvol.Size}
	}
	return out
}

// spdkEngine is a v2 engine as SPDK lists it.
func spdkEngine(e dataplane.EngineEntry, ip string) *spdkrpc.Engine {
	out := &spdkrpc.Engine{
		Name: e.Name, VolumeName: e.Volume, ReplicaAddressMap: e.Replicas, ReplicaModeMap: map[string]spdkrpc.ReplicaMode{},
		State: e.State, ErrorMsg: e.ErrorMsg, TargetIp: ip, TargetPort: e.PortStart, Uuid: e.UUID,
	}
	for name, mode := range e.Modes {
		out.ReplicaModeMap[name] = spdkrpc.ReplicaMode(spdkrpc.ReplicaMode_value[mode])
	}
	return out
}
