package csisnapshot

import "drover.dev/drover/shared/volumesnapshot"

// Decide returns the next write for one content, or none.
func Decide(w World) Verdict {
	c := w.Content
	switch {
	case !c.Ours(), w.Class != nil && w.Class.Driver != volumesnapshot.Driver:
		return Verdict{Step: StepNone, Outcome: OutcomeForeign}
	case c.goes():
		return w.end()
	case c.Status.Ready:
		return w.keepReady()
	case c.dynamic():
		return w.take()
	}
	return w.find()
}

// goes reports whether the content is to end: its VolumeSnapshot is deleted, or was never bound to it.
func (c Content) goes() bool {
	unbound := c.SnapshotHandle != "" && c.SnapshotUID == ""
	return c.Deleting && (unbound || c.BeingDeleted)
}

// keepReady removes an error from a content that is ready: another writer, such as the csi-snapshotter before the take-over, may have left
// it, and nothing else would remove it.
func (w World) keepReady() Verdict {
	if status := w.Content.Status; status.Error != "" {
		status.Error = ""
		return w.report(OutcomeReady, status)
	}
	return w.settled(OutcomeReady)
}

// settled takes the mark off: what was asked for was answered.
func (w World) settled(outcome Outcome) Verdict {
	if w.Content.BeingCreated {
		return Verdict{Step: StepUnmark, Outcome: outcome}
	}
	return Verdict{Step: StepNone, Outcome: outcome}
}
