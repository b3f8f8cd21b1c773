package machine

// expand lets the running engine grow, and the replicas' objects say so once it did.
func (p *pass) expand() {
	if !p.engineUp() {
		return
	}
	wanted, e := p.v.Spec.Size, p.engine
	if f := p.frontend; f != nil && f.Spec.Size < wanted {
		p.patch(StageStop, f, "size", size(wanted))
		p.patch(StageStop, f, "volumeSize", size(wanted))
	}
	if e.Spec.VolumeSize < wanted {
		p.patch(StageStop, e, "volumeSize", size(wanted))
		return
	}
	if e.Status.CurrentSize < wanted || e.Status.IsExpanding {
		return
	}
	for _, r := range p.Replicas {
		if _, mapped := e.Spec.ReplicaAddressMap[r.Name]; mapped && r.Spec.VolumeSize < wanted {
			p.patch(StageStop, r, "volumeSize", size(wanted))
		}
	}
}
