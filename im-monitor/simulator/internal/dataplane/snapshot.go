package dataplane

import (
	"errors"
	"slices"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// snapshotAll seals the head of every replica that is written to.
func (r *engineRun) snapshotAll(l chain.Layer) error {
	l.Created = r.plane.clock.Now()
	for _, m := range r.with(ModeRW, ModeWO) {
		if r.engine.server.engine == V2 {
			l.UUID = r.plane.newUUID()
		}
		if err := m.data.Snapshot(l); err != nil {
			return refuse(Unknown, "failed to snapshot replica tcp://%s: %v", m.address, err)
		}
	}
	return nil
}

// snapshotsChanged reports watchers of a v2 engine's server. A v1 server knows processes only, and nothing of their snapshots.
func (r *engineRun) snapshotsChanged() {
	if r.engine.server.engine == V2 {
		r.engine.server.changed()
	}
}

// Snapshot takes a user's snapshot; an empty name draws one. v2 drops the labels.
func (s *Server) Snapshot(ref Ref, name string, labels map[string]string) (string, error) {
	if name == "" {
		name = s.plane.newUUID()
	}
	return name, s.onEngine(ref, true, "VolumeSnapshot", func(r *engineRun) (string, error) {
		v2 := r.engine.server.engine == V2
		members := r.with(ModeRW)
		switch {
		case len(members) == 0:
			return name, refuse(Unknown, "the engine has no usable replica")
		case members[0].data.Has(name):
			return name, refuse(Unknown, "failed to create snapshot: snapshot %s is already existing", name)
		case r.atLimit() != "":
			return name, refuse(Unknown, "%s", r.atLimit())
		case v2 && len(r.with(ModeWO)) > 0:
			return name, refuse(Unknown, "the engine contains a WO replica during snapshot creation")
		case v2:
			labels = nil
		}
		err := r.snapshotAll(chain.Layer{Name: name, UserCreated: true, Labels: labels})
		r.snapshotsChanged()
		return name, err
	})
}

// Snapshots are the volume's snapshots and its head. v2 never reports that one is removed. A v1 engine asks each of its RW replicas: it
// answers with an error if one of them does not answer, and lists nothing, not even the head, if there is none.
func (s *Server) Snapshots(ref Ref) ([]chain.Disk, error) {
	var out []chain.Disk
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		members := r.with(ModeRW)
		if silent := slices.IndexFunc(members, r.isSilent); silent >= 0 {
			return "", refuse(Unknown, "cannot get snapshot info: failed to get replica tcp://%s: context deadline exceeded",
				members[silent].address)
		}
		switch {
		case len(members) > 0:
			out = members[0].data.List()
		case s.engine == V2:
			out = (&chain.Chain{}).List()
		}
		for i := range out {
			if out[i].Name == chain.Head {
				out[i].Created = r.engine.created
			}
			out[i].Removed = out[i].Removed && r.engine.server.engine == V1
		}
		return "", nil
	})
	return out, err
}

// SnapshotRemove removes snapshots: v1 marks them for the next purge and is content with unknown names, v2 removes them at once.
func (s *Server) SnapshotRemove(ref Ref, names []string) error {
	return s.onEngine(ref, true, "SnapshotRemove", func(r *engineRun) (string, error) {
		about := ""
		if len(r.with(ModeWO)) > 0 {
			return about, refuse(Unknown, "cannot remove snapshots because a replica is rebuilding")
		}
		for _, name := range names {
			about = name
			if err := r.removeSnapshot(name); err != nil {
				return about, err
			}
		}
		r.snapshotsChanged()
		return about, nil
	})
}

func (r *engineRun) removeSnapshot(name string) error {
	for _, m := range r.with(ModeRW) {
		if r.engine.server.engine == V1 {
			m.data.Mark(name)
			continue
		}
		if err := m.data.Drop(name); err != nil {
			return refuse(Unknown, "failed to delete snapshot %s of replica %s: %v", name, m.name, err)
		}
	}
	return nil
}

// SnapshotRevert continues from a snapshot. A v1 engine must have no frontend, a v2 engine must be created without one; v2 replicas get
// another head.
func (s *Server) SnapshotRevert(ref Ref, name string) error {
	return s.onEngine(ref, true, "SnapshotRevert", func(r *engineRun) (string, error) {
		members := r.with(ModeRW)
		switch {
		case r.engine.server.engine == V1 && r.frontend != "":
			return name, refuse(Unknown, "volume frontend enabled, aborting snapshot revert")
		case r.engine.server.engine == V2 && r.engine.Frontend != "":
			return name, refuse(Internal, "invalid frontend %s of engine %s for a revert", r.engine.Frontend, r.engine.Name)
		case len(r.with(ModeWO)) > 0:
			return name, refuse(Unknown, "cannot revert because a replica is rebuilding")
		case len(members) == 0:
			return name, refuse(Unknown, "the engine has no usable replica")
		}
		blocks, err := members[0].data.Contents(name)
		if err != nil {
			return name, refuse(Unknown, "failed to revert: %v", err)
		}
		var errs []error
		for _, m := range members {
			errs = append(errs, m.data.Revert(name))
			m.replica.server.newHead(m.replica)
		}
		if r.volume != nil {
			r.volume.replace(blocks)
		}
		r.snapshotsChanged()
		return name, errors.Join(errs...)
	})
}
