package engine

import (
	"cmp"
	"maps"
	"net/url"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// keepUnanswered keeps the stored entry of a replica that did not answer its engine (v1beta2.PurgeStatus.IsUnanswered). If no entry is
// stored, it is not known which work the replica has begun.
func (p *pass) keepUnanswered() {
	var clones, restores bool
	asked := p.Seen.Clones
	p.Seen.Clones, clones = answered(asked, p.Engine.Status.CloneStatus)
	for where := range asked {
		if _, known := p.Seen.Clones[where]; !known {
			p.Seen.Clones[where] = v1beta2.SnapshotCloneStatus{} // the copy is not complete without it
		}
	}
	p.Seen.Restores, restores = answered(p.Seen.Restores, p.Engine.Status.RestoreStatus)
	p.unanswered = clones || restores || p.Seen.Unanswered.Clones || p.Seen.Unanswered.Restores
	p.going = p.going || p.unanswered || p.Seen.Unanswered.Any()
}

// KnownPurges returns the reports of an engine's replicas about a purge. For a replica that did not answer, its last report counts.
func KnownPurges(e *v1beta2.Engine, seen map[string]v1beta2.PurgeStatus) map[string]v1beta2.PurgeStatus {
	known, _ := answered(seen, e.Status.PurgeStatus)
	return known
}

// answered replaces unanswered entries by the stored ones, and reports whether there was one.
func answered[T interface{ IsUnanswered() bool }](seen, stored map[string]T) (all map[string]T, unanswered bool) {
	if seen == nil {
		return nil, false
	}
	all = make(map[string]T, len(seen))
	for where, one := range seen {
		if !one.IsUnanswered() {
			all[where] = one
			continue
		}
		unanswered = true
		if before, ok := stored[where]; ok && !before.IsUnanswered() {
			all[where] = before
		}
	}
	return all, unanswered
}

// copies keeps the result of a clone, and which backup was restored last: a later run of the engine does not report them. The restore
// status of replicas is of this run only: a replica that failed in the last run restores again.
func (p *pass) copies() {
	s := &p.out.Status
	if begun(p.Seen.Clones) {
		s.CloneStatus = p.Seen.Clones
		p.going = p.going || !cloned(p.Seen.Clones)
	}
	if p.Seen.Restores == nil {
		return
	}
	if s.RestoreStatus = nil; len(p.Seen.Restores) == 0 {
		return
	}
	s.RestoreStatus = p.Seen.Restores
	wanted, lacking, counted := p.Engine.Spec.RequestedBackupRestore, false, false
	for where, one := range p.Seen.Restores {
		p.going = p.going || one.IsRestoring
		if p.isWriteOnly(where) {
			continue // the engine does not read from it before it is verified
		}
		counted = true
		lacking = lacking || one.IsRestoring || one.Error != "" || one.LastRestored != wanted
	}
	if counted && !lacking && !p.unanswered {
		s.LastRestoredBackup = wanted
	}
}

// isWriteOnly reports whether the engine lists the replica at an address as write-only.
func (p *pass) isWriteOnly(where string) bool {
	for _, r := range p.listed {
		if r.Address == where {
			return r.Mode == v1beta2.ReplicaModeWO
		}
	}
	return false
}

// fillsByRestore reports whether the engine's next restore fills the replicas that are added to it now.
func (p *pass) fillsByRestore() bool { return v1beta2.FillsByRestore(p.Engine) }

// copiesNow reports whether a replica of the engine is being filled from a backup or from another volume.
func (p *pass) copiesNow() bool {
	return v1beta2.IsRestoring(p.Seen.Restores) || begun(p.Seen.Clones) && !cloned(p.Seen.Clones)
}

// fill restores the requested backup to a write-only replica that was added for it; replicas that have the backup refuse it for themselves.
// Once the replica has the backup, it is verified. While another replica is rebuilt, or its rebuild has ended, the engine restores nothing.
func (p *pass) fill() {
	if p.Seen.Rebuilds == nil {
		return // it is not known whether one copies
	}
	for _, r := range p.listed {
		if r.Mode == v1beta2.ReplicaModeWO && (!p.fillsByRestore() || p.Seen.Rebuilds[r.Address].State != "") {
			return
		}
	}
	for _, c := range p.verifications() {
		if !p.waits(c) {
			p.call(c)
			return
		}
	}
	if p.isNext(OpRestore, p.restoreDue() && !p.unanswered) {
		p.call(Call{Op: OpRestore})
	}
}

// verifications returns the calls that make a write-only replica readable. The replica must have the requested backup, like every replica
// from which the engine reads.
func (p *pass) verifications() (out []Call) {
	wanted := p.Engine.Spec.RequestedBackupRestore
	if !p.fillsByRestore() || p.out.Status.LastRestoredBackup != wanted || p.copiesNow() || p.unanswered {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.listed)) {
		r := p.listed[name]
		one := p.Seen.Restores[r.Address]
		if r.Mode == v1beta2.ReplicaModeWO && one.LastRestored == wanted && one.Error == "" && p.isMapped(r) {
			out = append(out, Call{Op: OpVerify, Name: name, Address: bare(r.Address)})
		}
	}
	return out
}

// isMapped reports whether the engine's spec has a listed replica at the same address.
func (p *pass) isMapped(r Replica) bool {
	address, ok := p.Engine.Spec.ReplicaAddressMap[r.Name]
	return ok && bare(address) == bare(r.Address)
}

// restoreDue reports whether the requested backup has to be restored: the engine has not begun, or a replica that was added later lacks the
// backup.
func (p *pass) restoreDue() bool {
	if p.Seen.Restores == nil || p.copiesNow() {
		return false
	}
	begun := p.Engine.Status.LastRestoredBackup == p.Engine.Spec.RequestedBackupRestore
	for where, one := range p.Seen.Restores {
		done := one.LastRestored == p.Engine.Spec.RequestedBackupRestore || p.restoreFailed(one)
		switch {
		case !p.isWriteOnly(where):
			begun = begun || done
		case !done && p.fillsByRestore():
			return true
		}
	}
	return !begun
}

// restoreFailed reports whether a replica failed to restore the requested backup. A failure with an earlier backup, which the status
// keeps until the next restore begins, does not count.
func (p *pass) restoreFailed(one v1beta2.RestoreStatus) bool {
	wanted := p.Engine.Spec.RequestedBackupRestore
	return one.Error != "" && cmp.Or(backupOf(one.BackupURL), wanted) == wanted
}

// backupOf is the name in the URL of a backup; empty where it has none.
func backupOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Query().Get(queryBackup)
}
