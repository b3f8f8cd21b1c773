package engine

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// findStranded finds v1 replicas that stay write-only although no call rebuilds them any more. Only the server's handler of ReplicaAdd
// makes a replica RW, and it ends with its caller. If the caller leaves during the copy the engine reports "complete" and 100 %, marks the
// data as unfinished, and leaves the replica out at its next start. If the caller leaves before the copy begins nothing is copied, and the
// engine reports a rebuild without any state. ReplicaVerifyRebuild makes such a replica readable although its data is incomplete, so the
// only remedy is to remove the replica and to add it again. One poll is not enough: a replica is also WO without a state for a moment
// before its copy, and WO with a complete copy for a moment before its call ends.
func (p *pass) findStranded() {
	p.out.Over = map[string]time.Time{}
	for _, r := range Named(p.Engine, p.Seen.Replicas) {
		if !p.over(r) {
			continue
		}
		since, before := p.Over[r.Name]
		if !before {
			since = p.Seen.Began
		}
		p.out.Over[r.Name] = since
		if before && p.Seen.Began.Sub(since) >= p.Busy {
			p.out.Stranded = append(p.out.Stranded, r.Name)
		}
	}
}

// over reports whether a write-only replica is no longer being rebuilt, and no call of this process may still make it RW. A replica that
// the map of rebuilds lacks waits for a restore, or is unknown.
func (p *pass) over(r Replica) bool {
	if p.Engine.Spec.DataEngine == v1beta2.DataEngineV2 || r.Mode != v1beta2.ReplicaModeWO || p.Adding == r.Name {
		return false
	}
	rebuild, ok := p.Seen.Rebuilds[r.Address]
	return ok && !rebuild.IsRebuilding && (rebuild.State == rebuildComplete || rebuild.State == rebuildError ||
		neverBegan(rebuild) && !p.fillsByRestore())
}

// neverBegan reports whether a server reports nothing at all about a rebuild. An error without a state means that the replica did not
// answer the server.
func neverBegan(rebuild v1beta2.RebuildStatus) bool {
	return rebuild.State == "" && rebuild.Error == "" && rebuild.Progress == 0
}

// The states in which a rebuild has ended.
const (
	rebuildComplete = "complete"
	rebuildError    = "error"
)
