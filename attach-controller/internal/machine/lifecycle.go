package machine

import "drover.dev/drover/shared/api/v1beta2"

// phase is the row of the table in the package comment that applies to a volume.
type phase int

// The phases of a volume.
const (
	phaseNew       phase = iota // it has no state yet
	phaseCreating               // nothing is proven stopped yet
	phaseDetached               // it is detached, and no ticket wants it
	phaseDetaching              // it must not be where it is
	phaseWanted                 // it is detached, and a ticket wants it
	phaseAttaching              // it opens on the wanted node
	phaseAttached               // it is attached on the wanted node, or migrating
)

// phaseNow returns the phase of the volume before anything is decided.
func (f Facts) phaseNow() phase {
	wanted := f.Volume.Spec.NodeID
	detached := f.current == "" && f.state == v1beta2.VolumeStateDetached
	attaching := f.current == "" && f.state == v1beta2.VolumeStateAttaching
	switch {
	case f.state == "":
		return phaseNew
	case f.state == v1beta2.VolumeStateCreating:
		return phaseCreating
	case wanted == "" && detached:
		return phaseDetached
	case f.mustDetach(wanted), attaching && f.runsElsewhere(wanted):
		return phaseDetaching
	case detached:
		return phaseWanted
	case attaching:
		return phaseAttaching
	}
	return phaseAttached
}

// lifecycle does one step of the table in the package comment: it starts or stops the volume's instances, and tracks what is reached.
type lifecycle struct{ *draft }

func (l lifecycle) decide() {
	wanted := l.Volume.Spec.NodeID
	switch l.phase {
	case phaseNew:
		l.state = v1beta2.VolumeStateCreating
	case phaseCreating:
		l.create()
	case phaseDetached:
		closing{l.draft}.close()
	case phaseDetaching:
		l.detach()
	case phaseWanted:
		l.state = v1beta2.VolumeStateAttaching
		l.wait(v1beta2.ReasonWaitingForReplicas, "The volume is about to be attached to "+wanted+".")
	case phaseAttaching:
		if (opening{l.draft}).open(wanted) {
			l.state, l.current = v1beta2.VolumeStateAttached, wanted
		}
	case phaseAttached:
		if l.current == wanted {
			opening{l.draft}.open(wanted) // starts what is missing
		}
	}
}

// create closes a volume in state creating, on whichever node it is wanted: a restored Volume may have instances that run.
func (l lifecycle) create() {
	if (closing{l.draft}).close() {
		l.setDetached()
	}
}

func (l lifecycle) detach() {
	if l.state != v1beta2.VolumeStateDetaching {
		l.state = v1beta2.VolumeStateDetaching
		l.wait(v1beta2.ReasonDetaching, "The volume is about to be detached.")
		return
	}
	if (closing{l.draft}).close() {
		l.setDetached()
	}
}

func (l lifecycle) setDetached() {
	l.state, l.current, l.migration = v1beta2.VolumeStateDetached, "", ""
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

// runsElsewhere reports whether an engine or frontend runs, or may run, that is not the wanted one: it stops first, and so do the replicas
// that it may write to.
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

// When a concern applies, see concerns.

func (f Facts) always() bool { return true }

func (f Facts) deleted() bool { return f.Volume.DeletionTimestamp != nil }

func (f Facts) kept() bool { return !f.deleted() }

// open reports whether the volume stays attached: it is in use, or migrates.
func (f Facts) open() bool { return f.kept() && f.phase == phaseAttached && !f.faulted }

// targetMayMove: where a migration is wanted, a target that is away comes back first. The migration's frontend would leave it no way back.
func (f Facts) targetMayMove() bool {
	return f.open() && f.migration == "" && f.targetMovable(f.Volume.Spec.NodeID) && (f.Volume.Spec.MigrationNodeID == "" || f.targetAway())
}

func (f Facts) mayMigrate() bool { return f.open() && !f.targetMayMove() }

// unchanging reports whether the volume has one engine for now, on its node: a second engine lacks what the first one gets meanwhile.
func (f Facts) unchanging() bool {
	wanted := f.Volume.Spec.NodeID
	moving := f.createsEngine || f.targetMovable(wanted) && ofEngine(f.second).wanted
	return f.open() && f.migration == "" && f.Volume.Spec.MigrationNodeID == "" && f.current == wanted && !moving
}

func (f Facts) restores() bool { return f.kept() && f.Volume.Spec.FromBackup != "" }

func (f Facts) clones() bool { return f.kept() && f.Volume.Spec.DataSource != "" }
