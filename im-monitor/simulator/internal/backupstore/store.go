// Package backupstore keeps backups as files: one JSON file per backup, complete, with a checksum that a reader holds it to. A target with
// the scheme file is that directory; any other target is a directory of its own below the one that the simulator was given.
package backupstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Backup is the content of one snapshot.
type Backup struct {
	Name     string            `json:"name"`
	Volume   string            `json:"volume"`
	Snapshot string            `json:"snapshot"`
	Size     uint64            `json:"size"`
	Created  time.Time         `json:"created"`
	Labels   map[string]string `json:"labels,omitempty"`
	Checksum string            `json:"checksum"`
	Blocks   chain.Blocks      `json:"blocks"`
}

// Store is one backup target.
type Store struct{ directory string }

// Open finds a target's directory. Without a scheme of file it needs a directory to keep targets in.
func Open(target, below string) (Store, error) {
	for _, scheme := range []string{"file://", "vfs://"} {
		if path, ok := strings.CutPrefix(target, scheme); ok && filepath.IsAbs(path) {
			return Store{directory: path}, nil
		}
	}
	if target == "" {
		return Store{}, errors.New("no backup target was given")
	}
	if below == "" {
		return Store{}, fmt.Errorf("backup target %s cannot be reached: the simulator was given no directory of backup targets", target)
	}
	return Store{directory: filepath.Join(below, url.PathEscape(strings.TrimSuffix(target, "/")))}, nil
}

func (s Store) of(volume string) string {
	return filepath.Join(s.directory, "volumes", url.PathEscape(volume), "backups")
}

func (s Store) file(volume, name string) string {
	return filepath.Join(s.of(volume), url.PathEscape(name)+".json")
}

// Put keeps a backup; one of the same name is replaced as a whole.
func (s Store) Put(b Backup) error {
	if err := s.put(b); err != nil {
		return err
	}
	return s.note(b.Volume, b)
}

func (s Store) put(b Backup) error {
	data, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encoding backup %s: %w", b.Name, err)
	}
	if err := os.MkdirAll(s.of(b.Volume), 0o755); err != nil {
		return fmt.Errorf("making the directory of backup %s: %w", b.Name, err)
	}
	partial := s.file(b.Volume, b.Name) + ".partial"
	if err := os.WriteFile(partial, data, 0o644); err != nil {
		return fmt.Errorf("writing backup %s: %w", b.Name, err)
	}
	if err := os.Rename(partial, s.file(b.Volume, b.Name)); err != nil {
		return fmt.Errorf("writing backup %s: %w", b.Name, err)
	}
	return nil
}

// HasAny reports whether there is a backup of a volume.
func (s Store) HasAny(volume string) bool {
	list, err := os.ReadDir(s.of(volume))
	return err == nil && len(list) > 0
}

// Get reads a backup and holds it to its checksum.
func (s Store) Get(volume, name string) (Backup, error) {
	data, err := os.ReadFile(s.file(volume, name))
	if err != nil {
		return Backup{}, fmt.Errorf("reading backup %s of volume %s: %w", name, volume, err)
	}
	var b Backup
	if err := json.Unmarshal(data, &b); err != nil {
		return Backup{}, fmt.Errorf("reading backup %s of volume %s: %w", name, volume, err)
	}
	if sum := chain.Text(b.Blocks.Sum()); sum != b.Checksum {
		return Backup{}, fmt.Errorf("backup %s of volume %s is damaged: its checksum is %s, not %s", name, volume, sum, b.Checksum)
	}
	return b, nil
}

// URL names a backup: its target with the backup and the volume as a query.
func URL(target, name, volume string) string {
	return target + "?" + url.Values{"backup": {name}, "volume": {volume}}.Encode()
}

// Load reads the backup that a URL names. The target is that of the URL unless another one is given.
func Load(backupURL, target, below string) (Backup, error) {
	where, query, _ := strings.Cut(backupURL, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return Backup{}, fmt.Errorf("reading backup URL %s: %w", backupURL, err)
	}
	if target == "" {
		target = where
	}
	store, err := Open(target, below)
	if err != nil {
		return Backup{}, err
	}
	return store.Get(values.Get("volume"), values.Get("backup"))
}
