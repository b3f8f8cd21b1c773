package machine

// limits copies the volume's snapshot limits and trim setting to its running engines.
func (p *pass) limits() {
	s := p.Volume.Spec
	for _, e := range p.Engines {
		if i := ofEngine(e); !i.wanted || !p.running(i) || p.nodeDown(i.node) {
			continue
		}
		if e.Spec.SnapshotMaxCount != s.SnapshotMaxCount {
			p.patch(StageStop, e, "snapshotMaxCount", s.SnapshotMaxCount)
		}
		if e.Spec.SnapshotMaxSize != s.SnapshotMaxSize {
			p.patch(StageStop, e, "snapshotMaxSize", size(s.SnapshotMaxSize))
		}
		if e.Spec.UnmapMarkSnapChainRemovedEnabled != p.removesSnapshotsOnTrim() {
			p.patch(StageStop, e, "unmapMarkSnapChainRemovedEnabled", p.removesSnapshotsOnTrim())
		}
	}
}
