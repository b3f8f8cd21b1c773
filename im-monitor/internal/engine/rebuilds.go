package engine

import "drover.dev/drover/shared/api/v1beta2"

// rebuilds returns the status of the rebuilds of the replicas that the engine lists. A server reports only those of write-only replicas.
// The last report about a replica that is RW since then becomes "complete" and stays for this run of the engine: it shows that the rebuild
// has left a system snapshot. A rebuild may end between the answers about replicas and about rebuilds: its report waits for the next list.
func (p *pass) rebuilds() map[string]v1beta2.RebuildStatus {
	out := map[string]v1beta2.RebuildStatus{}
	reported, _ := answered(p.Seen.Rebuilds, p.Engine.Status.RebuildStatus)
	for _, r := range p.listed {
		before, known := p.Engine.Status.RebuildStatus[r.Address]
		one, ok := reported[r.Address]
		switch {
		case ok:
			out[r.Address] = one
		case r.Mode == v1beta2.ReplicaModeRW && (known || p.addedSinceTheLastPoll(r.Name)):
			before.State, before.Progress, before.IsRebuilding, before.Error = rebuildComplete, 100, false, ""
			out[r.Address] = before
		case p.Seen.Rebuilds == nil && known:
			out[r.Address] = before
		case r.Mode == v1beta2.ReplicaModeWO && known:
			before.IsRebuilding = false
			out[r.Address] = before
		}
	}
	return out
}

// addedSinceTheLastPoll reports whether the engine has taken a replica in, and rebuilt it, between two polls of one run. A replica that
// was write-only without a rebuild at the last poll was restored.
func (p *pass) addedSinceTheLastPoll(name string) bool {
	modes := p.Engine.Status.ReplicaModeMap
	mode, known := modes[name]
	return len(modes) > 0 && (!known || mode == v1beta2.ReplicaModeERR)
}
