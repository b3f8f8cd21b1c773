package engine

import (
	"cmp"
	"net/url"

	"drover.dev/drover/shared/api/v1beta2"
)

// keepUnanswered lets a replica that did not answer its engine keep the entry that the status has (v1beta2.PurgeStatus.IsUnanswered).
// Without such an entry the replica has none, and it is not known which work it has begun.
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
	p.unanswered = clones || restores
	p.going = p.going || p.unanswered
}

// KnownPurges returns what the replicas of an engine report about a purge, as far as it is known: the last report of a replica that did not
// answer counts.
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
	done := p.Engine.Spec.RequestedBackupRestore
	for _, one := range p.Seen.Restores {
		if one.IsRestoring {
			p.going = true
		}
		if one.IsRestoring || one.Error != "" || one.LastRestored != done {
			done = ""
		}
	}
	if done != "" && !p.unanswered {
		s.LastRestoredBackup = done
	}
}

func (p *pass) restoreDue() bool { return p.Seen.Restores != nil && !p.restoreBegun() }

// restoreBegun reports whether the engine has begun to restore this backup, or failed to.
func (p *pass) restoreBegun() bool {
	for _, one := range p.Seen.Restores {
		if one.IsRestoring || one.LastRestored == p.Engine.Spec.RequestedBackupRestore || p.restoreFailed(one) {
			return true
		}
	}
	return false
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
