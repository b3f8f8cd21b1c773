package machine

import "drover.dev/drover/shared/api/v1beta2"

// neverAttached reports whether longhorn-manager created the volume and never attached it. longhorn-manager sets status.currentImage when
// it creates a volume; here the field is set at the first attachment, and shows that there is data (v1beta2.EverAttached). Any trace of an
// attachment counts as one, and so does the lack of an object that could have a trace. Once this package wrote its conditions, the field
// is its own.
func (f Facts) neverAttached() bool {
	s := f.Volume.Status
	created := s.State == v1beta2.VolumeStateCreating || s.State == v1beta2.VolumeStateDetached
	usable := s.Robustness == "" || s.Robustness == v1beta2.VolumeRobustnessUnknown
	return f.kept() && s.CurrentImage != "" && len(Owned(s.Conditions)) == 0 && created && usable &&
		s.CurrentNodeID == "" && s.CurrentMigrationNodeID == "" && s.LastDegradedAt == "" && s.ActualSize == 0 && f.neverRan()
}

// neverRan reports whether the volume has engines and replicas, and none of its objects has a trace of a run.
func (f Facts) neverRan() bool {
	for _, e := range f.Engines {
		if !f.idle(ofEngine(e)) || len(e.Spec.ReplicaAddressMap)+len(e.Status.ReplicaModeMap)+len(e.Status.Snapshots) > 0 {
			return false
		}
	}
	for _, frontend := range f.Frontends {
		if !f.idle(ofFrontend(frontend)) {
			return false
		}
	}
	marked := func(r *v1beta2.Replica) bool {
		return r.Spec.HealthyAt != "" || r.Spec.LastHealthyAt != "" || r.Spec.FailedAt != "" || r.Spec.LastFailedAt != ""
	}
	return len(f.Engines) > 0 && len(f.Replicas) > 0 &&
		!f.anyReplica(func(r *v1beta2.Replica) bool { return marked(r) || !f.idle(ofReplica(r)) })
}

// idle reports whether an instance neither runs nor must run, as of an observation of its node.
func (f Facts) idle(i instance) bool { return !i.wanted && f.stopped(i) && !i.nodeDown }

// clearImage records that the volume was never attached, and decides nothing else: nothing rests on it before it is stored. Replicas,
// tickets and Kubernetes are decided by the stored field, too. An evaluation that dies leaves the volume as it was, or as a new one.
func (f Facts) clearImage() Verdict {
	// The cache may not show the replicas' marks yet.
	return Verdict{Reads: Reads{Fresh: true}, Status: map[string]any{"currentImage": ""}}
}
