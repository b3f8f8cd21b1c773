package backup

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// steps is how finely progress is reported: each step is a write.
const steps = 10

// What engines report of a piece of work.
const (
	workComplete = "complete"
	workFailed   = "error"
)

// Decide is total, deterministic and idempotent.
func Decide(w World) Verdict {
	p := &pass{World: w}
	list := slices.SortedFunc(slices.Values(w.Backups), func(a, b Backup) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
	for _, b := range list {
		switch {
		case b.ended():
		case b.begunBy(w.Run):
			p.follow(b)
		case b.Deleting && p.Usable:
			p.abandon(b) // that run is over: the volume has no other engine
		case b.Approved && !b.Deleting:
			p.waiting = append(p.waiting, b)
		}
	}
	p.begin()
	return p.out
}

type pass struct {
	World
	// copying reports whether a backup is, or may be.
	copying bool
	waiting []Backup
	out     Verdict
}

// follow is about a Backup that this run of the engine was asked for, or was to be.
func (p *pass) follow(b Backup) {
	a, answered := p.Answers[b.Name]
	switch {
	case answered && a.Known:
		p.known(b, a)
	case b.Replica != "" && !p.uses(b.Replica):
		p.lost(b)
	case !answered:
		p.hold(p.Now.Add(p.Pause))
	case b.State == v1beta2.BackupInProgress && !b.Deleting:
		p.say(b, Change{State: v1beta2.BackupError, Replica: b.Replica, Progress: b.Progress,
			Error: "The engine does not know the backup any more that it had begun; create another Backup."})
	case b.State == v1beta2.BackupPending && p.AskedAt.Before(p.openUntil(b)):
		p.hold(p.openUntil(b))
	case b.Deleting:
		p.abandon(b)
	case p.V2:
		p.say(b, Change{State: v1beta2.BackupError, Error: "The engine did not answer the request, and none of its replicas reports the " +
			"backup. One of them may copy all the same, so it is not requested a second time of this instance; create another Backup."})
	case b.Approved:
		p.waiting = append(p.waiting, b)
	}
}

// uses reports whether the engine listed a replica of that address in mode RW: no other is asked about a copy, and one that left that mode
// returns to it without what it copied.
func (p *pass) uses(replica string) bool {
	return slices.ContainsFunc(p.RW, func(where string) bool { return bare(where) == bare(replica) })
}

// bare is an address without its scheme.
func bare(address string) string { return strings.TrimPrefix(address, "tcp://") }

// lost: the replica that copied is gone, and its copy with it.
func (p *pass) lost(b Backup) {
	if b.Deleting {
		p.abandon(b)
		return
	}
	p.say(b, Change{State: v1beta2.BackupError, Replica: b.Replica, Progress: b.Progress, Error: fmt.Sprintf("The engine does not use the "+
		"replica at %s any more, which copied the backup: the copy is lost; create another Backup.", b.Replica)})
}

// abandon records of a deleted Backup that no engine copies it: nothing of it is under way.
func (p *pass) abandon(b Backup) { p.say(b, Change{Replica: b.Replica, Progress: b.Progress}) }

// known: the engine reports how far it is.
func (p *pass) known(b Backup, a Answer) {
	change := Change{State: v1beta2.BackupInProgress, Replica: cmp.Or(a.Replica, b.Replica),
		Progress: max(b.Progress, a.Percent-a.Percent%steps)}
	switch {
	case a.Error != "" || a.State == workFailed:
		change.State, change.Error = v1beta2.BackupError, cmp.Or(a.Error, "The engine does not say why.")
	case a.State == workComplete && p.Listed == nil:
		p.hold(p.Now.Add(p.Pause)) // its size is recorded once, with its end
		return
	case a.State == workComplete:
		change.State, change.URL, change.Progress, change.Size = v1beta2.BackupCompleted, a.URL, 100, sizeOf(b.Snapshot, p.Listed)
	default:
		p.hold(p.Now.Add(p.Pause))
	}
	p.say(b, change)
}

// sizeOf is how many bytes a snapshot and those below it hold, which is what a backup of it describes. The engine does not report how many
// bytes the backup has in its target: they are compressed, shared between backups and counted in whole blocks. Empty where a snapshot of
// the chain is not listed.
func sizeOf(snapshot string, listed map[string]v1beta2.SnapshotInfo) string {
	total := int64(0)
	for range len(listed) {
		info, ok := listed[snapshot]
		size, err := strconv.ParseInt(info.Size, 10, 64)
		if !ok || err != nil {
			return ""
		}
		if total, snapshot = total+size, info.Parent; snapshot == "" {
			return strconv.FormatInt(total, 10)
		}
	}
	return ""
}

// openUntil is until when a call for it may still be under way of which no one knows.
func (p *pass) openUntil(b Backup) time.Time {
	until := p.Open[b.Name]
	if b.Requested.Before(p.ElectedAt) && p.FencingDelayEnds.After(until) {
		until = p.FencingDelayEnds
	}
	return until
}

// begin picks the first that waits, unless one is being copied.
func (p *pass) begin() {
	for _, b := range p.waiting {
		info, listed := p.Listed[b.Snapshot]
		if !listed || info.Removed {
			continue
		}
		if p.copying || p.Busy || !p.Usable {
			p.requeueAt(p.Now.Add(p.Pause))
			return
		}
		p.out.Begin = b.Name
		return
	}
}

func (p *pass) say(b Backup, c Change) {
	if c.Name = b.Name; c.State != b.State || c.Progress != b.Progress || c.Replica != b.Replica {
		p.out.Changes = append(p.out.Changes, c)
	}
}

func (p *pass) hold(until time.Time) {
	p.copying = true
	p.requeueAt(until)
}

func (p *pass) requeueAt(at time.Time) {
	if p.out.RequeueAt.IsZero() || at.Before(p.out.RequeueAt) {
		p.out.RequeueAt = at
	}
}
