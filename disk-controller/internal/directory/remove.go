package directory

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"drover.dev/drover/shared/replicadata"
)

// removing and the UID of the object that names a directory are the name of the directory while it is removed: no process opens it any
// more, and an attempt that is interrupted is continued by the next one.
const removing = ".removing-"

// deepest is how many directories lie in each other below the directory of a replica, which has none.
const deepest = 8

// ErrOtherDisk reports that a directory is not the disk that was meant.
var ErrOtherDisk = errors.New("it is not the recorded disk")

// ErrMoved reports that a directory was replaced by another one while it was looked at.
var ErrMoved = errors.New("another directory took its place in the meantime")

// Remove removes the directory of a replica from the disk with a UUID, and reports whether there was anything of it. It first gives it
// another name, and then unlinks everything beneath: no symbolic link is followed, and no other mount is entered. Right before the first
// change it asks whether it still may.
func (d *Disk) Remove(disk, name, uid string, stillMay func() error) (bool, error) {
	if err := replicadata.CheckName(name); err != nil {
		return false, fmt.Errorf("%q is not the directory of a replica: %w", name, err)
	}
	if uuid.Validate(uid) != nil || len(uid) != uuidLength {
		return false, fmt.Errorf("%q is not the UID of an object", uid)
	}
	if err := d.mustBe(disk); err != nil {
		return false, err
	}
	fd, err := d.beneath(replicas, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("opening its directory %s: %w", replicas, explain(err))
	}
	all := &Disk{fd: fd, interrupt: d.interrupt}
	defer all.Close()
	left, err := all.finish(removing+uid, stillMay)
	if err != nil {
		return left, err
	}
	there, err := all.take(name, removing+uid, stillMay)
	if err != nil || !there {
		return left || there, err
	}
	return all.finish(removing+uid, stillMay)
}

// mustBe fails unless the directory is the disk with a UUID, according to its configuration file.
func (d *Disk) mustBe(disk string) error {
	config, err := d.readConfig()
	switch {
	case err != nil:
		return fmt.Errorf("%w: its file %s cannot be used: %w", ErrOtherDisk, ConfigName, err)
	case config == nil:
		return fmt.Errorf("%w: it has no file %s", ErrOtherDisk, ConfigName)
	case disk == "" || config.DiskUUID != disk:
		return fmt.Errorf("%w: it has the UUID %s", ErrOtherDisk, config.DiskUUID)
	}
	return nil
}

// take gives a directory its name under which it is removed, and reports whether there was one.
func (d *Disk) take(name, mark string, stillMay func() error) (bool, error) {
	seen, err := d.identify(name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case err != nil:
		return true, fmt.Errorf("opening %s: %w", name, explain(err))
	}
	if err := stillMay(); err != nil {
		return true, err
	}
	if err := d.rename(name, mark); err != nil {
		return true, fmt.Errorf("renaming %s: %w", name, explain(err))
	}
	if taken, err := d.identify(mark); err != nil || taken != seen {
		return true, errors.Join(fmt.Errorf("renaming %s: %w", name, ErrMoved), err, d.rename(mark, name))
	}
	return true, d.sync()
}

// identity is what differs between directories of a node.
type identity struct{ device, inode uint64 }

// identify opens a directory beneath, without reading it.
func (d *Disk) identify(name string) (identity, error) {
	fd, err := d.beneath(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return identity{}, err
	}
	defer func() { _ = unix.Close(fd) }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return identity{}, err
	}
	return identity{stat.Dev, stat.Ino}, nil
}

// rename never replaces anything. A file system that cannot promise that replaces an empty directory at most.
func (d *Disk) rename(from, to string) error {
	return d.change("rename", func() error {
		err := unix.Renameat2(d.fd, from, d.fd, to, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EINVAL) {
			return unix.Renameat(d.fd, from, d.fd, to)
		}
		return err
	})
}

// finish unlinks a directory that was taken, and reports whether there was one.
func (d *Disk) finish(mark string, stillMay func() error) (bool, error) {
	fd, err := d.beneath(mark, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case err != nil:
		return true, fmt.Errorf("opening %s: %w", mark, explain(err))
	}
	taken := &Disk{fd: fd, interrupt: d.interrupt}
	defer taken.Close()
	if err := stillMay(); err != nil {
		return true, err
	}
	if err := taken.empty(deepest); err != nil {
		return true, fmt.Errorf("removing %s: %w", mark, err)
	}
	if err := d.unlink(mark, unix.AT_REMOVEDIR); err != nil {
		return true, fmt.Errorf("removing %s: %w", mark, explain(err))
	}
	return true, d.sync()
}

// empty unlinks everything in a directory. What others add meanwhile is unlinked as well.
func (d *Disk) empty(depth int) error {
	for last := ""; ; {
		names, err := d.names()
		if err != nil || len(names) == 0 {
			return err
		}
		if names[0] == last {
			return fmt.Errorf("%s: its file system lists it after it was removed", last)
		}
		last = names[0]
		for _, name := range names {
			if err := d.unlinkAny(name, depth); err != nil {
				return fmt.Errorf("%s: %w", name, explain(err))
			}
		}
	}
}

// names returns the first names in a directory, each time from its beginning.
func (d *Disk) names() ([]string, error) {
	const most = 256
	fd, err := d.beneath(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, explain(err)
	}
	list := os.NewFile(uintptr(fd), ".")
	defer func() { _ = list.Close() }()
	names, err := list.Readdirnames(most)
	if errors.Is(err, io.EOF) {
		return names, nil
	}
	return names, err
}

// unlinkAny unlinks a file, a link itself, or a directory with all that is in it.
func (d *Disk) unlinkAny(name string, depth int) error {
	err := d.unlink(name, 0)
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	if depth == 0 {
		return errors.New("directories lie too deep in each other for a replica")
	}
	fd, err := d.beneath(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	inner := &Disk{fd: fd, interrupt: d.interrupt}
	defer inner.Close()
	if err := inner.empty(depth - 1); err != nil {
		return err
	}
	return d.unlink(name, unix.AT_REMOVEDIR)
}

// unlink unlinks one name; one that is gone already is no error.
func (d *Disk) unlink(name string, flags int) error {
	return d.change("unlink", func() error {
		if err := unix.Unlinkat(d.fd, name, flags); !errors.Is(err, unix.ENOENT) {
			return err
		}
		return nil
	})
}

func (d *Disk) sync() error { return d.change("fsync", func() error { return unix.Fsync(d.fd) }) }

// change does one system call that writes. A test may end the process before or after it.
func (d *Disk) change(call string, do func() error) error {
	if d.interrupt == nil {
		return do()
	}
	return d.interrupt(call, do)
}
