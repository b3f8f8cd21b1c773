package dataplane

import (
	"fmt"
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
		members := r.with(ModeRW)
		if len(members) == 0 {
			return o.Name, refuse(Unknown, "the engine has no usable replica")
		}
		store, err := backupstore.Open(o.Target, s.plane.behaviour.BackupStore)
		if err != nil {
			r.failBackup(o, members[0], err)
			return o.Name, refuse(Unknown, "failed to reach the backup target: %v", err)
		}
		blocks, err := members[0].data.Own(o.Snapshot)
		if err != nil {
			return o.Name, refuse(Unknown, "failed to back up: %v", err)
		}
		b := backupstore.Backup{Name: o.Name, Volume: r.volumeName(), Snapshot: o.Snapshot, Size: r.size,
			Created: s.plane.clock.Now().UTC().Truncate(time.Second),
			Labels:  o.Labels, Blocks: blocks, Checksum: chain.Text(blocks.Sum())}
		replica, incremental = members[0].address, store.HasAny(b.Volume)
		if err := store.Begin(b); err != nil {
			r.failBackup(o, members[0], err)
			return o.Name, refuse(Unknown, "failed to write to the backup target: %v", err)
		}
		r.backUp(o, store, b, members[0])
		return o.Name, nil
	})
	return o.Name, replica, incremental, err
}

// failBackup lets a v1 engine report a backup whose target it could not reach, although it refused the call.
func (r *engineRun) failBackup(o Order, from *member, why error) {
	if r.engine.server.engine == V2 {
		return
	}
	r.keepBackup(&backingUp{order: o, replica: from, job: &job{Progress: Progress{State: JobFailed, Error: why.Error()}}})
}

func (r *engineRun) keepBackup(b *backingUp) {
	if r.jobs.backups == nil {
		r.jobs.backups = map[string]*backingUp{}
	}
	r.jobs.backups[b.order.Name] = b
}

func (r *engineRun) backUp(o Order, store backupstore.Store, b backupstore.Backup, from *member) {
	work := &backingUp{order: o, replica: from}
	work.job = r.plane.work(r.volume, o.Fails, func() string {
		if !from.reachable() {
			return "the replica that copied is gone"
		}
		if err := store.Put(b); err != nil {
			return err.Error()
		}
		work.url = backupstore.URL(o.Target, b.Name, b.Volume)
		return ""
	})
	r.keepBackup(work)
}

// BackupStatus is how far a backup is.
type BackupStatus struct {
	Progress
	URL, Snapshot, Replica string
}

// BackupStatus reports of a backup that this engine was asked for, at the replica of an address.
func (s *Server) BackupStatus(ref Ref, name, replica string) (out BackupStatus, err error) {
	err = s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		if r.engine.server.engine == V2 {
			out, err = r.backupStatusV2(name, replica)
		} else {
			out, err = r.backupStatusV1(name, replica)
		}
		return "", err
	})
	return out, err
}

// backupStatusV1 asks the replica of an address, without one the first in mode RW. Where that does not answer, or does not know the backup,
// the answer is OK: an error, without a state.
func (r *engineRun) backupStatusV1(name, replica string) (BackupStatus, error) {
	usable := r.with(ModeRW)
	if replica == "" && len(usable) == 0 {
		return BackupStatus{}, refuse(Unknown, "failed to find a replica with backup %s", name)
	}
	if replica == "" {
		replica = usable[0].address
	}
	m := r.memberAt(bare(replica))
	if m != nil && m.mode != ModeRW {
		return BackupStatus{}, refuse(Unknown, "failed to get backup %s status on unknown replica %s", name, replica)
	}
	b := r.jobs.backups[name]
	if m == nil || !m.reachable() || b == nil || b.replica != m {
		return BackupStatus{Replica: bare(replica), Progress: Progress{Error: fmt.Sprintf(
			"Failed to get backup status on tcp://%s for %s: failed to get backup status", bare(replica), name)}}, nil
	}
	return b.status(), nil
}

// backupStatusV2 asks the replica that the engine knows by exactly this address.
func (r *engineRun) backupStatusV2(name, replica string) (BackupStatus, error) {
	m, b := r.memberAt(replica), r.jobs.backups[name]
	switch {
	case replica == "" || m == nil:
		return BackupStatus{}, refuse(Internal, "failed to get backup status: replica address %s is not found in engine %s for getting "+
			"backup %s status", replica, r.engine.Name, name)
	case m.mode != ModeRW:
		return BackupStatus{}, refuse(Internal, "failed to get backup status: replica %s is not in RW mode", m.name)
	case b == nil || b.replica != m:
		return BackupStatus{}, refuse(Internal, "failed to get backup status: cannot find backup %s", name)
	}
	return b.status(), nil
}

func (b *backingUp) status() BackupStatus {
	return BackupStatus{Progress: b.Progress, URL: b.url, Snapshot: b.order.Snapshot, Replica: b.replica.address}
}

// memberAt is the replica of an address ip:port; nil is none.
func (r *engineRun) memberAt(where string) *member {
	for _, m := range r.members {
		if m.address == where {
			return m
		}
	}
	return nil
}
