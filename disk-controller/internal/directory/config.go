package directory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// ConfigName is the name of the configuration file of a disk, written is its name until it is complete.
const (
	ConfigName = "longhorn-disk.cfg"
	written    = ConfigName + ".new"
)

// mostBytes is the size up to which a configuration file is read; Longhorn's have about 100 bytes.
const mostBytes = 64 << 10

// Config is the configuration file of a disk.
type Config struct {
	DiskName   string `json:"diskName"`
	DiskUUID   string `json:"diskUUID"`
	DiskDriver string `json:"diskDriver"`
	State      string `json:"state"`
}

// readConfig returns the configuration file, nil if there is none. An error never quotes its content, which may be of any file.
func (d *Disk) readConfig() (*Config, error) {
	fd, err := d.beneath(ConfigName, unix.O_RDONLY, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, nil
	case err != nil:
		return nil, explain(err)
	}
	file := os.NewFile(uintptr(fd), ConfigName)
	defer func() { _ = file.Close() }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.New("it is not a regular file")
	}
	if stat.Size > mostBytes {
		return nil, fmt.Errorf("it has %d bytes, which no file of Longhorn has", stat.Size)
	}
	content, err := io.ReadAll(io.LimitReader(file, mostBytes))
	if err != nil {
		return nil, err
	}
	var c Config
	if json.Unmarshal(content, &c) != nil {
		return nil, errors.New("it is not the JSON of a disk")
	}
	if err := uuid.Validate(c.DiskUUID); err != nil || len(c.DiskUUID) != uuidLength {
		return nil, errors.New("its diskUUID is not a UUID")
	}
	return &c, nil
}

// uuidLength is the number of characters of a UUID with hyphens and without braces.
const uuidLength = 36

// Prepare makes a directory a disk: first the directory for replicas, then its configuration file, complete and on the device before it has
// its name. It never replaces a file of that name. A crash leaves the disk unprepared, and the next attempt uses its remains.
func (d *Disk) Prepare(c Config) error {
	if err := unix.Mkdirat(d.fd, replicas, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("making its directory %s: %w", replicas, err)
	}
	content, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", ConfigName, err)
	}
	if err := d.write(content); err != nil {
		return fmt.Errorf("writing %s: %w", ConfigName, err)
	}
	return nil
}

// write writes the configuration file under another name, and gives it its name if no file has that.
func (d *Disk) write(content []byte) error {
	if err := unix.Unlinkat(d.fd, written, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err // such as a directory of that name
	}
	fd, err := d.beneath(written, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
	if err != nil {
		return explain(err)
	}
	file := os.NewFile(uintptr(fd), written)
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = d.name()
	}
	if err != nil {
		_ = unix.Unlinkat(d.fd, written, 0)
		return err
	}
	return unix.Fsync(d.fd)
}

// name gives the written file its name, and fails if a file has it. A file system that cannot do that by renaming does it by a link.
func (d *Disk) name() error {
	err := unix.Renameat2(d.fd, written, d.fd, ConfigName, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	if err := unix.Linkat(d.fd, written, d.fd, ConfigName, 0); err != nil {
		return err
	}
	return unix.Unlinkat(d.fd, written, 0)
}
