package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
func (p *pass) clone() {
	volume, snapshot := sourceOf(p.Volume.Spec.DataSource)
	c := p.Volume.Status.CloneStatus
	switch c.State {
	case "":
		if !p.everHealthy() && volume != "" { // only a new volume is filled
			p.cloneState(v1beta2.CloneInitiated, snapshot)
		}
	case v1beta2.CloneInitiated:
		p.copyData(volume)
	case v1beta2.CloneFailed:
		p.cloneAgain()
	case v1beta2.CloneCopyCompleted:
		p.dropCloneSnapshot()
		if p.robustness() == v1beta2.VolumeRobustnessHealthy {
			p.cloneState(v1beta2.CloneCompleted, c.Snapshot)
			p.say(Event{Reason: EventCloned, Note: "The volume was cloned from " + p.Volume.Spec.DataSource + "."})
		}
	case v1beta2.CloneCompleted:
		p.dropCloneSnapshot()
	}
}

func (p *pass) cloneState(state, snapshot string) {
	status := map[string]any{"state": state, "sourceVolume": SourceOf(p.Volume.Spec.DataSource), "snapshot": snapshot}
	if p.Volume.Status.CloneStatus.NextAllowedAttemptAt != "" {
		status["nextAllowedAttemptAt"] = ""
	}
	p.set("cloneStatus", nil, status)
}

// copyData requests the copy once both engines run and the source has the snapshot, and reads the result.
func (p *pass) copyData(volume string) {
	snapshot := CopiedSnapshot(p.Volume)
	from := "snap://" + volume + "/" + snapshot
	asked := p.engine != nil && p.engine.Spec.RequestedDataSource == from
	switch {
	case snapshot == "":
		p.wait(v1beta2.ReasonCloning, "spec.dataSource "+p.Volume.Spec.DataSource+" names no snapshot: create the volume again with vol://"+
			volume+" or snap://"+volume+"/<snapshot>.")
		return
	case p.SourceVolume == nil || p.SourceVolume.DeletionTimestamp != nil:
		p.wait(v1beta2.ReasonCloning, "Volume "+volume+
			", which is to be copied, does not exist or is being deleted: delete this volume, and create it again from another one.")
		return
	case CloneSnapshot(p.Volume) != "" && p.SourceSnapshot == nil && !asked:
		p.add(Write{Kind: Create, Stage: StageMake, Object: p.newCloneSnapshot(snapshot)})
	}
	if !p.engineRuns() || p.state != v1beta2.VolumeStateAttached || p.Source == nil || !p.Volume.Spec.DisableFrontend {
		p.wait(v1beta2.ReasonCloning, "The copy waits until "+volume+" is attached, and this volume, too, without a frontend.")
		return
	}
	if !asked {
		p.beginCopy(volume, snapshot, from)
		return
	}
	p.copied(volume, snapshot)
}

// beginCopy requests the copy of a snapshot that is ready, or that the source's engine lists.
func (p *pass) beginCopy(volume, snapshot, from string) {
	info, taken := p.Source.Status.Snapshots[snapshot]
	taken = taken && !info.Removed
	why := "."
	if s := p.SourceSnapshot; s != nil {
		taken = (taken || s.Status.ReadyToUse && s.Spec.Volume == volume) && s.DeletionTimestamp == nil
		if c := conditions.Get(s.Status.Conditions, v1beta2.SnapshotReady); c != nil && c.Status == v1beta2.ConditionFalse &&
			c.Message != "" {
			why = ": " + c.Message
		}
	}
	if !taken {
		p.wait(v1beta2.ReasonCloning, "Volume "+volume+" has no snapshot "+snapshot+" to copy yet"+why)
		return
	}
	p.noteSnapshot(snapshot)
	p.patch(StageStop, p.engine, "requestedDataSource", from)
}

// noteSnapshot records which snapshot is copied: before the request to the engine, and after it if that write was lost.
func (p *pass) noteSnapshot(snapshot string) {
	if p.Volume.Status.CloneStatus.Snapshot != snapshot {
		p.cloneState(v1beta2.CloneInitiated, snapshot)
	}
}

// copied reads the result that the engine reports, replica by replica in the order of their addresses.
func (p *pass) copied(volume, snapshot string) {
	p.noteSnapshot(snapshot)
	all := p.engine.Status.CloneStatus
	done := len(all) > 0
	if !done {
		p.wait(v1beta2.ReasonCloning, p.notBegun("copy "+p.Volume.Spec.DataSource))
	}
	for _, where := range slices.Sorted(maps.Keys(all)) {
		one := all[where]
		if one.State == "error" || one.Error != "" {
			p.cloneFailed(volume, snapshot, where, one.Error)
			return
		}
		done = done && one.State == "complete"
	}
	if done {
		p.cloneState(v1beta2.CloneCopyCompleted, snapshot)
	}
}

func (p *pass) cloneFailed(volume, snapshot, where, why string) {
	attempts := p.Volume.Status.CloneStatus.AttemptCount + 1
	pause := min(clonePause<<min(max(attempts-1, 0), 6), longestClonePause)
	at := stamp(p.Now.Add(pause))
	p.set("cloneStatus", nil, map[string]any{"state": v1beta2.CloneFailed, "sourceVolume": volume, "snapshot": snapshot,
		"attemptCount": attempts, "nextAllowedAttemptAt": at})
	p.say(Event{Reason: EventCloneFailed, Warning: true,
		Note: fmt.Sprintf("Copying from %s to %s failed: %s. It is tried again at %s.", volume, where, strings.TrimSuffix(why, "."), at)})
}

// cloneAgain repeats a failed copy after a pause. It waits until the volume is detached: an engine that still runs reports the old
// failure. A failure without a time for the next attempt stays: the volume may have been used since.
func (p *pass) cloneAgain() {
	c := p.Volume.Status.CloneStatus
	due, err := time.Parse(time.RFC3339, c.NextAllowedAttemptAt)
	if err != nil {
		p.wait(v1beta2.ReasonCloning, "Copying from "+p.Volume.Spec.DataSource+
			" failed, see the event CloneFailed: delete the volume and create it again.")
		return
	}
	if p.Now.Before(due) {
		p.requeueAt(due)
		p.wait(v1beta2.ReasonCloning, fmt.Sprintf("Copying from %s failed %d times, see the event CloneFailed: it is tried again "+
			"at %s.", p.Volume.Spec.DataSource, c.AttemptCount, c.NextAllowedAttemptAt))
		return
	}
	if p.engine != nil && p.engine.Spec.RequestedDataSource != "" {
		p.patch(StageStop, p.engine, "requestedDataSource", "")
		return
	}
	if p.state != v1beta2.VolumeStateDetached || p.engine != nil && len(p.engine.Status.CloneStatus) > 0 {
		p.wait(v1beta2.ReasonCloning, "Copying from "+p.Volume.Spec.DataSource+" failed, and is tried again once the volume is detached.")
		return
	}
	p.cloneState(v1beta2.CloneInitiated, c.Snapshot)
}

// newCloneSnapshot returns the Snapshot of the source as a user would create it, complete from the start.
func (f Facts) newCloneSnapshot(name string) *v1beta2.Snapshot {
	source := f.SourceVolume
	return &v1beta2.Snapshot{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: source.Namespace, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(source.Name)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: source.Name, UID: source.UID,
			}},
		},
		Spec: v1beta2.SnapshotSpec{Volume: source.Name, CreateSnapshot: true},
	}
}

// dropCloneSnapshot deletes the snapshot that was created for the copy.
func (p *pass) dropCloneSnapshot() {
	if s := p.SourceSnapshot; s != nil && s.DeletionTimestamp == nil && CloneSnapshot(p.Volume) != "" {
		p.add(Write{Kind: Delete, Stage: StageRemove, Object: s})
	}
}
