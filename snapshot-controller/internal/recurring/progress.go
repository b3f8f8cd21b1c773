package recurring

import (
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// plan is what a run asks for now.
type plan struct {
	snapshots []*v1beta2.Snapshot
	backups   []*v1beta2.Backup
	doomed    []*v1beta2.Snapshot
	// busy is how many are being worked on; requeueAt is when the first of them exceeds the run's patience.
	busy      int
	requeueAt time.Time
}

func (p plan) over() bool { return len(p.snapshots)+len(p.backups)+len(p.doomed)+p.busy == 0 }

func (p *plan) hold(until time.Time) {
	p.busy++
	if p.requeueAt.IsZero() || until.Before(p.requeueAt) {
		p.requeueAt = until
	}
}

// progress returns what of the run is to be asked for now, and what is under way.
func (w World) progress(run time.Time) plan {
	if Removes(w.Job) {
		return w.prune()
	}
	var p plan
	waiting := map[string]bool{} // A volume that still waits for what an earlier run wanted gets no further one.
	snapshots := w.underWaySnapshots(&p, waiting)
	backups := w.underWayBackups(&p, waiting)
	for _, v := range w.volumes() {
		if p.busy+len(p.snapshots)+len(p.backups) >= AtOnce(w.Job) {
			break
		}
		name := Name(w.Job, run, v)
		if !waiting[v.Name] && !waiting[v1beta2.LabelValue(v.Name)] && !backups[name] {
			w.ask(&p, name, v, snapshots[name])
		}
	}
	return p
}

// underWaySnapshots notes which volumes wait for a Snapshot, and returns all by name. One that waits for people holds no slot.
func (w World) underWaySnapshots(p *plan, waiting map[string]bool) map[string]*v1beta2.Snapshot {
	snapshots := map[string]*v1beta2.Snapshot{}
	for _, s := range w.Snapshots {
		snapshots[s.Name] = s
		until := s.CreationTimestamp.Add(patience)
		early := w.Now.Before(until)
		if !untaken(s) && !(early && w.retried(s)) {
			continue
		}
		waiting[s.Spec.Volume] = true
		if !blocked(s) && early {
			p.hold(until)
		}
	}
	return snapshots
}

// ask adds what is asked for next of one volume: the run's Snapshot (nil: there is none yet), then the Backup of it.
func (w World) ask(p *plan, name string, v *v1beta2.Volume, s *v1beta2.Snapshot) {
	switch {
	case s == nil && w.isCreated(name):
		p.hold(w.Created[name].Add(patience))
	case s == nil && !w.begins(v):
	case s == nil:
		p.snapshots = append(p.snapshots, w.newSnapshot(name, v))
	case w.backsUp() && s.DeletionTimestamp == nil && conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotReady):
		p.backups = append(p.backups, w.newBackup(name, v))
	}
}

// isCreated reports whether the Snapshot, which the cache does not show, was created a while ago at most.
func (w World) isCreated(snapshot string) bool {
	at, created := w.Created[snapshot]
	return created && w.Now.Before(at.Add(patience))
}

// served reports whether the volumes have what the run was to make of each, or never will.
func (w World) served(run time.Time) bool {
	return !slices.ContainsFunc(w.volumes(), func(v *v1beta2.Volume) bool {
		name := Name(w.Job, run, v)
		at := slices.IndexFunc(w.Snapshots, func(s *v1beta2.Snapshot) bool { return s.Name == name })
		switch {
		case at < 0:
			return w.isCreated(name) || w.begins(v)
		case untaken(w.Snapshots[at]), w.retried(w.Snapshots[at]):
			return true
		case !w.backsUp() || w.Snapshots[at].Status.CreationTime == "":
			return false // taken, or it failed, or goes
		}
		return !slices.ContainsFunc(w.Backups, func(b *v1beta2.Backup) bool { return b.Name == name && v1beta2.IsBackupEnded(b) })
	})
}
