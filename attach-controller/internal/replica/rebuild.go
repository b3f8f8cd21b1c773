package replica

import (
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// retries is how often a failed replica is taken back before another one takes its place.
const retries = 5

// localPause is how long a best-effort volume stays without a replica where it is attached after one could not be rebuilt there.
const localPause = 10 * time.Minute

// takeBack uses one failed replica again if its disk is there: less has to be copied than for a new one. It returns how many it took, or
// waits for.
func (w *World) takeBack(g groups, n need, out *Verdict) int {
	if n.count == 0 || !w.everHealthy() {
		return 0
	}
	r := w.toTakeBack(g, n)
	switch {
	case r == nil:
		return 0
	case w.Rebuilding[r.Spec.NodeID] >= w.Settings.RebuildsPerNode:
		out.WaitsFor = append(out.WaitsFor, r.Spec.NodeID)
	default:
		out.patch(r, map[string]any{"failedAt": "", "healthyAt": "", "rebuildRetryCount": r.Spec.RebuildRetryCount + 1})
	}
	return n.count
}

// toTakeBack returns the failed replica that is used again first: the replica that was rebuilt least often. Nil: no replica can be used.
func (w *World) toTakeBack(g groups, n need) (r *v1beta2.Replica) {
	for _, one := range g.failed {
		fits := w.isBack(one) && (!n.local || w.isLocal(one)) && (!n.paused || one.Spec.HealthyAt != "")
		if fits && (r == nil || one.Spec.RebuildRetryCount < r.Spec.RebuildRetryCount) {
			r = one
		}
	}
	return r
}

// isBack reports whether a failed replica can be used again: its node and its disk are there, and its instance is stopped. A restore fills
// new replicas only: it copies all of a backup, and refuses every replica while one of them has the mark of an unfinished rebuild.
func (w *World) isBack(r *v1beta2.Replica) bool {
	n := w.Nodes[r.Spec.NodeID]
	if w.fillsByRestore() || n == nil || v1beta2.IsNodeDown(n) || n.Spec.UpgradeRequested && !w.mayReturn(n.Name) || w.leaves(r) ||
		r.Spec.RebuildRetryCount >= retries {
		return false
	}
	if c := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); c == nil || c.Status != v1beta2.ConditionTrue {
		return false
	}
	_, status, ok := diskOf(n, r.Spec.DiskID)
	stopped := r.Status.CurrentState == v1beta2.InstanceStateStopped && r.Spec.DesireState == v1beta2.InstanceStateStopped
	return ok && conditions.IsTrue(status.Conditions, v1beta2.DiskReady) && stopped &&
		!conditions.IsTrue(r.Status.Conditions, v1beta2.InstanceNodeDown)
}

// returning counts the replicas that are waited for, and returns until when: those that failed recently, and healthy ones on a down node
// that the engine has not reported as failed.
func (w *World) returning(g groups) (count int, until time.Time) {
	for _, r := range g.failed {
		at := parse(r.Spec.FailedAt).Add(w.Settings.ReplenishmentWait)
		if !w.fillsByRestore() && at.After(w.Now) && !w.leaves(r) && w.Nodes[r.Spec.NodeID] != nil && r.Spec.RebuildRetryCount < retries {
			count++
			if until.IsZero() || at.Before(until) {
				until = at
			}
		}
	}
	for _, r := range g.healthy {
		if w.down(r) && !w.leaves(r) && w.Nodes[r.Spec.NodeID] != nil {
			count++
		}
	}
	return count, until
}

// wantsLocal reports whether a best-effort volume has no replica where it is attached.
func (w *World) wantsLocal(g groups) bool {
	if w.Volume.Spec.DataLocality != v1beta2.DataLocalityBestEffort {
		return false
	}
	return !slices.ContainsFunc(g.healthy, w.isLocal)
}

func (w *World) isLocal(r *v1beta2.Replica) bool { return r.Spec.NodeID == w.Volume.Spec.NodeID }

// missesLocal is what a best-effort volume needs that has its replicas, but none where it is attached. One that failed there is taken back
// as any other; while it cannot be, there is no second one.
func (w *World) missesLocal(g groups) need {
	if !w.wantsLocal(g) {
		return need{}
	}
	failed := slices.DeleteFunc(slices.Clone(g.failed), func(r *v1beta2.Replica) bool { return !w.isLocal(r) })
	if len(failed) == 0 || slices.ContainsFunc(failed, w.isBack) {
		return need{count: 1, local: true}
	}
	out := need{}
	for _, r := range failed {
		if until := localAgain(r); until.After(w.Now) && (out.until.IsZero() || until.Before(out.until)) {
			out.until = until
		}
	}
	return out
}

// localAgain is when a best-effort volume gives up a replica that could not be rebuilt where it is attached, and has another one made. Each
// attempt takes room on the disk, and may leave data there.
func localAgain(r *v1beta2.Replica) time.Time { return parse(r.Spec.FailedAt).Add(localPause) }

// expendable are the failed replicas that a healthy volume does not need: not the one where a best-effort volume still wants one.
func (w *World) expendable(g groups) []*v1beta2.Replica {
	wanted := w.wantsLocal(g)
	return slices.DeleteFunc(slices.Clone(g.failed), func(r *v1beta2.Replica) bool {
		return wanted && w.isLocal(r) && (w.isBack(r) || localAgain(r).After(w.Now))
	})
}

// tidy deletes what is not needed any more, one at a time, while every wanted replica is healthy: first failed replicas, then those that
// leave their node or disk, then surplus ones. A deletion on a down node delays no other.
func (w *World) tidy(g groups, out *Verdict) {
	if !w.attached() || w.busy() || w.goes(g) || len(g.coming) > 0 {
		return
	}
	enough := 0
	for _, r := range g.staying {
		if w.mode(r) == v1beta2.ReplicaModeRW {
			enough++
		}
		if r.Spec.RebuildRetryCount != 0 && w.mode(r) == v1beta2.ReplicaModeRW {
			out.patch(r, map[string]any{"rebuildRetryCount": 0})
		}
	}
	if enough < w.Volume.Spec.NumberOfReplicas {
		w.giveUp(g, enough, out)
		return
	}
	if len(out.Create) > 0 {
		return
	}
	switch surplus, failed := w.surplus(g, enough), w.expendable(g); {
	case len(failed) > 0:
		out.Deletes = append(out.Deletes, Deletion{failed[0], "it failed, and the volume is healthy without it"})
	case surplus != nil && w.leaves(surplus):
		out.Deletes = append(out.Deletes, Deletion{surplus, "its node or disk is being evicted, and its data is elsewhere"})
	case surplus != nil:
		out.Deletes = append(out.Deletes, Deletion{surplus, "the volume has more replicas than it wants"})
	}
}

// goes reports whether the deletion of a replica is under way that can complete now.
func (w *World) goes(g groups) bool {
	return slices.ContainsFunc(g.going, func(r *v1beta2.Replica) bool { return !w.down(r) })
}

// giveUp deletes a replica that failed too often, or whose node went down before the engine got it: another one takes its place.
func (w *World) giveUp(g groups, healthy int, out *Verdict) {
	if healthy == 0 {
		return
	}
	for _, r := range g.failed {
		if r.Spec.RebuildRetryCount >= retries || r.Spec.FailedAt == "" || w.fillsByRestore() {
			out.Deletes = append(out.Deletes, Deletion{r, "it could not be rebuilt"})
			return
		}
	}
}

// surplus returns the healthy replica that the volume needs least; nil: none is surplus.
func (w *World) surplus(g groups, enough int) *v1beta2.Replica {
	for _, r := range g.healthy {
		if w.leaves(r) && !w.down(r) {
			return r
		}
	}
	if enough <= w.Volume.Spec.NumberOfReplicas {
		return nil
	}
	perNode := map[string]int{}
	for _, r := range g.staying {
		perNode[r.Spec.NodeID]++
	}
	local := w.Volume.Spec.DataLocality != "" && w.Volume.Spec.DataLocality != "disabled"
	var worst *v1beta2.Replica
	for _, r := range g.staying {
		if local && r.Spec.NodeID == w.Volume.Spec.NodeID {
			continue
		}
		if worst == nil || perNode[r.Spec.NodeID] > perNode[worst.Spec.NodeID] {
			worst = r
		}
	}
	return worst
}
