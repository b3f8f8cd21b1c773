package replica

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/retry"
)

// rebuildPause delays the next rebuild of a volume after failed rebuilds. The first repetition has no pause: if a v1 rebuild lost its
// caller, as at a change of im-monitor's leader, it only has to be repeated.
var rebuildPause = retry.Pause{First: 5 * time.Second, Longest: time.Hour}

const (
	// After avoidAfter failures on a node the next replica goes to another node, if any other node has room.
	avoidAfter = 3
	// After forgetAfter without another failure the count begins again.
	forgetAfter = 24 * time.Hour
)

// countFailures returns the failed rebuilds of the volume: the stored failures, and new failures that this World shows. The count belongs
// to the volume: a replica that failed too often is deleted, and the count must not begin again with its successor. Nil: no rebuild failed.
func (w *World) countFailures(g groups) *v1beta2.RebuildFailures {
	f := w.storedFailures()
	since := parse(f.LastFailedAt)
	for _, r := range g.healthy {
		if w.mode(r) != v1beta2.ReplicaModeRW {
			continue
		}
		at := parse(r.Spec.HealthyAt)
		if at.After(parse(f.LastFailedAt)) { // a success after the last failure
			delete(f.ByNode, r.Spec.NodeID)
			f.Count, f.NextAttemptAt, f.Message = 0, "", ""
		}
		if at.After(since) {
			since = at
		}
	}
	if w.everHealthy() {
		w.addFailures(g, f, since)
	}
	if f.Count == 0 && len(f.ByNode) == 0 {
		return nil
	}
	return f
}

func (w *World) storedFailures() *v1beta2.RebuildFailures {
	stored := w.Volume.Status.RebuildFailures
	if stored == nil || !w.Now.Before(parse(stored.LastFailedAt).Add(forgetAfter)) {
		return &v1beta2.RebuildFailures{}
	}
	out := *stored
	out.ByNode = maps.Clone(stored.ByNode)
	return &out
}

// addFailures adds the replicas that failed after both the last stored failure and the last success. A success clears the stored failures,
// while the replicas that failed before it stay for a while. A failed replica without data failed in its rebuild.
func (w *World) addFailures(g groups, f *v1beta2.RebuildFailures, since time.Time) {
	failed := slices.DeleteFunc(slices.Clone(g.failed), func(r *v1beta2.Replica) bool {
		return r.Spec.HealthyAt != "" || r.Spec.NodeID == "" || !parse(r.Spec.FailedAt).After(since)
	})
	slices.SortStableFunc(failed, func(a, b *v1beta2.Replica) int { return parse(a.Spec.FailedAt).Compare(parse(b.Spec.FailedAt)) })
	for _, r := range failed {
		if f.ByNode == nil {
			f.ByNode = map[string]int{}
		}
		f.ByNode[r.Spec.NodeID]++
		f.Count++
		f.LastFailedAt, f.Message, f.NextAttemptAt = r.Spec.FailedAt, w.whyFailed(r), ""
		if pause := rebuildPause.After(f.Count - 1); pause > 0 {
			f.NextAttemptAt = parse(r.Spec.FailedAt).Add(pause).UTC().Format(time.RFC3339Nano)
		}
	}
}

// whyFailed describes a rebuild that failed, as far as its replica or its engine reports it.
func (w *World) whyFailed(r *v1beta2.Replica) string {
	why := ""
	if c := conditions.Get(r.Status.Conditions, v1beta2.InstanceCreation); c != nil && c.Status == v1beta2.ConditionFalse {
		why = c.Message
	}
	if w.Engine != nil && why == "" {
		c := conditions.Get(w.Engine.Status.Conditions, v1beta2.EngineOperations)
		if c != nil && c.Status == v1beta2.ConditionFalse && strings.Contains(c.Message, r.Name) {
			why = c.Message
		}
	}
	return strings.TrimSpace(fmt.Sprintf("Replica %s on %s could not be rebuilt. %s", r.Name, r.Spec.NodeID, why))
}

// nextRebuild returns when the pause after failed rebuilds ends; zero: there is no pause.
func (w *World) nextRebuild() time.Time {
	if w.failures == nil || !parse(w.failures.NextAttemptAt).After(w.Now) {
		return time.Time{}
	}
	return parse(w.failures.NextAttemptAt)
}

// failing describes rebuilds that failed several times in a row; empty if they did not.
func (w *World) failing() string {
	f := w.failures
	if f == nil || f.Count < 2 {
		return ""
	}
	return fmt.Sprintf("%d rebuilds failed in a row. %s The next one begins at %s.", f.Count, f.Message, cmp.Or(f.NextAttemptAt, "once"))
}

// elsewhere returns the candidates without the nodes that rebuilds of the volume fail on; if no other node has a place, all of them.
func (w *World) elsewhere(r placement.Request) []placement.Node {
	if w.failures == nil || !w.everHealthy() {
		return w.Candidates
	}
	others := slices.DeleteFunc(slices.Clone(w.Candidates), func(n placement.Node) bool { return w.failures.ByNode[n.Name] >= avoidAfter })
	if disk, _ := placement.Find(r, others); disk == nil {
		return w.Candidates
	}
	return others
}
