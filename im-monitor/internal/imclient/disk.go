package imclient

import (
	"context"
	"errors"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// diskPort is where imrpc.DiskService listens.
const diskPort = 8502

// DiskQuery names a v2 disk as a Node's spec does.
type DiskQuery struct{ Name, Path, Driver string }

// Disk is what a server tells about one v2 disk. UUID is that of its lvstore.
type Disk struct {
	UUID, Name, Path, Type, Driver, State string
	// TotalBytes is the size of the disk, FreeBytes what is not allocated of it.
	TotalBytes, FreeBytes int64
}

// Disk asks the server at an address (without a port) about one v2 disk, over a connection of its own: disks are asked for
// rarely. ErrNotFound says that the server does not have it.
func (d *Dialer) Disk(ctx context.Context, address string, query DiskQuery) (Disk, error) {
	connection, err := d.open(address, diskPort)
	if err != nil {
		return Disk{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.options.ListTimeout)
	defer cancel()
	answer, err := imrpc.NewDiskServiceClient(connection).DiskGet(ctx, &imrpc.DiskGetRequest{
		DiskType: imrpc.DiskType_block, DiskName: query.Name, DiskPath: query.Path, DiskDriver: query.Driver,
	})
	err = errors.Join(callError(ctx, "DiskGet", address, err), connection.Close())
	if err != nil {
		return Disk{}, err
	}
	return Disk{
		UUID: answer.GetUuid(), Name: answer.GetName(), Path: answer.GetPath(), Type: answer.GetType(), Driver: answer.GetDriver(),
		State: answer.GetState(), TotalBytes: answer.GetTotalSize(), FreeBytes: answer.GetFreeSize(),
	}, nil
}
