package recurring

import (
	"cmp"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Removes reports whether the job's task is to remove snapshots of its volumes, whoever asked for them.
func Removes(job *v1beta2.RecurringJob) bool {
	return job.Spec.Task == v1beta2.RecurringTaskSnapshotDelete || job.Spec.Task == v1beta2.RecurringTaskSnapshotCleanup
}

// prune returns what of each volume's snapshots is to go in a run. A volume is finished once nothing more is to go and
// what went is gone, or waits for something that no patience helps.
func (w World) prune() plan {
	var p plan
	working := 0
	for _, v := range w.volumes() {
		if working >= AtOnce(w.Job) {
			break
		}
		doomed, until := w.pruned(v)
		if !w.mayBegin(v) {
			doomed = nil
		}
		if len(doomed) == 0 && until.IsZero() {
			continue
		}
		working++
		p.doomed = append(p.doomed, doomed...)
		if !until.IsZero() {
			p.hold(until)
		}
	}
	return p
}

// pruned returns which snapshots of the volume are to be deleted, and until when the run waits for those that are.
func (w World) pruned(v *v1beta2.Volume) (doomed []*v1beta2.Snapshot, until time.Time) {
	var standing []*v1beta2.Snapshot
	above := map[string][]string{}
	for _, s := range w.Snapshots {
		if s.Spec.Volume != v.Name || snapshot.UID(s) != v.UID {
			continue
		}
		above[s.Status.Parent] = append(above[s.Status.Parent], s.Name)
		switch {
		case s.DeletionTimestamp == nil && v1beta2.SnapshotTaker(s) != "":
			// That controller needs it for an upgrade or a copy, and deletes it afterwards.
		case s.DeletionTimestamp == nil:
			standing = append(standing, s)
		default:
			if end := s.DeletionTimestamp.UTC().Add(patience); !heldBack(s) && w.Now.Before(end) && (until.IsZero() || end.Before(until)) {
				until = end
			}
		}
	}
	slices.SortFunc(standing, chainOrder(standing, above))
	if w.Job.Spec.Task == v1beta2.RecurringTaskSnapshotDelete {
		standing = w.beyond(standing)
	} else {
		standing = slices.DeleteFunc(standing, func(s *v1beta2.Snapshot) bool { return !isLeftover(s, above[s.Name]) })
	}
	return slices.DeleteFunc(standing, func(s *v1beta2.Snapshot) bool {
		return w.Shared[s.Name] ||
			v1beta2.IsParentOfHead(s.Status.Children, above[s.Name])
	}), until
}

// chainOrder is by time, the newest first, and within a second by the chain that the volume's head builds on. above has the names of those
// that build on each.
func chainOrder(list []*v1beta2.Snapshot, above map[string][]string) func(a, b *v1beta2.Snapshot) int {
	named := map[string]*v1beta2.Snapshot{}
	top := ""
	for _, s := range list {
		named[s.Name] = s
		if v1beta2.IsParentOfHead(s.Status.Children, above[s.Name]) && s.Name > top {
			top = s.Name
		}
	}
	depth := map[string]int{}
	for s := named[top]; s != nil && depth[s.Name] == 0; s = named[s.Status.Parent] {
		depth[s.Name] = len(list) - len(depth)
	}
	return func(a, b *v1beta2.Snapshot) int {
		return cmp.Or(takenAt(b).Compare(takenAt(a)), cmp.Compare(depth[b.Name], depth[a.Name]), cmp.Compare(b.Name, a.Name))
	}
}

// beyond are the snapshots that somebody asked for and that are not kept, of those in order. What is not taken yet, or not
// known, is neither.
func (w World) beyond(list []*v1beta2.Snapshot) []*v1beta2.Snapshot {
	list = slices.DeleteFunc(list, func(s *v1beta2.Snapshot) bool {
		return !asked(s) || !conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotReady)
	})
	return unkept(w, list, takenAt)
}

// isLeftover reports whether the system made the snapshot, or that the engine marked it removed, and that not several others build on
// it. What the volume's head builds on cannot be merged either, and is left out by whoever asks.
func isLeftover(s *v1beta2.Snapshot, above []string) bool {
	known := conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotReady) && !asked(s)
	return (known || s.Status.MarkRemoved) && len(v1beta2.ChildrenOf(s, above)) <= 1
}

// asked reports whether a person, a job or Kubernetes asked for a snapshot that no controller took for itself.
func asked(s *v1beta2.Snapshot) bool { return s.Spec.CreateSnapshot || s.Status.UserCreated }

// heldBack reports whether a removal waits for people, or for what may take for ever.
func heldBack(s *v1beta2.Snapshot) bool {
	switch conditions.Reason(s.Status.Conditions, v1beta2.SnapshotRemovalApproved) {
	case v1beta2.ReasonLinkedClone, v1beta2.ReasonBackingUp, v1beta2.ReasonPurgeDisabled, v1beta2.ReasonParentOfVolumeHead,
		v1beta2.ReasonHasMultipleChildren,
		v1beta2.ReasonRemovalFailed:
		return true
	}
	return false
}
