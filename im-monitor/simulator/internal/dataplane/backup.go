package dataplane

import (
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/backupstore"
	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Order is a backup that must be taken.
type Order struct {
	Name, Snapshot, Target string
	Labels                 map[string]string
	// Fails makes it fail with this message after it began.
	Fails string
}

// backingUp is one backup, or the work at it.
type backingUp struct {
	*job
	order   Order
	url     string
	replica *member
}

// Backup begins to copy a snapshot into a backup target.
func (s *Server) Backup(ref Ref, o Order) (backup, replica string, incremental bool, err error) {
	if o.Name == "" {
		o.Name = "backup-" + s.plane.newUUID()
	}
	err = s.onEngine(ref, false, "SnapshotBackup", func(r *engineRun) (string, error) {
		store, err := backupstore.Open(o.Target, s.plane.behaviour.BackupStore)
		if err != nil {
			return o.Name, refuse(Unknown, "failed to reach the backup target: %v", err)
		}
		members := r.with(ModeRW)
		if len(members) == 0 {
			return o.Name, refuse(Unknown, "the engine has no usable replica")
		}
		blocks, err := members[0].data.Own(o.Snapshot)
		if err != nil {
			return o.Name, refuse(Unknown, "failed to back up: %v", err)
		}
		b := backupstore.Backup{Name: o.Name, Volume: r.volumeName(), Snapshot: o.Snapshot, Size: r.size,
			Created: s.plane.clock.Now().UTC().Truncate(time.Second),
			Labels:  o.Labels, Blocks: blocks, Checksum: chain.Text(blocks.Sum())}
		replica, incremental = members[0].address, store.HasAny(b.Volume)
		r.backUp(o, store, b, members[0])
		return o.Name, nil
	})
	return o.Name, replica, incremental, err
}

func (r *engineRun) backUp(o Order, store backupstore.Store, b backupstore.Backup, from *member) {
	work := &backingUp{order: o, replica: from}
	work.job = r.plane.work(r.volume, o.Fails, func() string {
		if err := store.Put(b); err != nil {
			return err.Error()
		}
		work.url = backupstore.URL(o.Target, b.Name, b.Volume)
		return ""
	})
	if r.jobs.backups == nil {
		r.jobs.backups = map[string]*backingUp{}
	}
	r.jobs.backups[o.Name] = work
}

// BackupStatus is how far a backup is.
type BackupStatus struct {
	Progress
	URL, Snapshot, Replica string
}

// BackupStatus reports of a backup that this engine was asked for.
func (s *Server) BackupStatus(ref Ref, name string) (BackupStatus, error) {
	var out BackupStatus
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		b := r.jobs.backups[name]
		if b == nil {
			return "", refuse(NotFound, "backup %s is not known here", name)
		}
		out = BackupStatus{Progress: b.Progress, URL: b.url, Snapshot: b.order.Snapshot, Replica: b.replica.address}
		return "", nil
	})
	return out, err
}
