package serve

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// diskService is the v2 disks of an instance manager.
type diskService struct {
	imrpc.UnimplementedDiskServiceServer
	servers *Servers
}

// Sizes that an lvstore counts in.
const (
	blockBytes   = 512
	clusterBytes = 1 << 20
)

// DiskCreate takes a disk in and works behind its answer. Asked again for one that is being worked on, it waits for its end.
func (s *diskService) DiskCreate(ctx context.Context, in *imrpc.DiskCreateRequest) (*imrpc.Disk, error) {
	server, err := diskServer(ctx, in.GetDiskType())
	if err != nil {
		return nil, err
	}
	if err := wait(server, server.DiskBusy(in.GetDiskName(), true)); err != nil {
		return nil, err
	}
	disk, err := server.DiskCreate(dataplane.DiskRequest{Name: in.GetDiskName(), Path: in.GetDiskPath(), UUID: in.GetDiskUuid(),
		Driver: in.GetDiskDriver()})
	return wireDisk(disk), failure(err)
}

// DiskGet is one v2 disk by its name. It waits while that disk is being worked on.
func (s *diskService) DiskGet(ctx context.Context, in *imrpc.DiskGetRequest) (*imrpc.Disk, error) {
	server, err := diskServer(ctx, in.GetDiskType())
	if err != nil {
		return nil, err
	}
	if err := wait(server, server.DiskBusy(in.GetDiskName(), false)); err != nil {
		return nil, err
	}
	disk, err := server.DiskGet(dataplane.DiskRequest{Name: in.GetDiskName(), Path: in.GetDiskPath(), Driver: in.GetDiskDriver()})
	return wireDisk(disk), failure(err)
}

// DiskDelete takes a disk out of the server's map.
func (s *diskService) DiskDelete(ctx context.Context, in *imrpc.DiskDeleteRequest) (*emptypb.Empty, error) {
	server, err := diskServer(ctx, in.GetDiskType())
	if err != nil {
		return nil, err
	}
	if err := wait(server, server.DiskBusy(in.GetDiskName(), false)); err != nil {
		return nil, err
	}
	err = server.DiskDelete(dataplane.DiskRequest{Name: in.GetDiskName(), Path: in.GetDiskPath(), UUID: in.GetDiskUuid(),
		Driver: in.GetDiskDriver()})
	return &emptypb.Empty{}, failure(err)
}

// DiskReplicaInstanceList is all replicas that the server lists, whatever disk was asked for.
func (s *diskService) DiskReplicaInstanceList(ctx context.Context,
	in *imrpc.DiskReplicaInstanceListRequest) (*imrpc.DiskReplicaInstanceListResponse, error) {
	server, err := diskServer(ctx, in.GetDiskType())
	if err != nil {
		return nil, err
	}
	lvols, err := server.ReplicasOnDisks()
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.DiskReplicaInstanceListResponse{ReplicaInstances: map[string]*imrpc.ReplicaInstance{}}
	for _, l := range lvols {
		out.ReplicaInstances[l.Name] = &imrpc.ReplicaInstance{Name: l.Name, DiskName: l.DiskName, DiskUuid: l.DiskUUID, SpecSize: l.Size}
	}
	return out, nil
}

// DiskReplicaInstanceDelete destroys a replica's data by its name alone.
func (s *diskService) DiskReplicaInstanceDelete(ctx context.Context, in *imrpc.DiskReplicaInstanceDeleteRequest) (*emptypb.Empty, error) {
	server, err := diskServer(ctx, in.GetDiskType())
	if err != nil {
		return nil, err
	}
	err = server.DiskReplicaDelete(dataplane.DiskRequest{Name: in.GetDiskName(), UUID: in.GetDiskUuid()}, in.GetReplciaInstanceName())
	return &emptypb.Empty{}, failure(err)
}

// DiskHealthGet reports nvme disks only.
func (s *diskService) DiskHealthGet(ctx context.Context, in *imrpc.DiskHealthGetRequest) (*imrpc.DiskHealthGetResponse, error) {
	server, err := diskServer(ctx, in.GetDiskType())
	if err != nil {
		return nil, err
	}
	disk, err := server.DiskGet(dataplane.DiskRequest{Name: in.GetDiskName(), Driver: in.GetDiskDriver()})
	if err != nil {
		return nil, failure(err)
	}
	if disk.Driver != dataplane.DriverNVMe {
		return nil, status.Errorf(codes.Unimplemented, "the health of disks with driver %s is not implemented", disk.Driver)
	}
	return &imrpc.DiskHealthGetResponse{ModelNumber: "simulated", SerialNumber: in.GetDiskName(), Traddr: disk.Path, TemperatureCelsius: 30,
		AvailableSparePercentage: 100, AvailableSpareThresholdPercentage: 10}, nil
}

// diskServer is the server that a call is for; there are block disks only.
func diskServer(ctx context.Context, kind imrpc.DiskType) (*dataplane.Server, error) {
	if kind != imrpc.DiskType_block {
		return nil, status.Error(codes.Unimplemented, "filesystem disks are not implemented")
	}
	return serverOf(ctx)
}

// wait waits for work on a disk. The caller may leave meanwhile: a server continues.
func wait(server *dataplane.Server, busy <-chan struct{}) error {
	if busy == nil {
		return nil
	}
	select {
	case <-busy:
		return nil
	case <-server.Done():
		return status.Error(codes.Unavailable, "the instance manager is gone")
	}
}

// waitTurn waits while a v2 server executes no call because a disk is being created. The caller may leave meanwhile: the call is executed
// all the same. What does not reach SPDK continues.
func waitTurn(server *dataplane.Server, method string) error {
	switch method {
	case "/imrpc.InstanceService/VersionGet", "/imrpc.InstanceService/InstanceLog", "/imrpc.ProxyEngineService/ServerVersionGet":
		return nil
	}
	for busy := server.Busy(); busy != nil; busy = server.Busy() {
		if err := wait(server, busy); err != nil {
			return err
		}
	}
	switch method {
	case "/imrpc.InstanceService/InstanceList", "/spdkrpc.SPDKService/EngineList":
		return wait(server, server.Listing())
	}
	return nil
}

func wireDisk(d dataplane.DiskInfo) *imrpc.Disk {
	out := &imrpc.Disk{State: d.State}
	if d.State != dataplane.DiskReady {
		return out
	}
	out.Id, out.Uuid, out.Path, out.Type, out.Driver, out.Name = d.ID, d.UUID, d.Path, "block", d.Driver, d.Name
	out.TotalSize, out.FreeSize, out.TotalBlocks, out.FreeBlocks = d.Total, d.Free, d.Total/blockBytes, d.Free/blockBytes
	out.BlockSize, out.ClusterSize = blockBytes, clusterBytes
	return out
}
