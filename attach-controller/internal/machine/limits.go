package machine

// limits copies the volume's snapshot limits and trim setting to its running engines.
type limits struct{ *draft }

func (l limits) decide() {
	s := l.Volume.Spec
	for _, e := range l.Engines {
		if i := ofEngine(e); !i.wanted || !l.running(i) || l.nodeDown(i.node) {
			continue
		}
		if e.Spec.SnapshotMaxCount != s.SnapshotMaxCount {
			l.patch(StageRun, e, "snapshotMaxCount", s.SnapshotMaxCount)
		}
		if e.Spec.SnapshotMaxSize != s.SnapshotMaxSize {
			l.patch(StageRun, e, "snapshotMaxSize", size(s.SnapshotMaxSize))
		}
		if e.Spec.UnmapMarkSnapChainRemovedEnabled != l.removesSnapshotsOnTrim() {
			l.patch(StageRun, e, "unmapMarkSnapChainRemovedEnabled", l.removesSnapshotsOnTrim())
		}
	}
}
