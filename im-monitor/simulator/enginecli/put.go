package enginecli

import (
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/backupstore"
	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Stored is a backup that a test puts into a target.
type Stored struct {
	Name, Volume, Snapshot string
	Size                   uint64
	Created                time.Time
	Labels                 map[string]string
	// Text is its content. Unfinished is whether it is still being taken.
	Text       string
	Unfinished bool
}

// Put stores a backup in the target at this URL.
func Put(target string, s Stored) error {
	store, err := backupstore.Open(target, "")
	if err != nil {
		return err
	}
	blocks := chain.Blocks{0: s.Text}
	b := backupstore.Backup{Name: s.Name, Volume: s.Volume, Snapshot: s.Snapshot, Size: s.Size, Created: s.Created.UTC().Truncate(time.Second),
		Labels: s.Labels, Blocks: blocks, Checksum: chain.Text(blocks.Sum())}
	if s.Unfinished {
		return store.Begin(b)
	}
	return store.Put(b)
}

// Names returns the names of the backups that the target at this URL has of a volume.
func Names(target, volume string) []string {
	store, err := backupstore.Open(target, "")
	if err != nil {
		return nil
	}
	return store.Backups(volume)
}

// Remove removes a backup from the target at this URL, as another cluster does.
func Remove(target, volume, name string) error {
	store, err := backupstore.Open(target, "")
	if err != nil {
		return err
	}
	return store.Remove(volume, name)
}

// FaultFile is the file in a target that makes its commands fail: "hang", "refuse: text" or "half", half an answer.
const FaultFile = backupstore.FaultFile

// RemoveVolume removes all of a volume from the target at this URL, as another cluster does.
func RemoveVolume(target, volume string) error {
	store, err := backupstore.Open(target, "")
	if err != nil {
		return err
	}
	return store.RemoveVolume(volume)
}
