package directory

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Root is the root of the host as this process sees it.
type Root struct {
	path      string
	interrupt Interrupt
}

// Interrupt does one system call that writes, or ends the work before or after it, as a crash does. Only tests have one.
type Interrupt func(call string, do func() error) error

// At returns the root of a host that is mounted at a path.
func At(path string) Root { return Root{path: path} }

// Disk is the open directory of a disk.
type Disk struct {
	fd        int
	interrupt Interrupt
}

// Interrupted returns the same root with a function that may end removals at each system call that writes.
func (r Root) Interrupted(by Interrupt) Root {
	r.interrupt = by
	return r
}

// ErrMissing reports that there is no directory at the path of a disk.
var ErrMissing = errors.New("there is no such directory")

// CheckPath returns why a path cannot be the directory of a disk, or nil.
func CheckPath(name string) error {
	switch {
	case !strings.HasPrefix(name, "/"):
		return errors.New("it is not absolute: write it from the root of the node, such as /var/lib/longhorn")
	case path.Clean(name) != strings.TrimSuffix(name, "/"):
		return errors.New("it has empty parts, . or ..: write it without them, such as /var/lib/longhorn")
	}
	return nil
}

// Open opens the directory of a disk. Symbolic links above it have the same destination as on the host, and never lead out of its root.
func (r Root) Open(name string) (*Disk, error) {
	if err := CheckPath(name); err != nil {
		return nil, err
	}
	root, err := unix.Open(r.path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the root of the host: %w", err)
	}
	defer func() { _ = unix.Close(root) }()
	fd, err := open(root, strings.Trim(name, "/"), unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, ErrMissing
	case err != nil:
		return nil, fmt.Errorf("opening it: %w", err)
	}
	return &Disk{fd: fd, interrupt: r.interrupt}, nil
}

// Close closes the directory.
func (d *Disk) Close() { _ = unix.Close(d.fd) }

// beneath opens a name in the directory itself: no symbolic link, no other mount, and no file that waits for a peer, such as a pipe.
func (d *Disk) beneath(name string, flags uint64, mode uint64) (int, error) {
	return open(d.fd, name, unix.OpenHow{Flags: flags | unix.O_NOFOLLOW | unix.O_NONBLOCK, Mode: mode,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV})
}

// open repeats an attempt that a rename on the host disturbed: the kernel cannot prove then that the path stays inside.
func open(at int, name string, how unix.OpenHow) (int, error) {
	const attempts = 16
	how.Flags |= unix.O_CLOEXEC
	for i := 0; ; i++ {
		fd, err := unix.Openat2(at, name, &how)
		if i < attempts && (errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)) {
			continue
		}
		return fd, err
	}
}
