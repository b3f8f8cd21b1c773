package machine

import "drover.dev/drover/shared/api/v1beta2"

// move does one step of the table in the package comment.
func (p *pass) move() {
	wanted := p.Volume.Spec.NodeID
	switch {
	case p.state == "":
		p.state = v1beta2.VolumeStateCreating
	case p.state == v1beta2.VolumeStateCreating:
		if p.Rules.off(RuleCreating) && wanted != "" {
			return
		}
		if p.close() {
			p.detached()
		}
	case wanted == "" && p.current == "" && p.state == v1beta2.VolumeStateDetached:
		p.close()
	case p.mustDetach(wanted):
		p.leave()
	case p.current == "" && p.state == v1beta2.VolumeStateDetached:
		p.state = v1beta2.VolumeStateAttaching
		p.wait(v1beta2.ReasonWaitingForReplicas, "The volume is about to be attached to "+wanted+".")
	case p.current == "" && p.state == v1beta2.VolumeStateAttaching:
		if p.runsElsewhere(wanted) {
			p.leave()
			return
		}
		if p.open(wanted) {
			p.arrive(wanted)
		}
	default: // attached on the wanted node, or migrating
		p.stay(wanted)
	}
}

// mustDetach reports whether a closing row of the table applies: no ticket wants the volume, or it is not on the wanted node.
func (f Facts) mustDetach(wanted string) bool {
	attached := f.state == v1beta2.VolumeStateAttached
	switch {
	case wanted == "":
		return true
	case f.current == "":
		return attached || f.state == v1beta2.VolumeStateDetaching
	case f.current == wanted:
		return !attached
	}
	return !(attached && f.migration != "")
}

// runsElsewhere reports whether an engine or frontend runs, or may run, that is not the wanted one: it stops first, and so do the replicas that
// it may write to.
func (f Facts) runsElsewhere(wanted string) bool {
	stray := func(i instance) bool { return !f.stopped(i) && (i.node != wanted || !i.wanted) }
	for _, e := range f.Engines {
		if stray(ofEngine(e)) {
			return true
		}
	}
	for _, frontend := range f.Frontends {
		if stray(ofFrontend(frontend)) {
			return true
		}
	}
	return false
}

func (p *pass) leave() {
	if p.state != v1beta2.VolumeStateDetaching {
		p.state = v1beta2.VolumeStateDetaching
		p.wait(v1beta2.ReasonDetaching, "The volume is about to be detached.")
		return
	}
	if p.close() {
		p.detached()
	}
}

func (p *pass) detached() {
	p.state, p.current, p.migration = v1beta2.VolumeStateDetached, "", ""
}

func (p *pass) arrive(node string) {
	p.state, p.current = v1beta2.VolumeStateAttached, node
}

func (p *pass) stay(wanted string) {
	if p.current == wanted {
		p.open(wanted)
	}
	if p.faulted {
		return
	}
	p.migrate(wanted)
	moving := p.makes || p.targetMovable(wanted) && ofEngine(p.second).wanted // the second engine lacks what the first one gets meanwhile
	if p.migration == "" && p.Volume.Spec.MigrationNodeID == "" && p.current == wanted && !moving {
		p.join()
		p.expand()
		p.limits()
	}
}
