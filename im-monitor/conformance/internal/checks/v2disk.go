package checks

import (
	"context"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// disk is a loaded disk of a manager.
type disk struct{ name, uuid, key string }

// diskOf is the device that the target has for a manager.
func (k v2kit) deviceOf(on *target.Manager) target.Disk {
	if on == k.Second {
		return k.SecondDisk
	}
	return k.Disk
}

// key is the name under which a disk is created.
func (k v2kit) key(on *target.Manager) string {
	if on == k.Second {
		return k.RunName("disk-2")
	}
	return k.RunName("disk-1")
}

// disk loads the disk of a manager, unless it is: by its UUID where that is known to this run, else as a new one.
func (k v2kit) disk(on *target.Manager) disk {
	key, device := k.key(on), k.deviceOf(on)
	seen, err := k.diskGet(on, key, device)
	if err != nil && strings.Contains(err.Error(), "cannot find disk") {
		_, err = k.diskCreate(on, key, k.Recall(key), device)
		k.OK(err, "creating disk %s", key)
		k.AtEnd(key, func(ctx context.Context) error { return removeDisk(ctx, on, key, device) })
		seen = k.diskReady(on, key, device)
		k.foreign(on)
	}
	if err == nil && seen.GetState() != "ready" {
		seen = k.diskReady(on, key, device)
	}
	k.Remember(key, seen.GetUuid())
	return disk{name: seen.GetName(), uuid: seen.GetUuid(), key: key}
}

// foreign ends the check when a loaded disk shows replicas that are not of this run.
func (k v2kit) foreign(on *target.Manager) {
	k.Sleep(k.Observation)
	for name := range list(k.T, on) {
		if !strings.HasPrefix(name, k.RunName("")) {
			k.NotRun("the disk of %s holds replica %s, which is not of this run: give another device", on.Host, name)
		}
	}
}

// diskGet asks for a disk with the exact driver.
func (k v2kit) diskGet(on *target.Manager, name string, d target.Disk) (*imrpc.Disk, error) {
	return on.Disk.DiskGet(k.Context(), &imrpc.DiskGetRequest{DiskType: imrpc.DiskType_block, DiskName: name, DiskPath: d.Device,
		DiskDriver: d.Driver})
}

func (k v2kit) diskCreate(on *target.Manager, name, uuid string, d target.Disk) (*imrpc.Disk, error) {
	return on.Disk.DiskCreate(k.Context(), &imrpc.DiskCreateRequest{DiskType: imrpc.DiskType_block, DiskName: name, DiskUuid: uuid,
		DiskPath:  d.Device,
		BlockSize: 512, DiskDriver: d.Driver})
}

func (k v2kit) diskDelete(on *target.Manager, name, uuid string, d target.Disk) error {
	_, err := on.Disk.DiskDelete(k.Context(), &imrpc.DiskDeleteRequest{DiskType: imrpc.DiskType_block, DiskName: name, DiskUuid: uuid,
		DiskPath:   d.Device,
		DiskDriver: d.Driver})
	return err
}

// diskReady waits until a disk is ready.
func (k v2kit) diskReady(on *target.Manager, name string, d target.Disk) *imrpc.Disk {
	return k.diskIn(on, name, d, "ready")
}

// diskIn waits until a disk is in a state.
func (k v2kit) diskIn(on *target.Manager, name string, d target.Disk, state string) *imrpc.Disk {
	var seen *imrpc.Disk
	k.Eventually("disk "+name+" is "+state, func() (bool, string) {
		var err error
		if seen, err = k.diskGet(on, name, d); err != nil {
			return false, err.Error()
		}
		return seen.GetState() == state, "state " + seen.GetState()
	})
	return seen
}

// removeDisk takes a disk out of the server's map; its data stays.
func removeDisk(ctx context.Context, on *target.Manager, name string, d target.Disk) error {
	_, err := on.Disk.DiskDelete(ctx, &imrpc.DiskDeleteRequest{DiskType: imrpc.DiskType_block, DiskName: name, DiskPath: d.Device,
		DiskDriver: d.Driver})
	if status.Code(err) == codes.Unimplemented {
		return nil
	}
	return err
}
