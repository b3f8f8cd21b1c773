package machine

// limits copies the volume's snapshot limits and trim setting to its running engines.
func (p *pass) limits() {
	s := p.v.Spec
	for _, e := range p.Engines {
		if i := ofEngine(e); !i.wanted || !p.running(i) || p.down(i.node) {
			continue
		}
		if e.Spec.SnapshotMaxCount != s.SnapshotMaxCount {
			p.patch(StageStop, e, "snapshotMaxCount", s.SnapshotMaxCount)
		}
		if e.Spec.SnapshotMaxSize != s.SnapshotMaxSize {
			p.patch(StageStop, e, "snapshotMaxSize", size(s.SnapshotMaxSize))
		}
		if e.Spec.UnmapMarkSnapChainRemovedEnabled != p.unmaps() {
			p.patch(StageStop, e, "unmapMarkSnapChainRemovedEnabled", p.unmaps())
		}
	}
}
