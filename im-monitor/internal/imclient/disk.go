package imclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// diskPort is where imrpc.DiskService listens.
const diskPort = 8502

// diskBlockSize is the block size of every v2 disk; no other one is ever sent.
const diskBlockSize = 512

// The states that a server reports of a v2 disk. Only a ready one has a UUID and sizes.
const (
	DiskCreating = "creating"
	DiskReady    = "ready"
	DiskError    = "error"
)

// ErrDiskNotFound: the server's map of disks has no such name, which is so after every start of the server until DiskCreate is called.
var ErrDiskNotFound = errors.New("the instance manager has no such disk")

// ErrDeviceGone: the server has the disk loaded, and its device is gone. DiskCreate of that disk does nothing: the server still has its old
// entry.
var ErrDeviceGone = errors.New("the device of the disk is gone")

// DiskQuery names a v2 disk as a Node's spec does. Driver is an exact one or empty: DiskGet refuses `auto`.
type DiskQuery struct{ Name, Path, Driver string }

// DiskRef names a v2 disk together with the lvstore on it.
type DiskRef struct {
	DiskQuery
	// UUID is that of the lvstore. In CreateDisk an empty one formats an empty device and adopts an lvstore that is there.
	UUID string
}

// Disk is what a server reports about one v2 disk. UUID and Name are those of its lvstore.
type Disk struct {
	ID, UUID, Name, Path, Type, Driver, State string
	// TotalBytes is the size of the disk, FreeBytes what is not allocated of it.
	TotalBytes, FreeBytes int64
}

// DiskReplica is a replica that a server lists on a disk.
type DiskReplica struct {
	// Name is the replica's; DiskName and DiskUUID are those of the lvstore.
	Name, DiskName, DiskUUID string
	// SpecBytes is the replica's size, ActualBytes what is allocated.
	SpecBytes, ActualBytes uint64
}

// Disk asks the server at an address (without a port) about one v2 disk. ErrDiskNotFound reports that the server's map lacks the disk,
// ErrDeviceGone that the device vanished while it was loaded.
// The call blocks while the server works on that disk, so it may take minutes.
func (d *Dialer) Disk(ctx context.Context, address string, query DiskQuery) (Disk, error) {
	var answer *imrpc.Disk
	err := d.callDisk(ctx, "DiskGet", address, func(ctx context.Context, service imrpc.DiskServiceClient) (err error) {
		answer, err = service.DiskGet(ctx, &imrpc.DiskGetRequest{
			DiskType: imrpc.DiskType_block, DiskName: query.Name, DiskPath: query.Path, DiskDriver: query.Driver,
		})
		return diskNotFound(err, query.Name)
	})
	return diskOf(answer), err
}

// CreateDisk asks the server to load one v2 disk. A name that is new to the server is worked on after the answer (`creating`).
func (d *Dialer) CreateDisk(ctx context.Context, address string, disk DiskRef) (Disk, error) {
	var answer *imrpc.Disk
	err := d.callDisk(ctx, "DiskCreate", address, func(ctx context.Context, service imrpc.DiskServiceClient) (err error) {
		answer, err = service.DiskCreate(ctx, &imrpc.DiskCreateRequest{
			DiskType: imrpc.DiskType_block, DiskName: disk.Name, DiskUuid: disk.UUID, DiskPath: disk.Path, BlockSize: diskBlockSize,
			DiskDriver: disk.Driver,
		})
		return err
	})
	return diskOf(answer), err
}

// DeleteDisk takes a v2 disk out of the server's map. The data stays; running replicas on the disk vanish without a question.
func (d *Dialer) DeleteDisk(ctx context.Context, address string, disk DiskRef) error {
	return d.callDisk(ctx, "DiskDelete", address, func(ctx context.Context, service imrpc.DiskServiceClient) error {
		_, err := service.DiskDelete(ctx, &imrpc.DiskDeleteRequest{
			DiskType: imrpc.DiskType_block, DiskName: disk.Name, DiskUuid: disk.UUID, DiskPath: disk.Path, DiskDriver: disk.Driver,
		})
		return err
	})
}

// DiskReplicas lists the replicas on the lvstore of a disk, by name. The answer comes from the cache that InstanceList reads, so it is no
// second witness of an absence.
func (d *Dialer) DiskReplicas(ctx context.Context, address string, disk DiskRef) (map[string]DiskReplica, error) {
	replicas := map[string]DiskReplica{}
	err := d.callDisk(ctx, "DiskReplicaInstanceList", address, func(ctx context.Context, service imrpc.DiskServiceClient) error {
		answer, err := service.DiskReplicaInstanceList(ctx, &imrpc.DiskReplicaInstanceListRequest{
			DiskType: imrpc.DiskType_block, DiskName: disk.Name, DiskDriver: disk.Driver,
		})
		for name, r := range answer.GetReplicaInstances() {
			replicas[name] = DiskReplica{Name: name, DiskName: cut(r.GetDiskName()), DiskUUID: r.GetDiskUuid(), SpecBytes: r.GetSpecSize(),
				ActualBytes: r.GetActualSize()}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// a server lists those of all its disks
	maps.DeleteFunc(replicas, func(_ string, r DiskReplica) bool { return r.DiskUUID != disk.UUID })
	return replicas, nil
}

// DeleteDiskReplica destroys the data of one replica on a disk. The server compares nothing but the replica's name.
func (d *Dialer) DeleteDiskReplica(ctx context.Context, address string, disk DiskRef, replica string) error {
	return d.callDisk(ctx, "DiskReplicaInstanceDelete", address, func(ctx context.Context, service imrpc.DiskServiceClient) error {
		_, err := service.DiskReplicaInstanceDelete(ctx, &imrpc.DiskReplicaInstanceDeleteRequest{
			DiskType: imrpc.DiskType_block, DiskName: disk.Name, DiskUuid: disk.UUID, ReplciaInstanceName: replica, DiskDriver: disk.Driver,
		})
		return err
	})
}

// callDisk makes one call over a connection of its own: disks are asked about rarely. The server may hold a disk's lock for minutes.
func (d *Dialer) callDisk(ctx context.Context, method, address string, call func(context.Context, imrpc.DiskServiceClient) error) error {
	connection, err := d.open(address, diskPort, &refusal{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.options.LifecycleTimeout)
	defer cancel()
	err = call(ctx, imrpc.NewDiskServiceClient(connection))
	if err != nil && !errors.Is(err, ErrDiskNotFound) {
		err = callError(ctx, method, address, err)
	}
	return errors.Join(err, connection.Close())
}

// diskNotFound recognizes a server's `cannot find disk <name>`, which comes with the code Internal. The same words about an lvstore, an
// engine or a replica mean something else, and so does another disk's name.
func diskNotFound(err error, name string) error {
	text := "cannot find disk " + name
	if err == nil || name == "" {
		return err
	}
	message := status.Convert(err).Message()
	for _, gone := range []string{"no disk bdev found with name", "failed to update disk from lvstore"} {
		if strings.Contains(message, gone) {
			return fmt.Errorf("%w: %s", ErrDeviceGone, inWords(message))
		}
	}
	for _, after, found := strings.Cut(message, text); found; _, after, found = strings.Cut(after, text) {
		if after == "" || !strings.ContainsRune(nameCharacters, rune(after[0])) {
			return fmt.Errorf("%w: %s", ErrDiskNotFound, inWords(message))
		}
	}
	return err
}

// nameCharacters may continue a disk's name.
const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func diskOf(answer *imrpc.Disk) Disk {
	return Disk{
		ID: cut(answer.GetId()), UUID: answer.GetUuid(), Name: cut(answer.GetName()), Path: cut(answer.GetPath()),
		Type:   cut(answer.GetType()),
		Driver: cut(answer.GetDriver()), State: cut(answer.GetState()), TotalBytes: answer.GetTotalSize(), FreeBytes: answer.GetFreeSize(),
	}
}
