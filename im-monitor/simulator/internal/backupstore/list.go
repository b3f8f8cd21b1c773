package backupstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Volume is the record of a volume in a target, which each backup and each removal writes again.
type Volume struct {
	Name           string            `json:"name"`
	Size           uint64            `json:"size"`
	Labels         map[string]string `json:"labels,omitempty"`
	Created        time.Time         `json:"created"`
	LastBackupName string            `json:"lastBackupName"`
	LastBackupAt   time.Time         `json:"lastBackupAt"`
}

func (s Store) record(volume string) string {
	return filepath.Join(s.directory, "volumes", url.PathEscape(volume), "volume.json")
}

// RecordPath is the path of a volume's record as messages name it.
func RecordPath(volume string) string { return "volumes/" + volume + "/volume.cfg" }

// Volumes returns the names of the volumes; a directory that is missing, or cannot be read, has none.
func (s Store) Volumes() []string { return names(filepath.Join(s.directory, "volumes"), "") }

// Backups returns the names of a volume's backups; a directory that is missing, or cannot be read, has none.
func (s Store) Backups(volume string) []string { return names(s.of(volume), ".json") }

func names(directory, ending string) []string {
	list, err := os.ReadDir(directory)
	if err != nil {
		return nil
	}
	var out []string
	for _, entry := range list {
		name, is := strings.CutSuffix(entry.Name(), ending)
		if plain, err := url.PathUnescape(name); is && err == nil {
			out = append(out, plain)
		}
	}
	return out
}

// Record reads the record of a volume, and when it was written.
func (s Store) Record(volume string) (v Volume, at time.Time, err error) {
	info, err := os.Stat(s.record(volume))
	if err != nil {
		return Volume{}, time.Time{}, err
	}
	data, err := os.ReadFile(s.record(volume))
	if err != nil {
		return Volume{}, time.Time{}, err
	}
	return v, info.ModTime(), json.Unmarshal(data, &v)
}

// note writes the record of a volume, after a backup was added, or with an empty one after one was removed.
func (s Store) note(volume string, added Backup) error {
	v, _, err := s.Record(volume)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the record of volume %s: %w", volume, err)
	}
	if err != nil {
		v = Volume{Name: volume, Created: added.Created}
	}
	if added.Name != "" {
		v.Size, v.Labels, v.LastBackupName, v.LastBackupAt = added.Size, added.Labels, added.Name, added.Created
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the record of volume %s: %w", volume, err)
	}
	return replace(s.record(volume), data)
}

// replace writes a file as a whole.
func replace(path string, data []byte) error {
	if err := os.WriteFile(path+".partial", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".partial", path)
}

// Begin records that a backup is being taken: it is listed from then on, and is no backup yet.
func (s Store) Begin(b Backup) error {
	b.Created, b.Blocks, b.Checksum = time.Time{}, nil, ""
	return s.put(b)
}

// Read reads a backup without its checksum.
func (s Store) Read(volume, name string) (b Backup, err error) {
	data, err := os.ReadFile(s.file(volume, name))
	if err != nil {
		return Backup{}, err
	}
	return b, json.Unmarshal(data, &b)
}

// Remove removes a backup; one that is missing is success. The last backup of the volume is then the newest of the others.
func (s Store) Remove(volume, name string) error {
	if err := os.Remove(s.file(volume, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	v, _, err := s.Record(volume)
	if err != nil {
		return fmt.Errorf("cannot find volume in backupstore: cannot find %s in backupstore", RecordPath(volume))
	}
	if v.LastBackupName != name {
		return s.note(volume, Backup{})
	}
	var newest Backup
	for _, other := range s.Backups(volume) {
		if b, err := s.Read(volume, other); err == nil && b.Created.After(newest.Created) {
			newest = b
		}
	}
	v.LastBackupName, v.LastBackupAt = newest.Name, newest.Created
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return replace(s.record(volume), data)
}

// RemoveVolume removes all of a volume; one that is missing is success.
func (s Store) RemoveVolume(volume string) error {
	return os.RemoveAll(filepath.Join(s.directory, "volumes", url.PathEscape(volume)))
}

// Fault is how a target misbehaves, as its file engine-fault says; empty: it does not.
func (s Store) Fault() string {
	data, err := os.ReadFile(filepath.Join(s.directory, FaultFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// FaultFile is the file in a target that makes engine commands fail there.
const FaultFile = "engine-fault"
