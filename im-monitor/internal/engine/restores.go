package engine

import (
	"cmp"
	"net/url"

	"drover.dev/drover/shared/api/v1beta2"
)

// unheard reports whether an entry is no report of a replica, but the error of the question: v1 then lists an error alone, while the
// replica may restore on.
func unheard(one v1beta2.RestoreStatus) bool {
	return one.Error != "" && !one.IsRestoring && one.State == "" && one.BackupURL == "" && one.LastRestored == ""
}

// keepUnheard lets a replica that did not answer its engine keep the entry that the status has; without one it has none. Which restore it
// has begun is not known then.
func (p *pass) keepUnheard() {
	if p.Seen.Restores == nil {
		return
	}
	all := make(map[string]v1beta2.RestoreStatus, len(p.Seen.Restores))
	for where, one := range p.Seen.Restores {
		if !unheard(one) {
			all[where] = one
			continue
		}
		p.unheard, p.going = true, true
		if before, ok := p.Engine.Status.RestoreStatus[where]; ok && !unheard(before) {
			all[where] = before
		}
	}
	p.Seen.Restores = all
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
	if done != "" && !p.unheard {
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
