package engine

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/snapshotlimit"
)

// unlike reports whether the last poll of a running engine returned other limits than its spec has. v2 limits the number of snapshots
// only; an engine that reports no number is too old to have settable limits.
func unlike(e *v1beta2.Engine) bool { return len(limitCalls(e)) > 0 }

// limitCalls set the limits of the spec at a running engine.
func limitCalls(e *v1beta2.Engine) []Call {
	s := e.Status
	if s.SnapshotMaxCount <= 0 {
		return nil
	}
	var out []Call
	if count := snapshotlimit.CountOfSpec(e.Spec.SnapshotMaxCount); s.SnapshotMaxCount != count {
		out = append(out, Call{Op: OpMaxCount, Limit: int64(count)})
	}
	if e.Spec.DataEngine == v1beta2.DataEngineV2 {
		return out
	}
	if s.SnapshotMaxSize != e.Spec.SnapshotMaxSize {
		out = append(out, Call{Op: OpMaxSize, Limit: e.Spec.SnapshotMaxSize})
	}
	if s.UnmapMarkSnapChainRemovedEnabled != e.Spec.UnmapMarkSnapChainRemovedEnabled {
		out = append(out, Call{Op: OpUnmapMark, On: e.Spec.UnmapMarkSnapChainRemovedEnabled})
	}
	if wanted := e.Spec.RebuildConcurrentSyncLimit; wanted > 0 && s.RebuildConcurrentSyncLimit > 0 &&
		s.RebuildConcurrentSyncLimit != wanted {
		out = append(out, Call{Op: OpRebuildLimit, Limit: int64(wanted)})
	}
	return out
}

// limits records those of the engine, and sets those that differ from its spec. No other call waits for them.
func (p *pass) limits() {
	if v, s := p.Seen.Volume, &p.out.Status; v != nil {
		s.SnapshotMaxCount, s.SnapshotMaxSize, s.UnmapMarkSnapChainRemovedEnabled = v.SnapshotMaxCount, v.SnapshotMaxSize, v.UnmapMark
		if v.RebuildLimit > 0 {
			s.RebuildConcurrentSyncLimit = v.RebuildLimit
		}
	}
	for _, c := range p.limitCalls() {
		if !p.waits(c) && !p.Seen.Unanswered.Volume {
			p.call(c)
		}
	}
}

// limitCalls are the calls for the limits that were just recorded.
func (p *pass) limitCalls() []Call {
	seen := *p.Engine
	seen.Status = p.out.Status
	return limitCalls(&seen)
}
