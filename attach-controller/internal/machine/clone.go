package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// A copy that failed is tried again after clonePause, which doubles each time up to longestClonePause.
const (
	clonePause        = time.Minute
	longestClonePause = time.Hour
)

// sourceOf reads `snap://<volume>/<snapshot>` and `vol://<volume>`; the volume is empty for anything else.
func sourceOf(text string) (volume, snapshot string) {
	if rest, ok := strings.CutPrefix(text, "vol://"); ok {
		volume, _, _ = strings.Cut(rest, "/")
		return volume, ""
	}
	rest, ok := strings.CutPrefix(text, "snap://")
	if !ok {
		return "", ""
	}
	volume, snapshot, _ = strings.Cut(rest, "/")
	return volume, snapshot
}

// SourceOf returns the volume in a data source; empty if there is none.
func SourceOf(dataSource string) string {
	volume, _ := sourceOf(dataSource)
	return volume
}

// CopiedSnapshot returns the name of the snapshot that is copied into a volume; empty if none is.
func CopiedSnapshot(v *v1beta2.Volume) string {
	_, snapshot := sourceOf(v.Spec.DataSource)
	return cmp.Or(CloneSnapshot(v), snapshot)
}

// CloneSnapshot returns the name of the snapshot that is created to copy a whole volume into this one; empty if the data source names a
// snapshot, or there is no copy.
func CloneSnapshot(v *v1beta2.Volume) string {
	if !strings.HasPrefix(v.Spec.DataSource, "vol://") || SourceOf(v.Spec.DataSource) == "" {
		return ""
	}
	return "clone-" + string(v.UID)
}

// clone fills a new volume from a snapshot of another one. For a whole volume it creates a snapshot, and deletes it after the copy.
type clone struct{ *draft }

func (x clone) decide() {
	volume, snapshot := sourceOf(x.Volume.Spec.DataSource)
	c := x.Volume.Status.CloneStatus
	switch c.State {
	case "":
		x.begin(volume, snapshot)
	case v1beta2.CloneInitiated:
		x.copyData(volume)
	case v1beta2.CloneFailed:
		x.retry()
	case v1beta2.CloneCopyCompleted:
		x.deleteCloneSnapshot()
		if x.robustness() == v1beta2.VolumeRobustnessHealthy {
			x.setState(v1beta2.CloneCompleted, c.Snapshot)
			x.emit(Event{Reason: EventCloned, Note: "The volume was cloned from " + x.Volume.Spec.DataSource + "."})
		}
	case v1beta2.CloneCompleted:
		x.deleteCloneSnapshot()
	}
}

// begin starts the copy into a new volume. A volume whose status was lost keeps its data. If a copy held it last, that was the copy into it
// or a later one from it, and a person has to say whether the volume has its data.
func (x clone) begin(volume, snapshot string) {
	v := x.Volume
	switch {
	case volume == "" || v1beta2.EverAttached(v):
	case !x.everHealthy():
		x.setState(v1beta2.CloneInitiated, snapshot)
		x.reportMode()
	case v.Spec.LastAttachedBy == v1beta2.AttacherClone:
		x.wait(v1beta2.ReasonCopyUnknown, fmt.Sprintf("The status of the volume was lost, so that nothing says whether the copy of %s has "+
			"ended. If the volume has its data: kubectl -n %s patch lhv %s --subresource=status --type merge -p "+
			`'{"status":{"cloneStatus":{"state":"%s"}}}'. Otherwise create the volume again.`,
			v.Spec.DataSource, v.Namespace, v.Name, v1beta2.CloneCompleted))
	default:
		x.setState(v1beta2.CloneCompleted, snapshot)
	}
}

// reportMode names what is done in the place of a linked clone.
func (x clone) reportMode() {
	if x.Volume.Spec.CloneMode == v1beta2.CloneModeLinked {
		x.emit(Event{Reason: EventCloneIsFull, Warning: true, Note: "spec.cloneMode is linked-clone, which is not done here: all data of " +
			x.Volume.Spec.DataSource + " is copied, and takes as much room again. The snapshot stays in the source while this volume exists."})
	}
}

func (x clone) setState(state, snapshot string) {
	status := map[string]any{"state": state, "sourceVolume": SourceOf(x.Volume.Spec.DataSource), "snapshot": snapshot}
	if x.Volume.Status.CloneStatus.NextAllowedAttemptAt != "" {
		status["nextAllowedAttemptAt"] = ""
	}
	x.setStatus("cloneStatus", nil, status)
}

// copyData requests the copy once both engines run and the source has the snapshot, and reads the result, whatever became
// of the source: a copy that has ended does not need it any more.
func (x clone) copyData(volume string) {
	snapshot := CopiedSnapshot(x.Volume)
	from := "snap://" + volume + "/" + snapshot
	asked := x.engine != nil && x.engine.Spec.RequestedDataSource == from
	if asked && x.opened() && x.readResult(volume, snapshot) {
		return
	}
	switch {
	case snapshot == "":
		x.wait(v1beta2.ReasonCloning, "spec.dataSource "+x.Volume.Spec.DataSource+" names no snapshot: create the volume again with vol://"+
			volume+" or snap://"+volume+"/<snapshot>.")
		return
	case x.SourceVolume == nil || x.SourceVolume.DeletionTimestamp != nil:
		x.wait(v1beta2.ReasonCloning, "Volume "+volume+
			", which is to be copied, does not exist or is being deleted: delete this volume, and create it again from another one.")
		return
	case CloneSnapshot(x.Volume) != "" && x.SourceSnapshot == nil && !asked:
		x.add(Write{Kind: Create, Stage: StageMake, Object: v1beta2.NewSnapshotBy(v1beta2.ManagedByAttachController, x.SourceVolume, snapshot)})
	}
	if !x.opened() || x.Source == nil {
		x.wait(v1beta2.ReasonCloning, "The copy waits until "+volume+" is attached, and this volume, too, without a frontend.")
		return
	}
	if !asked {
		x.beginCopy(volume, snapshot, from)
		return
	}
	if len(x.engine.Status.CloneStatus) == 0 {
		x.wait(v1beta2.ReasonCloning, x.notBegun("copy "+x.Volume.Spec.DataSource))
	}
}

// opened reports whether the volume is attached without a frontend: nothing but the copy writes to it.
func (x clone) opened() bool {
	return x.engineRuns() && x.state == v1beta2.VolumeStateAttached && x.Volume.Spec.DisableFrontend
}

// beginCopy requests the copy of a snapshot that is ready, or that the source's engine lists.
func (x clone) beginCopy(volume, snapshot, from string) {
	info, taken := x.Source.Status.Snapshots[snapshot]
	taken = taken && !info.Removed
	why := "."
	if s := x.SourceSnapshot; s != nil {
		taken = (taken || s.Status.ReadyToUse && s.Spec.Volume == volume) && s.DeletionTimestamp == nil
		if c := conditions.Get(s.Status.Conditions, v1beta2.SnapshotReady); c != nil && c.Status == v1beta2.ConditionFalse &&
			c.Message != "" {
			why = ": " + c.Message
		}
	}
	if !taken {
		x.wait(v1beta2.ReasonCloning, "Volume "+volume+" has no snapshot "+snapshot+" to copy yet"+why)
		return
	}
	x.recordSnapshot(snapshot)
	x.patch(StageRun, x.engine, "requestedDataSource", from)
}

// recordSnapshot records which snapshot is copied: before the request to the engine, and after it if that write was lost.
func (x clone) recordSnapshot(snapshot string) {
	if x.Volume.Status.CloneStatus.Snapshot != snapshot {
		x.setState(v1beta2.CloneInitiated, snapshot)
	}
}

// readResult reads the result that the engine reports, replica by replica in the order of their addresses; it reports whether there is one.
func (x clone) readResult(volume, snapshot string) (ended bool) {
	x.recordSnapshot(snapshot)
	all := x.engine.Status.CloneStatus
	done := len(all) > 0
	for _, where := range slices.Sorted(maps.Keys(all)) {
		one := all[where]
		if one.State == "error" || one.Error != "" && !one.IsUnanswered() {
			x.copyFailed(volume, snapshot, where, one.Error)
			return true
		}
		done = done && one.State == "complete"
	}
	if done {
		x.setState(v1beta2.CloneCopyCompleted, snapshot)
	}
	return done
}

func (x clone) copyFailed(volume, snapshot, where, why string) {
	attempts := x.Volume.Status.CloneStatus.AttemptCount + 1
	pause := min(clonePause<<min(max(attempts-1, 0), 6), longestClonePause)
	at := stamp(x.Now.Add(pause))
	x.setStatus("cloneStatus", nil, map[string]any{"state": v1beta2.CloneFailed, "sourceVolume": volume, "snapshot": snapshot,
		"attemptCount": attempts, "nextAllowedAttemptAt": at})
	x.emit(Event{Reason: EventCloneFailed, Warning: true,
		Note: fmt.Sprintf("Copying from %s to %s failed: %s. It is tried again at %s.", volume, where, strings.TrimSuffix(why, "."), at)})
}

// retry repeats a failed copy after a pause. It waits until the volume is detached: an engine that still runs reports the old
// failure. A failure without a time for the next attempt stays: the volume may have been used since.
func (x clone) retry() {
	c := x.Volume.Status.CloneStatus
	due, err := time.Parse(time.RFC3339, c.NextAllowedAttemptAt)
	if err != nil {
		x.wait(v1beta2.ReasonCloning, "Copying from "+x.Volume.Spec.DataSource+
			" failed, see the event CloneFailed: delete the volume and create it again.")
		return
	}
	if x.Now.Before(due) {
		x.requeueAt(due)
		x.wait(v1beta2.ReasonCloning, fmt.Sprintf("Copying from %s failed %d times, see the event CloneFailed: it is tried again "+
			"at %s.", x.Volume.Spec.DataSource, c.AttemptCount, c.NextAllowedAttemptAt))
		return
	}
	if x.engine != nil && x.engine.Spec.RequestedDataSource != "" {
		x.patch(StageRun, x.engine, "requestedDataSource", "")
		return
	}
	if x.state != v1beta2.VolumeStateDetached || x.engine != nil && len(x.engine.Status.CloneStatus) > 0 {
		x.wait(v1beta2.ReasonCloning, "Copying from "+x.Volume.Spec.DataSource+" failed, and is tried again once the volume is detached.")
		return
	}
	x.setState(v1beta2.CloneInitiated, c.Snapshot)
}

// deleteCloneSnapshot deletes the snapshot that was created for the copy.
func (d *draft) deleteCloneSnapshot() {
	if s := d.SourceSnapshot; s != nil && s.DeletionTimestamp == nil && CloneSnapshot(d.Volume) != "" {
		d.add(Write{Kind: Delete, Stage: StageRemove, Object: s})
	}
}
