package dataplane

import (
	"encoding/json"
	"slices"

	"drover.dev/drover/im-monitor/simulator/internal/backupstore"
)

// restoring is a restore into the engine's volume, or the work at it.
type restoring struct {
	*job
	backup, last, url string
}

// TaskError is why an engine does not begin a restore: its server answers with OK and a text.
type TaskError struct {
	refusal error
	// replicas are those that refused, by address; empty where the engine did.
	replicas []string
}

// Error reports the refusal's message.
func (e *TaskError) Error() string { return e.refusal.Error() }

// Unwrap is the refusal.
func (e *TaskError) Unwrap() error { return e.refusal }

// Text is what the server answers: JSON with each replica that refused, or the engine's message.
func (e *TaskError) Text() []byte {
	type replicaError struct{ Address, Message string }
	var task struct{ ReplicaErrors []replicaError }
	for _, address := range e.replicas {
		task.ReplicaErrors = append(task.ReplicaErrors, replicaError{"tcp://" + address, e.Error()})
	}
	text, err := json.Marshal(task)
	if err != nil || len(e.replicas) == 0 {
		return []byte(e.Error())
	}
	return text
}

// Restore begins to copy a backup into every replica. A v1 engine must have no frontend. Whatever the volume held is gone.
// With more than one snapshot a v1 engine purges instead, and refuses. What an engine refuses is a TaskError.
func (s *Server) Restore(ref Ref, url, target, fails string) error {
	backup, loadErr := backupstore.Load(url, target, s.plane.backupDirectory())
	return s.onEngine(ref, false, "BackupRestore", func(r *engineRun) (string, error) {
		if err := r.restoreRefused(loadErr); err != nil {
			return url, err
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

// restoreRefused is why an engine does not begin a restore; nil where it does. loadErr is that of its backup.
func (r *engineRun) restoreRefused(loadErr error) error {
	v1 := r.engine.server.engine == V1
	switch {
	case v1 && r.frontend != "":
		return &TaskError{refusal: refuse(Unknown, "volume frontend enabled, aborting restore")}
	case r.jobs.restore != nil && r.jobs.restore.Running:
		out := &TaskError{refusal: refuse(Unknown, "a restore is in progress already")}
		if v1 {
			out.replicas = addressesOf(r.with(ModeRW, ModeWO))
		}
		return out
	case r.rebuilding():
		return &TaskError{refusal: refuse(Unknown, "cannot restore because a replica is rebuilding")}
	case r.longerThanARestore():
		if r.jobs.purge == nil || !r.jobs.purge.Running {
			r.purge("")
		}
		return &TaskError{refusal: refuse(Unknown, "found more than 1 snapshot in the replicas, hence started to purge snapshots before the "+
			"restore")}
	case loadErr != nil:
		return &TaskError{refusal: refuse(Unknown, "failed to read the backup: %v", loadErr)}
	}
	return nil
}

func addressesOf(members []*member) (out []string) {
	for _, m := range members {
		out = append(out, m.address)
	}
	return out
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

// RestoreStatus reports of the last restore, by the addresses of the engine's replicas. A v1 engine lists those that restored nothing, too,
// and an error alone for one that it does not reach.
func (s *Server) RestoreStatus(ref Ref) (map[string]RestoreStatus, error) {
	out := map[string]RestoreStatus{}
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		w := r.jobs.restore
		if w == nil {
			if r.engine.server.engine == V1 {
				for _, m := range r.with(ModeRW, ModeWO) {
					out[m.address] = RestoreStatus{}
				}
			}
			return "", nil
		}
		status := RestoreStatus{Progress: w.Progress, Last: w.last, URL: w.url}
		if w.Running {
			status.Current = w.backup
		}
		for _, m := range r.with(ModeRW, ModeWO) {
			if out[m.address] = status; r.isSilent(m) {
				out[m.address] = RestoreStatus{Progress: noAnswer("restoring", m)}
			}
		}
		return "", nil
	})
	return out, err
}
