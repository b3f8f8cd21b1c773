package dataplane

import (
	"slices"

	"drover.dev/drover/im-monitor/simulator/internal/backupstore"
)

// restoring is a restore into the engine's volume, or the work at it.
type restoring struct {
	*job
	backup, last, url string
}

// Restore begins to copy a backup into every replica. A v1 engine must have no frontend. Whatever the volume held is gone.
// With more than one snapshot a v1 engine purges instead, and refuses.
func (s *Server) Restore(ref Ref, url, target, fails string) error {
	backup, loadErr := backupstore.Load(url, target, s.plane.backupDirectory())
	return s.onEngine(ref, false, "BackupRestore", func(r *engineRun) (string, error) {
		switch {
		case r.engine.server.engine == V1 && r.frontend != "":
			return url, refuse(Unknown, "volume frontend enabled, aborting restore")
		case r.jobs.restore != nil && r.jobs.restore.Running:
			return url, refuse(Unknown, "a restore is in progress already")
		case r.rebuilding():
			return url, refuse(Unknown, "cannot restore because a replica is rebuilding")
		case r.longerThanARestore():
			if r.jobs.purge == nil || !r.jobs.purge.Running {
				r.purge("")
			}
			return url, refuse(Unknown, "found more than 1 snapshot in the replicas, hence started to purge snapshots before the restore")
		case loadErr != nil:
			return url, refuse(Unknown, "failed to read the backup: %v", loadErr)
		}
		work := &restoring{backup: backup.Name, url: url}
		if r.jobs.restore != nil {
			work.last = r.jobs.restore.last
		}
		r.jobs.restore = work
		work.job = s.plane.work(r.volume, fails, func() string {
			if problem := r.fill(backup.Blocks, ""); problem != "" {
				return problem
			}
			work.last = backup.Name
			return ""
		})
		return url, nil
	})
}

// longerThanARestore reports whether a v1 replica has more than one snapshot beside its head.
func (r *engineRun) longerThanARestore() bool {
	return r.engine.server.engine == V1 && slices.ContainsFunc(r.with(ModeRW, ModeWO), func(m *member) bool { return len(m.data.List()) > 2 })
}

// backupDirectory is where backup targets without a file scheme are kept.
func (p *Plane) backupDirectory() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.behaviour.BackupStore
}

// RestoreStatus is how far the last restore is.
type RestoreStatus struct {
	Progress
	Current, Last, URL string
}

// RestoreStatus reports of the last restore, by the addresses of the engine's replicas.
func (s *Server) RestoreStatus(ref Ref) (map[string]RestoreStatus, error) {
	out := map[string]RestoreStatus{}
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		w := r.jobs.restore
		if w == nil {
			return "", nil
		}
		status := RestoreStatus{Progress: w.Progress, Last: w.last, URL: w.url}
		if w.Running {
			status.Current = w.backup
		}
		for _, m := range r.with(ModeRW, ModeWO) {
			out[m.address] = status
		}
		return "", nil
	})
	return out, err
}
