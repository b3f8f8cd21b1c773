package dataplane

import (
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/backupstore"
	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Saved is where a volume's content was put.
type Saved struct {
	Snapshot string `json:"snapshot"`
	// URL of the backup; empty when none was asked for.
	URL string `json:"url,omitempty"`
}

// Save takes a snapshot of a volume, and, with a target, a backup of it, all at once: what was there before a scenario
// begins.
func (p *Plane) Save(volumeName, snapshot, backup, target string) (Saved, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.deviceOf(volumeName, "")
	if err != nil {
		return Saved{}, err
	}
	r, err := p.ready(d)
	if err != nil {
		return Saved{}, err
	}
	if err := r.snapshotAll(chain.Layer{Name: snapshot, UserCreated: true}); err != nil {
		return Saved{}, err
	}
	r.engine.server.changed()
	saved := Saved{Snapshot: snapshot}
	if target == "" {
		return saved, nil
	}
	saved.URL = backupstore.URL(target, backup, volumeName)
	return saved, r.putBackup(snapshot, backup, target)
}

func (r *engineRun) putBackup(snapshot, backup, target string) error {
	store, err := backupstore.Open(target, r.plane.behaviour.BackupStore)
	if err != nil {
		return refuse(Unknown, "failed to reach the backup target: %v", err)
	}
	blocks, err := r.with(ModeRW)[0].data.Own(snapshot)
	if err != nil {
		return refuse(Unknown, "failed to back up: %v", err)
	}
	b := backupstore.Backup{Name: backup, Volume: r.volumeName(), Snapshot: snapshot, Size: r.size,
		Created: r.plane.clock.Now().UTC().Truncate(time.Second),
		Blocks:  blocks, Checksum: chain.Text(blocks.Sum())}
	if err := store.Put(b); err != nil {
		return refuse(Unknown, "failed to back up: %v", err)
	}
	return nil
}
