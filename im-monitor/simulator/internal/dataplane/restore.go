package dataplane

import (
	"encoding/json"
	"slices"

	"drover.dev/drover/im-monitor/simulator/internal/backupstore"
	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// restoring is a restore into replicas of the engine's volume, or the work at it.
type restoring struct {
	*job
	backup, last, url string
	into              []*member
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

// Restore begins to copy a backup into every replica; a v1 replica that has it already, or is being filled, refuses for itself. A v1 engine
// must have no frontend. Whatever the volume held is gone. With more than one snapshot a v1 engine purges instead, and refuses. What an
// engine or a replica refuses is a TaskError.
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
		refused := r.chooseFilled(work)
		if len(work.into) == 0 {
			return url, refused
		}
		r.jobs.restore = work
		work.job = s.plane.work(r.volume, fails, func() string {
			if problem := r.fillFrom(work, backup.Blocks); problem != "" {
				return problem
			}
			work.last = backup.Name
			return ""
		})
		if refused == nil {
			return url, nil
		}
		return url, refused
	})
}

// chooseFilled finds the replicas that a restore fills. It returns what the others answer, as a TaskError; nil if all are filled.
func (r *engineRun) chooseFilled(work *restoring) error {
	out := &TaskError{}
	for _, m := range r.with(ModeRW, ModeWO) {
		if r.engine.server.engine == V1 {
			if why := m.refusesRestore(work.backup); why != nil {
				out.refusal, out.replicas = why, append(out.replicas, m.address)
				continue
			}
		}
		m.restore = work
		work.into = append(work.into, m)
	}
	switch {
	case out.refusal != nil:
		return out
	case len(work.into) == 0:
		return &TaskError{refusal: refuse(Unknown, "the engine has no usable replica")}
	}
	return nil
}

// refusesRestore returns why a v1 replica does not begin to restore a backup; nil if it does.
func (m *member) refusesRestore(backup string) error {
	switch {
	case m.restore != nil && m.restore.Running:
		return refuse(Unknown, "a restore is in progress already")
	case m.restore != nil && m.restore.State == JobFailed:
		return refuse(Unknown, "the previous restore failed")
	case m.restored == backup:
		return refuse(Unknown, "already restored backup %s", backup)
	}
	return nil
}

// fillFrom gives the replicas of a restore the blocks of its backup. If others of the volume have that backup already, the data is theirs.
func (r *engineRun) fillFrom(work *restoring, blocks chain.Blocks) string {
	filled := slices.DeleteFunc(r.with(ModeRW, ModeWO), func(m *member) bool { return !slices.Contains(work.into, m) })
	if len(filled) == 0 {
		return "the engine has no usable replica"
	}
	var number uint64
	at := slices.IndexFunc(r.with(ModeRW), func(m *member) bool { return !slices.Contains(work.into, m) })
	if at >= 0 {
		number = r.with(ModeRW)[at].data.Writes()
	} else {
		number = r.volume.replace(filled[0].data.Over(blocks))
	}
	for _, m := range filled {
		m.data.Replace(blocks, number)
		m.restored = work.backup
	}
	r.engine.server.changed()
	return ""
}

// restoreRefused is why an engine does not begin a restore; nil where it does. loadErr is that of its backup.
func (r *engineRun) restoreRefused(loadErr error) error {
	v1 := r.engine.server.engine == V1
	switch {
	case v1 && r.frontend != "":
		return &TaskError{refusal: refuse(Unknown, "volume frontend enabled, aborting restore")}
	case !v1 && r.jobs.restore != nil && r.jobs.restore.Running:
		return &TaskError{refusal: refuse(Unknown, "a restore is in progress already")}
	case r.rebuilding():
		return &TaskError{refusal: refuse(Unknown, "cannot restore because a replica is rebuilding")}
	case v1 && slices.ContainsFunc(r.sorted(), func(m *member) bool { return !m.reachable() }):
		return &TaskError{refusal: refuse(Unknown, "failed to ask a replica whether it is rebuilding: connection refused")}
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

// longerThanARestore reports whether a v1 replica has more than one snapshot beside its head.
func (r *engineRun) longerThanARestore() bool {
	return r.engine.server.engine == V1 && slices.ContainsFunc(r.with(ModeRW), func(m *member) bool { return len(m.data.List()) > 2 })
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
		for _, m := range r.with(ModeRW, ModeWO) {
			switch w := r.jobs.restore; {
			case r.isSilent(m):
				out[m.address] = RestoreStatus{Progress: noAnswer("restoring", m)}
			case s.engine == V1 && m.restore == nil:
				out[m.address] = RestoreStatus{}
			case s.engine == V1:
				out[m.address] = m.restore.status(m.restored)
			case w != nil:
				out[m.address] = w.status(w.last)
			}
		}
		return "", nil
	})
	return out, err
}

// status is how far a restore is, of a replica that has a backup.
func (w *restoring) status(restored string) RestoreStatus {
	out := RestoreStatus{Progress: w.Progress, Last: restored, URL: w.url}
	if w.Running {
		out.Current = w.backup
	}
	return out
}
