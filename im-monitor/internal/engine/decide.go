package engine

import (
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// FailuresToErr is the number of failed additions after which a replica counts as failed: attach-controller may then retry it, or use
// another one.
const FailuresToErr = 3

// unknown is the prefix of the name of a listed replica whose name is not known.
const unknown = v1beta2.UnnamedReplica

// Decide is total, deterministic and idempotent.
func Decide(w World) Verdict {
	p := &pass{World: w, listed: map[string]Replica{}}
	p.out.Status = *w.Engine.Status.DeepCopy()
	p.keepUnanswered()
	p.findStranded()
	p.replicas()
	p.snapshots()
	p.purges()
	p.expansion()
	p.copies()
	p.polled()
	p.calls()
	p.limits()
	p.operations()
	p.next()
	return p.out
}

type pass struct {
	World
	// listed are the replicas by name.
	listed map[string]Replica
	going  bool
	// unanswered reports that a replica did not answer its engine about a restore or a copy, or that the engine did not answer.
	unanswered bool
	out        Verdict
}

// replicas fills the maps of modes and addresses.
func (p *pass) replicas() {
	s := &p.out.Status
	s.ReplicaModeMap, s.CurrentReplicaAddressMap = map[string]string{}, map[string]string{}
	for _, r := range Named(p.Engine, p.Seen.Replicas) {
		p.listed[r.Name] = r
		s.ReplicaModeMap[r.Name] = p.mode(r)
		s.CurrentReplicaAddressMap[r.Name] = bare(r.Address)
		p.going = p.going || r.Mode != v1beta2.ReplicaModeRW
		if p.Engine.Spec.ReplicaAddressMap[r.Name] != "" && r.Mode == v1beta2.ReplicaModeWO &&
			(p.out.Rebuilding == "" || r.Name < p.out.Rebuilding) {
			p.out.Rebuilding = r.Name
		}
	}
	if p.Adding != "" {
		p.out.Rebuilding = p.Adding
	}
	for name := range p.Engine.Spec.ReplicaAddressMap {
		if _, ok := p.listed[name]; !ok && p.Failures[name] >= FailuresToErr {
			s.ReplicaModeMap[name] = v1beta2.ReplicaModeERR
		}
	}
	p.transitions()
	s.RebuildStatus = p.rebuilds()
}

// Named gives replicas that the engine lists without a name the name that the spec has for their address.
func Named(e *v1beta2.Engine, listed []Replica) []Replica {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(e.Spec.ReplicaAddressMap)) {
		names[bare(e.Spec.ReplicaAddressMap[name])] = name
	}
	listed = slices.Clone(listed)
	for i := range listed {
		r := &listed[i]
		if r.Name == "" {
			r.Name = names[bare(r.Address)]
		}
		if r.Name == "" {
			r.Name = unknown + r.Address
		}
	}
	return listed
}

// mode is the mode that the engine reports, except for a rebuild that was aborted or is stranded.
func (p *pass) mode(r Replica) string {
	if r.Mode == v1beta2.ReplicaModeWO && (p.Failures[r.Name] >= FailuresToErr || slices.Contains(p.out.Stranded, r.Name)) {
		return v1beta2.ReplicaModeERR
	}
	return r.Mode
}

// transitions records when a replica's mode changed.
func (p *pass) transitions() {
	s, before := &p.out.Status, p.Engine.Status.ReplicaModeMap
	times := map[string]string{}
	for name, mode := range s.ReplicaModeMap {
		times[name] = p.Engine.Status.ReplicaTransitionTimeMap[name]
		if before[name] != mode || times[name] == "" {
			times[name] = p.Now.UTC().Format(time.RFC3339)
		}
	}
	s.ReplicaTransitionTimeMap = times
}

func (p *pass) snapshots() {
	if p.Snapshots != nil {
		p.out.Status.Snapshots = p.Snapshots
	}
}

// purgeSteps is how finely the progress of a purge is reported: each step is a write.
const purgeSteps = 25

// purges sets the status of the last purge.
func (p *pass) purges() {
	p.going = p.going || v1beta2.IsPurging(p.Seen.Purges)
	if p.Seen.Purges == nil || p.BriefPurge {
		return
	}
	p.out.Status.PurgeStatus = nil
	for where, one := range p.Seen.Purges {
		if one.Progress -= one.Progress % purgeSteps; p.out.Status.PurgeStatus == nil {
			p.out.Status.PurgeStatus = map[string]v1beta2.PurgeStatus{}
		}
		p.out.Status.PurgeStatus[where] = one
	}
}

// polled answers a requested poll with the time of the request: the poll began after the request was read, and the time is by the
// clock of the requester, so that no difference between clocks makes a poll newer than it is. The requester of a poll relies on the modes,
// and on whether the engine expands or purges: a poll that did not learn these answers no request.
func (p *pass) polled() {
	if p.Seen.Unanswered.Volume || p.Seen.Unanswered.Purges {
		return
	}
	if asked := p.Engine.Spec.LookRequestedAt; !parse(asked).IsZero() {
		p.out.Status.LookedAt = asked
	}
}

func (p *pass) next() {
	p.out.Next = p.Period
	if p.out.Going = p.going || p.Adding != "" || p.Now.Before(p.Unsettled); p.out.Going {
		p.out.Next = p.Busy
	}
}

func bare(address string) string { return strings.TrimPrefix(address, "tcp://") }

func parse(at string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return time.Time{}
	}
	return t
}
