package engine

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// calls returns the calls that are due and need not wait: all removals at once, else one call at a time.
func (p *pass) calls() {
	for _, c := range p.removals() {
		if !p.waits(c) {
			p.call(c)
		}
	}
	if len(p.out.Calls) > 0 || p.Adding != "" || p.Seen.MayExpand() || p.Seen.MayPurge() {
		return // a v1 engine refuses one more of these
	}
	if p.rebuilding() {
		p.fill() // beside a rebuild, a v1 engine refuses all other calls
		return
	}
	switch {
	case p.isNext(OpRevert, p.revertDue()):
		snapshot, _, _ := strings.Cut(p.Engine.Spec.RequestedRevert, "@")
		p.call(Call{Op: OpRevert, Snapshot: snapshot})
	case p.isNext(OpExpand, p.expansionDue()):
		p.call(Call{Op: OpExpand, Size: p.wanted()})
	case p.isNext(OpClone, p.cloneDue() && !p.unanswered):
		if volume, snapshot := source(p.Engine.Spec.RequestedDataSource); volume != "" && snapshot != "" {
			p.call(Call{Op: OpClone, Volume: volume, Snapshot: snapshot})
		}
	case p.isNext(OpRestore, p.restoreDue() && !p.unanswered):
		// A replica is added before the restore: a volume that always has a next backup to restore would get none.
		if p.addition(); len(p.out.Calls) == 0 {
			p.call(Call{Op: OpRestore})
		}
	default:
		if p.addition(); !p.going {
			p.cleanUp()
		}
	}
}

// isNext reports whether a call that may be due is, and need not wait after its last attempt.
func (p *pass) isNext(op Op, due bool) bool { return due && !p.waits(Call{Op: op}) }

// due returns the calls that the spec requires and the engine has not executed, also those that have to wait.
func (p *pass) due() map[Key]bool {
	due := map[Key]bool{
		{Op: OpRevert}:  p.revertDue(),
		{Op: OpExpand}:  p.expansionDue(),
		{Op: OpClone}:   p.cloneDue(),
		{Op: OpRestore}: p.restoreDue(),
		{Op: OpPurge}:   p.purgeDue(),
	}
	for _, c := range slices.Concat(p.removals(), p.limitCalls(), p.verifications()) {
		due[c.Key()] = true
	}
	for _, name := range p.missing() {
		due[Key{OpAdd, name}] = true
	}
	maps.DeleteFunc(due, func(_ Key, is bool) bool { return !is })
	return due
}

func (p *pass) revertDue() bool {
	e := p.Engine
	return e.Spec.Active && e.Spec.RequestedRevert != "" && e.Spec.RequestedRevert != e.Status.LastRevert
}

// expansionDue: no expansion is in progress, and the result of the last one is known.
func (p *pass) expansionDue() bool {
	return p.grows() && !p.Seen.Volume.Expanding && p.out.Growth.To == 0 && !p.out.ExpansionFailed
}

func (p *pass) cloneDue() bool {
	return p.Seen.Clones != nil && !begun(p.Seen.Clones) && !cloned(p.Engine.Status.CloneStatus)
}

// queryBackup is the key of a backup's name in its URL: <target>?backup=<name>&volume=<volume in the target>.
const queryBackup = "backup"

// RestoreURL is the URL of a backup of the same volume in the same backup target as the first one: a standby volume restores later
// backups than the one that it was created from.
func RestoreURL(first, backup string) (string, error) {
	target, query, _ := strings.Cut(first, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", fmt.Errorf("reading the URL %q of a backup: %w", first, err)
	}
	if backup == "" || values.Get(queryBackup) == backup {
		return first, nil
	}
	values.Set(queryBackup, backup)
	return target + "?" + values.Encode(), nil
}

// removals returns the calls that remove replicas which the spec does not have, and replicas at an address of an earlier run.
func (p *pass) removals() (out []Call) {
	wanted := p.Engine.Spec.ReplicaAddressMap
	stays := false
	for name, r := range p.listed {
		stays = stays || r.Mode == v1beta2.ReplicaModeRW && wanted[name] != "" && bare(wanted[name]) == bare(r.Address)
	}
	if !stays {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.listed)) {
		r := p.listed[name]
		if address, ok := wanted[name]; ok && bare(address) == bare(r.Address) {
			continue
		}
		if strings.HasPrefix(name, unknown) {
			r.Name = ""
		}
		out = append(out, Call{Op: OpRemove, Name: r.Name, Address: r.Address})
	}
	return out
}

func (p *pass) rebuilding() bool { return p.has(v1beta2.ReplicaModeWO) }

func (p *pass) has(mode string) bool {
	for _, r := range p.listed {
		if r.Mode == mode {
			return true
		}
	}
	return false
}

// missing are the replicas of the spec that the engine does not list, by name.
func (p *pass) missing() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(p.Engine.Spec.ReplicaAddressMap)) {
		if _, ok := p.listed[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// addition returns the call that adds the next missing replica, while there is a replica to rebuild it from.
func (p *pass) addition() {
	if !p.has(v1beta2.ReplicaModeRW) || p.Room == nil || p.copiesNow() || p.unanswered || p.isSecondV1() {
		return
	}
	for _, name := range p.missing() {
		if p.Failures[name] >= FailuresToErr {
			continue // left to its owner
		}
		if !p.fillsByRestore() && (p.Seen.Unanswered.Snapshots || p.makeRoom()) {
			return // a rebuild takes a snapshot
		}
		p.going = true
		call := Call{Op: OpAdd, Name: name, Address: bare(p.Engine.Spec.ReplicaAddressMap[name]), Size: p.size()}
		if !p.waits(call) {
			p.call(call)
			return
		}
	}
}

// isSecondV1 reports whether the engine is the second one of a v1 migration: it starts over all its replicas, and is never given a replica
// to rebuild.
func (p *pass) isSecondV1() bool {
	return p.Engine.Spec.DataEngine != v1beta2.DataEngineV2 && !p.Engine.Spec.Active
}

// grows reports whether the backends are smaller than the volume requires.
func (p *pass) grows() bool {
	return p.Seen.Volume != nil && p.Room != nil && p.wanted() > p.Seen.Volume.Size
}

// wanted is the backend size that the volume's size requires.
func (p *pass) wanted() volumesize.Backend {
	return p.Room.Backend(volumesize.Net(p.Engine.Spec.VolumeSize))
}

// size is the backend size that the volume has now.
func (p *pass) size() volumesize.Backend {
	if p.out.Status.CurrentSize > 0 {
		return p.Room.Backend(volumesize.Net(p.out.Status.CurrentSize))
	}
	return p.wanted()
}

func (p *pass) call(c Call) {
	p.going = true
	p.out.Calls = append(p.out.Calls, c)
}

// waits reports whether a call that is due has to wait after its last attempt.
func (p *pass) waits(c Call) bool { return p.Now.Before(p.Waits[c.Key()]) }

// source reads `snap://<volume>/<snapshot>`, and the same with vol://.
func source(text string) (volume, snapshot string) {
	_, rest, _ := strings.Cut(text, "://")
	volume, snapshot, _ = strings.Cut(rest, "/")
	return volume, snapshot
}
