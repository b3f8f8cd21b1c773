package imclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/volumesize"
)

// CreateRequest names the one instance that must be made, and of what. It has a Process (v1) or an SPDK part (v2).
type CreateRequest struct {
	Name, Type, DataEngine, Volume string
	// PortCount is how many ports it gets; a v2 server refuses 0. PortArgs are appended to a v1 process's arguments, each with the port.
	PortCount int32
	PortArgs  []string
	Process   *Process
	SPDK      *SPDK
	// EngineName and TargetAddress (ip:port) are what an engine-frontend connects to.
	EngineName, TargetAddress string
}

// Process is a v1 instance.
type Process struct {
	Binary string
	Args   []string
}

// SPDK is a v2 instance.
type SPDK struct {
	// Replicas are the addresses (ip:port) of an engine's replicas by name.
	Replicas map[string]string
	// DiskName and DiskUUID report where a replica's data lies.
	DiskName, DiskUUID string
	Size               volumesize.Backend
	// Frontend is the wire's word; empty exports nothing.
	Frontend         string
	SalvageRequested bool
	BackingImage     string
	// UblkQueueDepth, UblkNumberOfQueue and IOQueues of a frontend; 0 is the server's default.
	UblkQueueDepth, UblkNumberOfQueue, IOQueues int32
	SnapshotMaxCount                            int32
}

// SwitchOverRequest moves a v2 engine-frontend to another engine's target.
type SwitchOverRequest struct {
	Name, EngineName string
	// TargetAddress is the new target's ip:port.
	TargetAddress string
	// Phase is preparing, switching or promoting; each may be repeated.
	Phase string
}

// Create asks for one new instance. Its success proves nothing: what fails inside is listed in state error. ErrAlreadyExists reports that
// the name is taken, perhaps by an earlier call of ours. It may take as long as creationTimeout.
func (c *Conn) Create(ctx context.Context, request CreateRequest) error {
	if request.Name == "" || request.Type == "" || (request.Process == nil) == (request.SPDK == nil) {
		return &CallError{Method: "InstanceCreate", Address: c.address, Kind: ErrRefused,
			Err: fmt.Errorf("creating %s %q: a name, a type and either a process or an SPDK part are needed", request.Type, request.Name)}
	}
	ctx, cancel := context.WithTimeout(ctx, c.creationTimeout(request))
	defer cancel()
	spec := &imrpc.InstanceSpec{
		Name: request.Name, Type: request.Type, DataEngine: dataEngines[request.DataEngine], VolumeName: request.Volume,
		PortCount: request.PortCount, PortArgs: request.PortArgs, EngineName: request.EngineName, TargetAddress: request.TargetAddress,
	}
	if p := request.Process; p != nil {
		spec.ProcessInstanceSpec = &imrpc.ProcessInstanceSpec{Binary: p.Binary, Args: p.Args}
	}
	if s := request.SPDK; s != nil {
		spec.SpdkInstanceSpec = &imrpc.SpdkInstanceSpec{
			ReplicaAddressMap: s.Replicas, DiskName: s.DiskName, DiskUuid: s.DiskUUID, Size: uint64(max(s.Size, 0)), Frontend: s.Frontend,
			SalvageRequested: s.SalvageRequested, BackingImageName: s.BackingImage, UblkQueueDepth: s.UblkQueueDepth,
			UblkNumberOfQueue: s.UblkNumberOfQueue, NvmeTcpNrIoQueues: s.IOQueues, SnapshotMaxCount: s.SnapshotMaxCount,
		}
	}
	_, err := imrpc.NewInstanceServiceClient(c.instances).InstanceCreate(ctx, &imrpc.InstanceCreateRequest{Spec: spec})
	return callError(ctx, "InstanceCreate", c.address, err)
}

// deadReplicaTime is how long a v2 server tries to reach each replica of a new engine that does not answer. A frontend whose target does
// not answer takes the server 119 s. LifecycleTimeout covers that, and coveredReplicas dead replicas.
const (
	deadReplicaTime = 30 * time.Second
	coveredReplicas = 4
)

// creationTimeout returns how long a creation may take, none of an engine's replicas answering.
func (c *Conn) creationTimeout(request CreateRequest) time.Duration {
	if request.SPDK == nil {
		return c.options.LifecycleTimeout
	}
	return c.options.LifecycleTimeout + time.Duration(max(len(request.SPDK.Replicas)-coveredReplicas, 0))*deadReplicaTime
}

// SwitchOver asks for one phase of a switch-over. Its answer is the only word on it: a list shows nothing before promoting is done. Any
// error may leave a part of the phase done, also ErrRefused.
func (c *Conn) SwitchOver(ctx context.Context, request SwitchOverRequest) error {
	if request.Name == "" || request.EngineName == "" || request.TargetAddress == "" || request.Phase == "" {
		return &CallError{Method: "InstanceSwitchOverTarget", Address: c.address, Kind: ErrRefused,
			Err: errors.New("a frontend, an engine, its address and a phase are needed")}
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.LifecycleTimeout)
	defer cancel()
	_, err := imrpc.NewInstanceServiceClient(c.instances).InstanceSwitchOverTarget(ctx, &imrpc.InstanceSwitchOverTargetRequest{
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, Name: request.Name, Type: typeFrontend,
		EngineName: request.EngineName, TargetAddress: request.TargetAddress, SwitchoverPhase: request.Phase,
	})
	return callError(ctx, "InstanceSwitchOverTarget", c.address, err)
}
