package machine

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// BackupOf reads the name and the volume of a backup from its URL, `<target>?backup=<name>&volume=<volume>`. The volume is the one in the
// backup target: the BackupVolume that describes it may have another name.
func BackupOf(text string) (backup, volume string) {
	u, err := url.Parse(text)
	if err != nil {
		return "", ""
	}
	return u.Query().Get("backup"), u.Query().Get("volume")
}

// restore fills a new volume from its backup. A standby volume is filled again with each later backup of the same backup volume, until a
// user activates it (spec.Standby false).
//
// If the status of a volume was lost, its replicas show that it was open, and its last holder what for: a volume that its own restore held
// last was never used, and is filled again; any other volume keeps its data.
type restore struct{ *draft }

func (x restore) decide() {
	first, remote := BackupOf(x.Volume.Spec.FromBackup)
	s := x.Volume.Status
	if first == "" {
		x.wait(v1beta2.ReasonRestoring, fmt.Sprintf("spec.fromBackup %q names no backup: it must end in ?backup=<name>&volume=<volume>; "+
			"create the volume again.", x.Volume.Spec.FromBackup))
		return
	}
	if !s.RestoreInitiated {
		x.setStatus("restoreInitiated", false, true)
		if !x.everHealthy() || x.lostItsStatus() && (x.Volume.Spec.Standby || x.Volume.Spec.LastAttachedBy == v1beta2.AttacherRestore) {
			x.setStatus("restoreRequired", s.RestoreRequired, true)
			x.setStatus("isStandby", s.IsStandby, x.Volume.Spec.Standby)
		} // otherwise it has data: only a new volume is filled
		return
	}
	if !s.RestoreRequired {
		x.endRequest()
		return
	}
	if x.faulted {
		return
	}
	x.recordLatestBackup()
	backup := x.wantedBackup(first)
	if x.engine == nil {
		return
	}
	if !x.Volume.Spec.DisableFrontend {
		x.wait(v1beta2.ReasonRestoring,
			"The restore waits until the volume is attached without a frontend: it must not be in use meanwhile.")
		return
	}
	if s.IsStandby && x.engine.Spec.RequestedBackupRestore != backup {
		if sized := x.growFirst(); !sized {
			x.failAdded()
			return
		}
	}
	from := x.nameInRestore(backup, remote)
	if x.engine.Spec.RequestedBackupRestore != backup || x.engine.Spec.BackupVolume != from {
		x.out.Fresh, x.out.FreshVolume = true, true
		x.patch(StageRun, x.engine, "requestedBackupRestore", backup)
		x.patch(StageRun, x.engine, "backupVolume", from)
		return
	}
	x.readResult(backup)
}

// endRequest ends the request to restore a backup once the volume has its data. While an engine has such a request, a restore fills the
// replicas that are added to it; afterwards they are rebuilt.
func (x restore) endRequest() {
	if e := x.engine; e != nil && (e.Spec.RequestedBackupRestore != "" || e.Spec.BackupVolume != "") {
		x.patch(StageRun, e, "requestedBackupRestore", "")
		x.patch(StageRun, e, "backupVolume", "")
	}
}

// growFirst expands a standby volume before it is filled with a larger backup; it reports whether the volume has the backup's size. The
// stored size of an encrypted volume with room for its header is larger than the volume by that room.
func (x restore) growFirst() bool {
	b := x.BackupVolume
	if b == nil || b.Status.Size == "" {
		return true
	}
	stored, err := strconv.ParseInt(b.Status.Size, 10, 64)
	if err != nil {
		return true
	}
	if x.Volume.Spec.Encrypted && b.Status.Labels[labelVolumeEncrypted] == labelEnabled {
		stored -= v1beta2.LUKSHeaderBytes
	}
	switch wanted := x.Volume.Spec.Size; {
	case stored < wanted:
		return x.wait(v1beta2.ReasonRestoring, fmt.Sprintf("The backups of %s have %d bytes and this volume has %d: a volume is filled "+
			"from backups of its own size only. Create another standby volume.", b.Name, stored, wanted))
	case stored > wanted:
		x.patch(StageRun, x.Volume, "size", size(stored))
		return x.wait(v1beta2.ReasonRestoring, fmt.Sprintf("The backups of %s have %d bytes and this volume has %d: it grows first.",
			b.Name, stored, wanted))
	case x.engine.Status.CurrentSize > 0 && x.engine.Status.CurrentSize < wanted:
		return x.wait(v1beta2.ReasonRestoring, fmt.Sprintf("Engine %s has %d bytes and grows to %d before the next backup.", x.engine.Name,
			x.engine.Status.CurrentSize, wanted))
	}
	return true
}

// The label of a BackupVolume that marks an encrypted volume whose backups contain the LUKS header.
const labelVolumeEncrypted, labelEnabled = "volume-encrypted", "enabled"

// followsBackups reports whether the volume is a standby volume, and its backup volume has a backup that is not older than the recorded
// one. A BackupVolume that is missing, lists no backup, or lost its newest one never takes a standby volume back to an earlier backup.
func (f Facts) followsBackups() bool {
	b := f.BackupVolume
	if !f.Volume.Status.IsStandby || b == nil || b.Status.LastBackupName == "" {
		return false
	}
	return !isEarlier(b.Status.LastBackupAt, f.Volume.Status.LastBackupAt)
}

// isEarlier reports whether a time is before another one, both as RFC 3339; false if either cannot be read.
func isEarlier(a, b string) bool {
	first, err := time.Parse(time.RFC3339, a)
	if err != nil {
		return false
	}
	second, err := time.Parse(time.RFC3339, b)
	return err == nil && first.Before(second)
}

// wantedBackup returns the backup that the volume is to have. A standby volume wants the newest of its backup volume, or keeps the one that
// is recorded; any other volume wants the one in spec.fromBackup.
func (f Facts) wantedBackup(first string) string {
	switch {
	case f.followsBackups():
		return f.BackupVolume.Status.LastBackupName
	case f.Volume.Status.IsStandby:
		return cmp.Or(f.Volume.Status.LastBackup, first)
	}
	return first
}

// recordLatestBackup records the newest backup that a standby volume follows.
func (x restore) recordLatestBackup() {
	if x.followsBackups() {
		s, b := x.Volume.Status, x.BackupVolume.Status
		x.setStatus("lastBackup", s.LastBackup, b.LastBackupName)
		x.setStatus("lastBackupAt", s.LastBackupAt, b.LastBackupAt)
	}
}

// nameInRestore returns the name of the backup volume that the engine restores from. An engine that was asked for the backup already keeps
// the name if the BackupVolume is missing now.
func (x restore) nameInRestore(backup, remote string) string {
	asked := x.engine.Spec
	switch {
	case x.BackupVolume != nil:
		return x.BackupVolume.Name
	case asked.RequestedBackupRestore == backup && asked.BackupVolume != "":
		return asked.BackupVolume
	}
	return remote
}

// readResult ends the restore once the engine has the backup; the restore of a standby volume continues until a user activates it.
func (x restore) readResult(backup string) {
	if x.restoresReadable() {
		return
	}
	if x.engine.Status.LastRestoredBackup != backup && !x.someRestored(backup) && len(restoreErrors(x.engine, backup)) == 0 {
		x.wait(v1beta2.ReasonRestoring, x.notBegun("restore backup "+backup))
	}
	if x.failUnfilled(backup) {
		return
	}
	switch s := x.Volume.Status; {
	case x.engine.Status.LastRestoredBackup != backup, s.IsStandby && x.Volume.Spec.Standby:
		return
	case s.IsStandby && (!x.usable() || v1beta2.IsPurging(x.engine.Status.PurgeStatus)):
		x.wait(v1beta2.ReasonRestoring, "The standby volume is activated once its engine has a usable replica and purges no snapshots.")
		return
	}
	x.setStatus("isStandby", x.Volume.Status.IsStandby, false)
	x.setStatus("restoreRequired", true, false)
	note := "The volume was restored from backup " + backup
	if at := x.Volume.Status.LastBackupAt; x.Volume.Status.IsStandby && at != "" {
		note += " of " + at
	}
	x.emit(Event{Reason: EventRestored, Note: note + "."})
}

// restoresReadable reports whether a restore fills a replica that the engine reads, or may read. A replica that was added during the
// restore does not delay its end: the engine does not read from it before it has the backup.
func (x restore) restoresReadable() bool {
	e := x.engine
	writeOnly := map[string]bool{}
	for name, where := range e.Spec.ReplicaAddressMap {
		writeOnly["tcp://"+where] = e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeWO
	}
	for where, one := range e.Status.RestoreStatus {
		if one.IsRestoring && !writeOnly[where] {
			return true
		}
	}
	return false
}

// someRestored reports whether a replica has the backup. An engine lists replicas that restored nothing or an earlier one, too.
func (x restore) someRestored(backup string) bool {
	for _, one := range x.engine.Status.RestoreStatus {
		if one.LastRestored == backup {
			return true
		}
	}
	return false
}

// OperationFailed returns the failures that an engine reports in its condition Operations; empty if there is none.
func OperationFailed(list []v1beta2.Condition) string {
	if c := conditions.Get(list, v1beta2.EngineOperations); c != nil && c.Status == v1beta2.ConditionFalse {
		return c.Message
	}
	return ""
}

// notBegun describes a request that the engine has not begun, and the failure that it reports.
func (f Facts) notBegun(what string) string {
	text := "Engine " + f.engine.Name + " was asked to " + what + " and has not begun."
	if failed := OperationFailed(f.engine.Status.Conditions); failed != "" {
		text += " " + failed
	}
	return text
}

// failUnfilled marks the replicas that failed to restore a backup, if another replica has it: new replicas take their places. If no
// replica has the backup, the volume is faulted, and filled again after a pause. Only reports of this engine run count.
func (x restore) failUnfilled(backup string) bool {
	failed := restoreErrors(x.engine, backup)
	if len(failed) == 0 || x.robustness() == v1beta2.VolumeRobustnessUnknown {
		return false
	}
	others := false
	for _, r := range x.Replicas {
		others = others || failed[r.Name] == "" && r.Spec.FailedAt == "" && x.mode(r.Name) == v1beta2.ReplicaModeRW
	}
	if !others {
		x.faulted, x.faultReason = true, x.restoreFailure(backup)
		x.emit(Event{Reason: EventFaulted, Warning: true, Note: x.faultReason + " The volume is detached, and filled again after a " +
			"pause that grows with each failure."})
		return true
	}
	for _, r := range x.Replicas {
		if why := failed[r.Name]; why != "" {
			x.fail(r, fmt.Sprintf("restoring backup %s to it failed: %s", backup, why))
			x.wait(v1beta2.ReasonRestoring, fmt.Sprintf("Restoring backup %s to replica %s failed: %s. Another replica takes its place.",
				backup, r.Name, why))
		}
	}
	return true
}

// failAdded marks write-only replicas that failed to restore the last requested backup: the engine does not grow while it has them, and it
// restores no later backup before it has grown.
func (x restore) failAdded() {
	requested := x.engine.Spec.RequestedBackupRestore
	failed := restoreErrors(x.engine, requested)
	for _, r := range x.Replicas {
		if why := failed[r.Name]; why != "" && x.mode(r.Name) == v1beta2.ReplicaModeWO {
			x.fail(r, fmt.Sprintf("restoring backup %s to it failed: %s", requested, why))
		}
	}
}

// restoreFailure explains that no replica of the volume has the wanted backup; empty if that is not so.
func (f Facts) restoreFailure(backup string) string {
	e := f.engine
	if e == nil || !f.Volume.Status.RestoreRequired || backup == "" {
		return ""
	}
	failed := restoreErrors(e, backup)
	for name := range e.Spec.ReplicaAddressMap {
		added := len(e.Status.ReplicaModeMap) > 0 && e.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeRW
		if failed[name] == "" && !added {
			return ""
		}
	}
	names := slices.Sorted(maps.Keys(failed))
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("Restoring backup %s failed on all replicas: %s.", backup, failed[names[0]])
}

// restoreErrors returns the errors that an engine reports of restoring the backup, by the replica's name. The failure of an earlier
// backup, which the engine keeps until the next restore begins, does not count.
func restoreErrors(e *v1beta2.Engine, backup string) map[string]string {
	out := map[string]string{}
	for name, where := range e.Spec.ReplicaAddressMap {
		one := e.Status.RestoreStatus["tcp://"+where]
		if of, _ := BackupOf(one.BackupURL); one.Error != "" && !one.IsRestoring && cmp.Or(of, backup) == backup {
			out[name] = strings.TrimSuffix(one.Error, ".")
		}
	}
	return out
}

// usable reports whether the running engine has a replica in mode RW.
func (f Facts) usable() bool {
	robustness := f.robustness()
	return robustness == v1beta2.VolumeRobustnessHealthy || robustness == v1beta2.VolumeRobustnessDegraded
}
