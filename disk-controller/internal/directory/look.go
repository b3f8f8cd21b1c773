package directory

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Sight describes the directory of a disk.
type Sight struct {
	// Config is its configuration file; nil: it has none.
	Config *Config
	// Unreadable is why the configuration file cannot be used; "" if it can, or if there is none.
	Unreadable string
	// Replicas reports whether the directory replicas holds anything.
	Replicas bool
	// ReadOnly reports whether the file system is mounted read-only.
	ReadOnly bool
	// Filesystem identifies the file system: equal on two disks of one file system. Type is its type.
	Filesystem, Type string
	// Maximum and Available are bytes.
	Maximum, Available int64
}

// Look reads a disk: its configuration file, and the figures of its file system.
func (d *Disk) Look() (Sight, error) {
	var s Sight
	if err := d.measure(&s); err != nil {
		return s, err
	}
	var err error
	if s.Config, err = d.readConfig(); err != nil {
		s.Unreadable = err.Error()
	}
	s.Replicas, err = d.hasReplicas()
	return s, err
}

// measure fills in what statfs reports.
func (d *Disk) measure(s *Sight) error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(d.fd, &fs); err != nil {
		return fmt.Errorf("measuring its file system: %w", err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(d.fd, &stat); err != nil {
		return fmt.Errorf("reading its directory: %w", err)
	}
	s.Filesystem = filesystemID(fs.Fsid.Val, stat.Dev)
	s.Type, s.ReadOnly = typeName(int64(fs.Type)), fs.Flags&unix.ST_RDONLY != 0
	s.Maximum, s.Available = int64(fs.Blocks)*fs.Bsize, int64(fs.Bfree)*fs.Bsize
	return nil
}

// filesystemID returns the ID of a file system as Longhorn writes it; if a file system has none, the number of its device.
func filesystemID(id [2]int32, device uint64) string {
	if id == [2]int32{} {
		return fmt.Sprintf("%012x", device)
	}
	return fmt.Sprintf("%012x", uint64(uint32(id[0]))<<32|uint64(uint32(id[1])))
}

// typeNames are the names of file systems by their magic numbers.
var typeNames = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext2/ext3", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
	unix.NFS_SUPER_MAGIC: "nfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", 0x2fc12fc1: "zfs", unix.F2FS_SUPER_MAGIC: "f2fs",
}

// typeName returns the name of a file system as coreutils writes it, else its magic number.
func typeName(magic int64) string {
	if name, known := typeNames[magic]; known {
		return name
	}
	return fmt.Sprintf("0x%x", magic)
}

// replicas is the directory of the replicas on a disk.
const replicas = "replicas"

// hasReplicas reports whether the directory of replicas holds anything.
func (d *Disk) hasReplicas() (bool, error) {
	fd, err := d.beneath(replicas, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("opening its directory %s: %w", replicas, explain(err))
	}
	directory := os.NewFile(uintptr(fd), replicas)
	defer func() { _ = directory.Close() }()
	names, err := directory.Readdirnames(1)
	if len(names) > 0 {
		return true, nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("reading its directory %s: %w", replicas, err)
	}
	return false, nil
}

// explain says in words why the kernel refuses a path beneath a disk.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return errors.New("it is a symbolic link, which is not followed")
	case errors.Is(err, unix.EXDEV):
		return errors.New("it is a mount of another file system, which is not entered")
	case errors.Is(err, unix.ENOTDIR):
		return errors.New("it is not a directory, or is a symbolic link, which is not followed")
	case errors.Is(err, unix.EROFS):
		return errors.New("its file system is read-only")
	case errors.Is(err, unix.EBUSY):
		return errors.New("another file system is mounted there")
	}
	return err
}
