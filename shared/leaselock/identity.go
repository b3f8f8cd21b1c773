package leaselock

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/uuid"

	"drover.dev/drover/shared/filelock"
)

// Identity names one run of a process as a holder of leases.
type Identity struct {
	// Name is unique for each run: <pod name>_<pod UID>_<random>, outside pods <host>_<random>.
	Name string
	// own is the part that all runs of one pod share; empty outside pods.
	own string
	// dead is the run that held the lock file before this one.
	dead string
	file *os.File
}

// Place is where a process runs.
type Place struct {
	// PodName and PodUID are those of the pod, from the downward API; both empty outside pods.
	PodName, PodUID string
	// Directory is where lock files are, used outside pods only; empty: nowhere, so that no earlier run is known to be dead.
	Directory string
	// Key names the lease among all leases of all API servers that this machine may have to do with.
	Key string
}

// NewIdentity returns the identity of this run. The error explains why no earlier run can be recognised; the identity is usable
// nevertheless.
func NewIdentity(place Place) (*Identity, error) {
	random := string(uuid.NewUUID())
	if place.PodName != "" && place.PodUID != "" {
		own := place.PodName + "_" + place.PodUID + "_"
		return &Identity{Name: own + random, own: own}, nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	i := &Identity{Name: host + "_" + random}
	if place.Directory == "" {
		return i, nil
	}
	return i, i.lock(place)
}

// lock takes the lock file and reads who had it before. The operating system drops a lock when its holder dies, so the run that wrote the
// file is dead once this process has the lock.
func (i *Identity) lock(place Place) error {
	if err := os.MkdirAll(place.Directory, 0o700); err != nil {
		return fmt.Errorf("creating the directory of lock files: %w", err)
	}
	file, err := filelock.Try(filepath.Join(place.Directory, fileName(place.Key)))
	if errors.Is(err, filelock.ErrHeld) {
		return nil // an earlier run lives, or a standby has it
	}
	if err != nil {
		return err
	}
	before, err := io.ReadAll(io.LimitReader(file, 1<<10))
	if err != nil {
		return errors.Join(fmt.Errorf("reading the lock file %s: %w", file.Name(), err), file.Close())
	}
	if err := errors.Join(file.Truncate(0), writeAt(file, i.Name)); err != nil {
		return errors.Join(fmt.Errorf("writing the lock file %s: %w", file.Name(), err), file.Close())
	}
	i.file, i.dead = file, strings.TrimSpace(string(before))
	return nil
}

// fileName is the same for every run that wants the same lease.
func fileName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%x.lock", sum[:12])
}

// Close releases the lock file for the next run, since this one has ended.
func (i *Identity) Close() error {
	if i.file == nil {
		return nil
	}
	return i.file.Close()
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text+"\n"), 0)
	return err
}

// Dead reports whether a holder of a lease is an earlier run of this process that is proven dead: an earlier container of the same pod, or,
// outside pods, the run whose lock file this one took over.
func (i *Identity) Dead(holder string) bool {
	if holder == "" || holder == i.Name {
		return false
	}
	return i.own != "" && strings.HasPrefix(holder, i.own) || i.dead != "" && holder == i.dead
}
