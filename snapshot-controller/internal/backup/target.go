package backup

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Nothing is sent to a target that refused the last time for as long as it has refused, within these: each try may attach a volume.
const pauseShortest, pauseLongest = time.Minute, time.Hour

// targetProblem explains why nothing can be copied to the target, and when that is tried again; zero: when it changes. What
// was never tried is tried.
func (w World) targetProblem() (problem string, retry time.Time) {
	t, name := w.Target, w.TargetName
	switch {
	case t == nil:
		return "There is no BackupTarget " + name + "; create it, or name another.", time.Time{}
	case t.DeletionTimestamp != nil:
		return "BackupTarget " + name + " is being deleted; name another.", time.Time{}
	case t.Spec.BackupTargetURL == "":
		return "BackupTarget " + name + " has no backupTargetURL; set it.", time.Time{}
	case t.Status.LastSyncedAt != "" && !t.Status.Available && conditions.Get(t.Status.Conditions, v1beta2.BackupTargetListed) == nil:
		return "longhorn-manager could not reach BackupTarget " + name + " at " + t.Status.LastSyncedAt +
			"; repair it, or empty its status.lastSyncedAt if that manager does not run any more.", time.Time{}
	}
	c := conditions.Get(t.Status.Conditions, v1beta2.BackupTargetAvailable)
	if c == nil || c.Status != v1beta2.ConditionFalse || c.ObservedGeneration != t.Generation {
		return "", time.Time{}
	}
	at, err := time.Parse(time.RFC3339, c.LastProbeTime)
	pause := pauseShortest
	if since, unknown := time.Parse(time.RFC3339, c.LastTransitionTime); unknown == nil {
		pause = min(max(at.Sub(since), pauseShortest), pauseLongest)
	}
	if retry = at.Add(pause); err != nil || !w.Now.Before(retry) {
		return "", time.Time{}
	}
	return "BackupTarget " + name + " was refused by the last engine: " + c.Message + " It is tried again at " +
		retry.UTC().Format(time.RFC3339) + ".", retry
}
